// RUN: pir-opt --pass=lower-to-dataflow %s | FileCheck %s
// RUN: pir-opt --pass='lower-to-dataflow{parallel-iterations=1}' %s | FileCheck --check-prefix=ONE %s
// The loop of the specification: while_loop(i < 10, i + 1, [0]). The constants in its regions get a control edge from
// the pivot of the region.

// CHECK:      [[ENTER:%[0-9]+]] = df.enter (%zero) {frame = "while_0"} : tensor<i64>
// CHECK-NEXT: %i, %{{[0-9]+}} = df.merge ([[ENTER]], [[NEXT:%[0-9]+]]) : tensor<i64>, tensor<i32>
// CHECK-NEXT: %ten = pd.full {shape = [], value = 10
// CHECK-NEXT: df.control (%ten, %i)
// CHECK-NEXT: %less = pd.less_than (%i, %ten)
// CHECK-NEXT: %go = df.loop_cond (%less)
// CHECK-NEXT: [[DONE:%[0-9]+]], %j = df.switch (%i, %go)
// CHECK-NEXT: %pivot = df.identity (%j)
// CHECK-NEXT: %one = pd.full {shape = [], value = 1
// CHECK-NEXT: df.control (%one, %pivot)
// CHECK-NEXT: %k = pd.add (%j, %one)
// CHECK-NEXT: [[NEXT]] = df.next_iteration (%k)
// CHECK-NEXT: %r = df.exit ([[DONE]])
// CHECK-NEXT: pd.fetch (%r)

// ONE: df.enter (%zero) {frame = "while_0", parallel_iterations = 1}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%r = pd.while (%zero) cond (%i) {
  %ten = pd.full {shape = [], value = 10, dtype = i64}
  %less = pd.less_than (%i, %ten)
  cf.cond_yield (%less, %i)
} body (%j) {
  %one = pd.full {shape = [], value = 1, dtype = i64}
  %k = pd.add (%j, %one)
  cf.yield (%k)
}
pd.fetch (%r) {name = "r"}
