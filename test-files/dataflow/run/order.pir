// Prints come in the order that control edges say, also from threads.
//
// RUN: pir-run --dataflow %s | FileCheck %s
// RUN: pir-run --dataflow --schedule-seed 3 %s | FileCheck %s
//
// CHECK: first tensor<i64> 1
// CHECK-NEXT: second tensor<i64> 2
// CHECK-NEXT: third tensor<i64> 3
// CHECK-NEXT: last = tensor<i64> 3
df.graph {device = 0} {
  %three = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  df.control (%three, %got)
  %c = pd.print (%three) {message = "third"} : tensor<i64>
  %got = df.recv () {key = "k", from = 1, to = 0} : tensor<i64>
  pd.fetch (%c) {name = "last"}
}
df.graph {device = 1} {
  %two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
  df.control (%two, %a)
  %b = pd.print (%two) {message = "second"} : tensor<i64>
  %sent = df.send (%b) {key = "k", from = 1, to = 0} : df.control
  %one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
  %a = pd.print (%one) {message = "first"} : tensor<i64>
}
