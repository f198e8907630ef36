// RUN: pir-opt --from=text %s | FileCheck %s
// RUN: pir-run --from=text %s --input 'x=[1, 2]' | FileCheck %s --check-prefix=RUN-IT
// RUN: not pir-opt --from=graphdef %s 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: not pir-run --from=paddle-json %s 2>&1 | FileCheck %s --check-prefix=JSON

// What is read is not guessed where it is said.
// CHECK: %y = pd.add (%x, %x) : tensor<2xf64>
// RUN-IT: y = tensor<2xf64> [2, 4]
// GRAPH: error: this is not a TensorFlow graph
// JSON: error:
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.add (%x, %x) : tensor<2xf64>
pd.fetch (%y) {name = "y"}
