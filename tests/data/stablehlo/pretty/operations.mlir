module @m {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<4xf32>) {
    stablehlo.while() attributes {my.a = 1 : i32}
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return 
    }
    stablehlo.while()
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return 
    }
    %0 = stablehlo.while(%iterArg = %arg1) : tensor<f32> attributes {mhlo.x = 1 : i32}
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return %iterArg : tensor<f32>
    }
    %cst = stablehlo.constant {mhlo.foo = 1 : i32} dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.select %arg0, %arg1, %cst {mhlo.foo = 1 : i32} : tensor<i1>, tensor<f32>
    %2 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.add across dimensions = [0] {mhlo.foo = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.reduce(%arg2 init: %cst) across dimensions = [0] {mhlo.foo = 1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
     reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
      %19 = stablehlo.add %arg4, %arg3 : tensor<f32>
      stablehlo.return %19 : tensor<f32>
    }
    stablehlo.optimization_barrier()
    %4 = stablehlo.create_token : !stablehlo.token
    %5 = stablehlo.after_all %4, %4 : !stablehlo.token
    %6 = stablehlo.reverse %arg2, dims = [] {my.a = 2 : i64} : tensor<4xf32>
    %7 = stablehlo.reduce_precision %arg2, format = e5m10 : tensor<4xf32>
    %8 = stablehlo.fft %arg2, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %9 = stablehlo.dot %arg2, %arg2, precision = [HIGH, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %10 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [] x [], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %11 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %12 = stablehlo.custom_call @"na me"(%arg2) {backend_config = "", has_side_effect = true, my.foo = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %13 = stablehlo.composite "my.op" %arg2 {decomposition = @dec} : (tensor<4xf32>) -> tensor<4xf32>
    %14 = stablehlo.exponential %arg2 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    %15 = stablehlo.dynamic_slice %arg1, , sizes = [] : (tensor<f32>) -> tensor<f32>
    %16 = chlo.next_after %arg2, %arg2 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %17 = stablehlo.tuple %arg2, %arg1 : tuple<tensor<4xf32>, tensor<f32>>
    %18 = stablehlo.get_tuple_element %17[1] : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<f32>
    return
  }
  func.func private @dec(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
