"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3xf64>, %arg1: tensor<3xf64>):
    %0 = "stablehlo.complex"(%arg0, %arg1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xcomplex<f64>>
    %1 = "stablehlo.real"(%0) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %2 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %5 = "stablehlo.add"(%4, %2) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %6 = "stablehlo.cosine"(%5) : (tensor<3xf64>) -> tensor<3xf64>
    %7 = "stablehlo.real"(%0) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %8 = "stablehlo.multiply"(%6, %7) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg4: tensor<f64>, %arg5: tensor<f64>):
      %20 = "stablehlo.add"(%arg4, %arg5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%20) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %12 = "stablehlo.add"(%11, %10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %13 = "stablehlo.sine"(%5) : (tensor<3xf64>) -> tensor<3xf64>
    %14 = "stablehlo.imag"(%0) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %15 = "stablehlo.multiply"(%13, %14) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %17 = "stablehlo.reduce"(%15, %16) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg2: tensor<f64>, %arg3: tensor<f64>):
      %19 = "stablehlo.add"(%arg2, %arg3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%19) : (tensor<f64>) -> ()
    }) : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    %18 = "stablehlo.add"(%12, %17) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%18) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
