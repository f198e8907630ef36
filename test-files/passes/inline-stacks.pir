// RUN: pir-run %s --input x=[3,5] --input c=true | FileCheck %s --check-prefix=YES
// RUN: pir-opt --pass=inline,symbol-dce %s | pir-run - --input x=[3,5] --input c=true | FileCheck %s --check-prefix=YES
// RUN: pir-opt --pass=inline,symbol-dce,canonicalize,cse,licm,sink,dce %s | pir-run - --input x=[3,5] --input c=true | FileCheck %s --check-prefix=YES
// RUN: pir-opt --pass=inline,symbol-dce,canonicalize,cse,licm,sink,dce %s | pir-run - --input x=[3,5] --input c=false | FileCheck %s --check-prefix=NO
// RUN: pir-run %s --input x=[3,5] --input c=false | FileCheck %s --check-prefix=NO

// Stacks that go into functions and come out of them under other names, chosen by a branch: a call is replaced by the
// body as it is, so that which names are names of the same stack stays what it was.
func.func private @twice(%s: cf.stack, %v: tensor<2xf32>) -> cf.stack {
  cf.push_back (%s, %v)
  %w = pd.add (%v, %v) : tensor<2xf32>
  cf.push_back (%s, %w)
  func.return (%s)
}
func.func private @pick(%c: tensor<i1>, %s: cf.stack) -> cf.stack {
  %own = cf.create_stack () : cf.stack
  %one = pd.full {shape = [2], value = 1.0, dtype = f32} : tensor<2xf32>
  cf.push_back (%own, %one)
  %r = pd.if (%c) then {
    cf.yield (%s)
  } else {
    cf.yield (%own)
  } : cf.stack
  func.return (%r)
}
func.func @main() {
  %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
  %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
  %s = cf.create_stack () : cf.stack
  %t = func.call @twice (%s, %x) : cf.stack
  %p = func.call @pick (%c, %t) : cf.stack
  %y = pd.multiply (%x, %x) : tensor<2xf32>
  cf.push_back (%p, %y)
  %a = cf.pop_back (%p) : tensor<2xf32>
  %b = cf.pop_back (%p) : tensor<2xf32>
  %e = cf.is_empty (%s) : i1
  %f = cf.pop_back (%s) : tensor<2xf32>
  pd.fetch (%a) {name = "a"}
  pd.fetch (%b) {name = "b"}
  pd.fetch (%f) {name = "f"}
  func.return ()
}
// YES: a = tensor<2xf32> [9, 25]
// YES: b = tensor<2xf32> [6, 10]
// YES: f = tensor<2xf32> [3, 5]
// NO: a = tensor<2xf32> [9, 25]
// NO: b = tensor<2xf32> [1, 1]
// NO: f = tensor<2xf32> [6, 10]
