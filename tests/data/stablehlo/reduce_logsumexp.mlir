"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x5xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x5xf64>):
    %0 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f64>, %arg6: tensor<f64>):
      %31 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%31) : (tensor<f64>) -> ()
    }) : (tensor<3x5xf64>, tensor<f64>) -> tensor<3xf64>
    %2 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %4 = "stablehlo.maximum"(%3, %1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %5 = "stablehlo.is_finite"(%4) : (tensor<3xf64>) -> tensor<3xi1>
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %8 = "stablehlo.select"(%5, %4, %7) : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf64>) -> tensor<3x1xf64>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf64>) -> tensor<3x5xf64>
    %11 = "stablehlo.subtract"(%arg0, %10) : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
    %12 = "stablehlo.exponential"(%11) : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %14 = "stablehlo.reduce"(%12, %13) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %30 = "stablehlo.add"(%arg3, %arg4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%30) : (tensor<f64>) -> ()
    }) : (tensor<3x5xf64>, tensor<f64>) -> tensor<3xf64>
    %15 = "stablehlo.sign"(%14) : (tensor<3xf64>) -> tensor<3xf64>
    %16 = "stablehlo.abs"(%14) : (tensor<3xf64>) -> tensor<3xf64>
    %17 = "stablehlo.log"(%16) : (tensor<3xf64>) -> tensor<3xf64>
    %18 = "stablehlo.add"(%17, %8) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %19 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %22 = "stablehlo.add"(%21, %19) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %23 = "stablehlo.cosine"(%22) : (tensor<3xf64>) -> tensor<3xf64>
    %24 = "stablehlo.multiply"(%23, %18) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %26 = "stablehlo.reduce"(%24, %25) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f64>, %arg2: tensor<f64>):
      %29 = "stablehlo.add"(%arg1, %arg2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%29) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %28 = "stablehlo.add"(%27, %26) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%28) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
