// What jax.export writes of: lambda x: x.reshape(-1).mean(), for a shape of (b, 3)
func.func public @main(%arg0: tensor<?x3xf32>) -> tensor<f32> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %n = stablehlo.multiply %b, %three : tensor<i32>
  %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %arg0, %shape : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %sum = stablehlo.reduce(%flat init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %mean = stablehlo.divide %sum, %count : tensor<f32>
  return %mean : tensor<f32>
}
