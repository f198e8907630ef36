// A run that gives nothing out because all of it was dead is an error, and so are two operands of a merge that are live:
// what the verifier cannot know of predicates that another device sends, the executor sees.
//
// RUN: pir-run --dataflow %s --function=one --input x=3 2>&1 | FileCheck %s
// RUN: not pir-run --dataflow %s --function=none --input x=3 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not pir-run --dataflow %s --function=two --input x=3 2>&1 | FileCheck --check-prefix=TWO %s
//
// CHECK: f = tensor<i64> 3
// NONE: error: the program has no live output: `t` is dead
// TWO: error: {{.*}} two operands of `%m` (`df.merge`) are live
func.func @one() {
  df.graph {
    %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
    %p = pd.less_than (%x, %x) : tensor<i1>
    %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
    pd.fetch (%f) {name = "f"}
    pd.fetch (%t) {name = "t"}
  }
  func.return
}
func.func @none() {
  df.graph {
    %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
    %p = pd.less_than (%x, %x) : tensor<i1>
    %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
    pd.fetch (%t) {name = "t"}
  }
  func.return
}
func.func @two() {
  df.graph {device = 0} {
    %x = pd.data {name = "x", shape = [], dtype = i64} : tensor<i64>
    %p = pd.less_than (%x, %x) : tensor<i1>
    %q = pd.equal (%x, %x) : tensor<i1>
    %sent_p = df.send (%p) {key = "p", from = 0, to = 1} : df.control
    %sent_q = df.send (%q) {key = "q", from = 0, to = 1} : df.control
  }
  df.graph {device = 1} {
    %p = df.recv {key = "p", from = 0, to = 1} : tensor<i1>
    %q = df.recv {key = "q", from = 0, to = 1} : tensor<i1>
    %x = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
    %f, %t = df.switch (%x, %p) : tensor<i64>, tensor<i64>
    %g, %u = df.switch (%x, %q) : tensor<i64>, tensor<i64>
    %m, %i = df.merge (%f, %u) : tensor<i64>, tensor<i32>
    pd.fetch (%m) {name = "m"}
  }
  func.return
}
