// RUN: pir-opt --pass=backward,lower-to-dataflow %s | FileCheck %s
// The gradient of a loop constant: an accumulator that the dual carries, which runs as often as the loop has run. What
// the derivative reads is pushed on a stack outside of both frames. The push waits for the counter, the next iteration
// for the push; the pops wait for each other.

// CHECK:      %b_stack = df.stack () : df.stack
// CHECK:      %count, %{{[0-9]+}} = df.merge
// CHECK:      [[N:%[0-9]+]], [[COUNT:%[0-9]+]] = df.switch (%count, %go_1)
// CHECK-NEXT: %pivot = df.identity ([[COUNT]])
// CHECK-NEXT: [[ONE:%[0-9]+]] = pd.full {shape = [], value = 1,
// CHECK-NEXT: df.control ([[ONE]], %pivot)
// CHECK-NEXT: %more = pd.add ([[COUNT]], [[ONE]])
// CHECK:      %b_stack_1 = df.enter (%b_stack) {frame = "while_0", constant = true} : df.stack
// CHECK-NEXT: [[PUSH:%[0-9]+]] = df.stack_push (%b_stack_1, %b)
// CHECK-NEXT: df.control ([[PUSH]], %more)
// CHECK:      [[NEXT:%[0-9]+]] = df.next_iteration (%more)
// CHECK-NEXT: df.control ([[NEXT]], [[PUSH]])
// CHECK:      %trips = df.exit ([[N]])
// CHECK:      [[N:%[0-9]+]] = df.enter (%trips) {frame = "while_1"}
// CHECK-NEXT: %left, %{{[0-9]+}} = df.merge ([[N]], [[LEFT:%[0-9]+]])
// CHECK-NOT:  cf.is_empty
// CHECK:      pd.greater_than (%left,
// CHECK:      %fewer = pd.subtract
// CHECK:      %b_1 = df.stack_pop
// CHECK-NEXT: df.control (%b_1, %pivot_1, %fewer)
// CHECK:      %w_grad{{[_0-9]+}} = pd.add
// CHECK:      [[LEFT]] = df.next_iteration (%fewer)
// CHECK-NEXT: df.control ([[LEFT]], %b_1)
%x = pd.data {name = "x", shape = [2, 3], dtype = f32}
%w = pd.data {name = "w", shape = [3, 3], dtype = f32}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%n = pd.full {shape = [], value = 4, dtype = i64}
%steps, %h = pd.while (%zero, %x) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%j, %b) {
  %p = pd.matmul (%b, %w)
  %next = pd.add (%j, %one)
  cf.yield (%next, %p)
}
%loss = pd.sum (%h)
pd.fetch (%loss) {name = "loss"}
