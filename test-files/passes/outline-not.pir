// RUN: pir-opt --pass=outline{min-size=3} %s | FileCheck %s
// CHECK-NOT: func.call

%c = pd.data {name = "c", shape = [1], dtype = i1}
%x = pd.data {name = "x", shape = [4], dtype = f32}
%y = pd.data {name = "y", shape = [4], dtype = f32}

// Another operation, another attribute, another order of operands, or the same value twice: none do the same.
%a = pd.if (%c) then {
  %p = pd.subtract (%x, %y)
  %q = pd.scale (%p) {scale = 2.0}
  cf.yield (%q)
} else {
  cf.yield (%x)
}
%b = pd.if (%c) then {
  %p = pd.divide (%x, %y)
  %q = pd.scale (%p) {scale = 2.0}
  cf.yield (%q)
} else {
  cf.yield (%x)
}
%d = pd.if (%c) then {
  %p = pd.subtract (%x, %y)
  %q = pd.scale (%p) {scale = 3.0}
  cf.yield (%q)
} else {
  cf.yield (%x)
}
%e = pd.if (%c) then {
  %p = pd.subtract (%x, %y)
  %q = pd.scale (%p) {scale = 2.0}
  cf.yield (%q)
} else {
  cf.yield (%y)
}
%f = pd.if (%c) then {
  %p = pd.subtract (%x, %x)
  %q = pd.scale (%p) {scale = 2.0}
  cf.yield (%q)
} else {
  cf.yield (%x)
}
pd.fetch (%a) {name = "a"}
pd.fetch (%b) {name = "b"}
pd.fetch (%d) {name = "d"}
pd.fetch (%e) {name = "e"}
pd.fetch (%f) {name = "f"}

// What prints stays in order where everybody sees it.
pd.if (%c) then {
  %p = pd.print (%x) {message = "m"}
  %q = pd.print (%p) {message = "n"}
}
pd.if (%c) then {
  %p = pd.print (%x) {message = "m"}
  %q = pd.print (%p) {message = "n"}
}
