!t = tensor<4x4xf32>
#a = dense<1.0> : tensor<4x4xf32>
#loc1 = loc("a.py":1:2)
func.func @f(%x: tensor<4x4xf32> loc("arg")) -> tensor<4x4xf32> attributes {m = affine_map<(d0, d1) -> (d1, d0)>, n = affine_map<(d0, d1) -> (d1, d0)>} {
  %0 = "u.op"(%x) {map = affine_map<(d0, d1) -> (d1, d0)>} : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(#loc1)
  %1 = "u.op"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["a", "b":3:4])
  %2 = "u.op"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(callsite("foo" at "bar"("x.py":3:4)))
  %3 = "u.op"(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(unknown)
  return %3 : tensor<4x4xf32>
}
