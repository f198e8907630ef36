// RUN: not pir-opt --pass=lift-cfg %s 2>&1 | FileCheck %s

// CHECK: lift-cfg-not.pir:[[@LINE+4]]:3: error: a loop with the blocks ^right and ^left can be entered at more than one of its blocks: back edge from ^left to ^right [irreducible]
func.func @irreducible(%c: i1, %x: f32) -> f32 {
  pd.condition_branch %c, ^left(%x), ^right(%x)
^left(%a: f32):
  pd.condition_branch %c, ^right(%a), ^end(%a)
^right(%b: f32):
  pd.branch ^left(%b)
^end(%r: f32):
  func.return (%r)
}

// CHECK: lift-cfg-not.pir:[[@LINE+4]]:3: error: a loop has no exit: control never reaches a return: in the loop of this block [lift-endless]
func.func @endless(%c: i1) -> i1 {
  pd.condition_branch %c, ^loop, ^end
^loop:
  pd.branch ^loop
^end:
  func.return (%c)
}

// Nothing can be made up of a type whose dimensions are not known.
// CHECK: lift-cfg-not.pir:[[@LINE+2]]:3: error: a value of type `tensor<1x?xf32>` is needed on a path that does not compute it
func.func @unknown(%c: i1, %d: i1, %x: tensor<?xf32>) -> tensor<1x?xf32> {
  pd.condition_branch %c, ^compute, ^other
^compute:
  %y = pd.unsqueeze (%x) {axis = [0]} : tensor<1x?xf32>
  pd.condition_branch %d, ^end(%y), ^other
^other:
  %t = pd.tanh (%x) : tensor<?xf32>
  %z = pd.unsqueeze (%t) {axis = [0]} : tensor<1x?xf32>
  pd.branch ^end(%z)
^end(%r: tensor<1x?xf32>):
  func.return (%r)
}
