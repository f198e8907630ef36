// RUN: pir-opt --pass=lower-to-dataflow %s | FileCheck %s
// A loop in a loop. A value from outside enters as a constant, once for each level; the enter into the inner loop, whose
// operand is there in every iteration of the outer one, runs only where the body does.

// CHECK:      %i, %{{[0-9]+}} = df.merge
// CHECK:      %acc, %{{[0-9]+}} = df.merge
// CHECK-NEXT: %n_1 = df.enter (%n) {frame = "while_0", constant = true}
// CHECK-NEXT: %less = pd.less_than (%i, %n_1)
// CHECK:      %{{[0-9]+}}, %l = df.switch (%i, %go)
// CHECK-NEXT: %{{[0-9]+}}, %b = df.switch (%acc, %go)
// CHECK-NEXT: %zero_1 = df.enter (%zero) {frame = "while_0", constant = true}
// CHECK-NEXT: %pivot = df.identity (%l)
// CHECK-NEXT: [[J:%[0-9]+]] = df.enter (%zero_1) {frame = "while_1"}
// CHECK-NEXT: df.control ([[J]], %pivot)
// CHECK-NEXT: %j, %{{[0-9]+}} = df.merge ([[J]],
// CHECK:      %l_1 = df.enter (%l) {frame = "while_1", constant = true}
// CHECK-NEXT: %more = pd.less_than (%j, %l_1)
// CHECK:      %x_1 = df.enter (%x) {frame = "while_0", constant = true}
// CHECK-NEXT: %x_2 = df.enter (%x_1) {frame = "while_1", constant = true}
// CHECK-NEXT: df.control (%x_2, %pivot)
// CHECK-NEXT: %t = pd.add (%c, %x_2)
%n = pd.data {name = "n", shape = [], dtype = i64}
%x = pd.data {name = "x", shape = [2], dtype = f32}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%i_end, %r = pd.while (%zero, %x) cond (%i, %acc) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i, %acc)
} body (%l, %b) {
  %j_end, %inner = pd.while (%zero, %b) cond (%j, %a) {
    %more = pd.less_than (%j, %l)
    cf.cond_yield (%more, %j, %a)
  } body (%m, %c) {
    %t = pd.add (%c, %x)
    %j_next = pd.add (%m, %one)
    cf.yield (%j_next, %t)
  }
  %i_next = pd.add (%l, %one)
  cf.yield (%i_next, %inner)
}
pd.fetch (%r) {name = "r"}
