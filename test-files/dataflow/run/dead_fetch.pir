// What is on a branch that was not taken is not fetched, and that is told. Inputs are bound like those of other programs.
//
// RUN: pir-run --dataflow %s --input x=3 2>&1 | FileCheck %s
// RUN: not pir-run --dataflow %s 2>&1 | FileCheck --check-prefix=UNBOUND %s
// RUN: not pir-run %s --input x=3 2>&1 | FileCheck --check-prefix=STRUCTURED %s
//
// CHECK-DAG: f = tensor<i64> 3
// CHECK-DAG: `t` has no value: it is on a branch that was not taken
// UNBOUND: the input `x` has no value
// STRUCTURED: `pir-run --dataflow` runs it
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
  %p = pd.less_than (%x, %x) : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
  pd.fetch (%f) {name = "f"}
  pd.fetch (%t) {name = "t"}
}
