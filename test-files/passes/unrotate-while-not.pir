// RUN: pir-opt --pass=rotate-while,unrotate-while %s | FileCheck %s

// Before the loop numbers are compared that are not of the type of those in it: that is not the same condition.
%x = pd.data {name = "x", shape = [], dtype = f64}
%k = pd.data {name = "k", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%p = pd.greater_than (%x, %x)
%i, %q = pd.while (%zero, %p) cond (%i, %q) {
  %go = pd.less_than (%i, %one)
  cf.cond_yield (%go, %i, %q)
} body (%i, %q) {
  %w = pd.greater_than (%i, %k)
  %n = pd.add (%i, %one)
  cf.yield (%n, %w)
}
pd.fetch (%q) {name = "a"}
// CHECK: pd.while (%{{.*}}, %zero, %p)
