// What is written for other systems, and run as a graph, is what operations compute.
// RUN: pir-translate --load-dialect %S/inputs/my.yaml --to=paddle-text %s | FileCheck %s --check-prefix=PADDLE
// PADDLE-NOT: my.
// PADDLE: "pd_op.tanh"
// PADDLE: "pd_op.exp"
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --emit=paddle-json %s | pir-run - --input x=1 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --emit=graphdef %s | pir-opt --emit=graphdef-text | FileCheck %s --check-prefix=TENSORFLOW
// TENSORFLOW: op: "Tanh"
// RUN: pir-run --load-dialect %S/inputs/my.yaml --dataflow %s --input x=1 | FileCheck %s --check-prefix=VALUE
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=lower-to-dataflow %s | pir-run --load-dialect %S/inputs/my.yaml --dataflow - --input x=1 | FileCheck %s --check-prefix=VALUE
// VALUE: y = tensor<3xf64> [2.519
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --pass=decompose %s | FileCheck %s --check-prefix=DECOMPOSED
// DECOMPOSED-NOT: my.
// DECOMPOSED: %y = pd.exp
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y = my.smooth (%x)
pd.fetch (%y) {name = "y"}
