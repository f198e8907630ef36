// RUN: not pir-opt --split-input-file --emit=stablehlo %s 2>&1 | FileCheck %s
// What has no counterpart is named with its place, once.
// CHECK: emit-refused.pir:9:10: error: `pd.while` cannot be written in StableHLO: it records values on a stack [no-stablehlo]
// CHECK: help: run `--pass=lower-stacks` first, which converts stacks to tensors of static shape
// CHECK-NOT: cf.
%x = pd.data {name = "x", shape = [1], dtype = f32} : tensor<1xf32>
%four = pd.full {shape = [1], value = 4.0, dtype = f32} : tensor<1xf32>

%y, %s = pd.while (%x) init (%a: tensor<1xf32>) {
  %s = cf.create_stack () : cf.stack
  cf.yield (%a, %s)
} cond (%a: tensor<1xf32>, %s: cf.stack) {
  %go = pd.less_than (%a, %four) : tensor<1xi1>
  cf.cond_yield (%go, %a, %s)
} body (%a: tensor<1xf32>, %s: cf.stack) {
  cf.push_back (%s, %a)
  %b = pd.add (%a, %a) : tensor<1xf32>
  cf.yield (%b, %s)
} : tensor<1xf32>, cf.stack
pd.fetch (%y) {name = "y"}

// -----
// CHECK: error: `pd.print` has no counterpart in StableHLO [no-stablehlo]
// CHECK: error: `pd.uniform` has no counterpart in StableHLO [no-stablehlo]
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%p = pd.print (%x) : tensor<2xf32>
%u = pd.uniform {shape = [2]} : tensor<2xf32>
pd.fetch (%p) {name = "p"}
pd.fetch (%u) {name = "u"}

// -----
// CHECK: error: an argument of this function has type `tensor<?x2xf32>`, but XLA needs static shapes [no-stablehlo]
// CHECK: help: give the inputs constant dimensions
%x = pd.data {name = "x", shape = [-1, 2], dtype = f32} : tensor<?x2xf32>
%y = pd.tanh (%x) : tensor<?x2xf32>
pd.fetch (%y) {name = "y"}

// -----
// CHECK: error: `@down` is recursive, which StableHLO does not support [no-stablehlo]
func.func @down(%x: tensor<f32>) -> tensor<f32> {
  %y = func.call @down (%x) : tensor<f32>
  func.return (%y)
}

// -----
// CHECK: error: the operations at top level become the function `main`, but the program already has a function of this name [no-stablehlo]
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  func.return (%x)
}
%x = pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>
pd.fetch (%x) {name = "x"}
