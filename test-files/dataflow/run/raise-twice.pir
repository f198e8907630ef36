// A branch whose result decides what the same branch computes next, as TensorFlow's gradients of conditionals are: it becomes
// two, and what the earlier one has on a side comes to that side of the later one. The graph and the program give the same.
//
// RUN: pir-opt --pass=raise-from-dataflow %s | FileCheck --check-prefix=TWO %s
// RUN: pir-run --dataflow %s --input p=true --input x=3 | FileCheck --check-prefix=TRUE %s
// RUN: pir-run --dataflow %s --input p=false --input x=3 | FileCheck --check-prefix=FALSE %s
// RUN: pir-opt --pass=raise-from-dataflow %s | pir-run - --input p=true --input x=3 | FileCheck --check-prefix=TRUE %s
// RUN: pir-opt --pass=raise-from-dataflow %s | pir-run - --input p=false --input x=3 | FileCheck --check-prefix=FALSE %s
//
// TWO:     pd.if
// TWO:     pd.if
// TWO-NOT: df.
// TRUE:  y = tensor<f64> 9
// TRUE:  g = tensor<f64> 162
// FALSE: y = tensor<f64> 6
// FALSE: g = tensor<f64> 24
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f64}
  %p = pd.data {name = "p", shape = [], dtype = i1}
  %xs:2 = df.switch (%x, %p)
  %square = pd.multiply (%xs#1, %xs#1)
  %double = pd.add (%xs#0, %xs#0)
  %y, %index = df.merge (%double, %square)
  %twice = pd.add (%y, %y)
  %ts:2 = df.switch (%twice, %p)
  %gt = pd.multiply (%ts#1, %square)
  %gf = pd.add (%ts#0, %ts#0)
  %g, %way = df.merge (%gf, %gt)
  pd.fetch (%y) {name = "y"}
  pd.fetch (%g) {name = "g"}
}
