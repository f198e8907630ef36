"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<6xf64>, tensor<6xi64>, tensor<6xi64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<6xf64>, %arg1: tensor<6xi64>, %arg2: tensor<6xi64>):
    %0 = "stablehlo.popcnt"(%arg1) : (tensor<6xi64>) -> tensor<6xi64>
    %1 = "stablehlo.convert"(%0) : (tensor<6xi64>) -> tensor<6xf64>
    %2 = "stablehlo.multiply"(%arg0, %1) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %3 = "stablehlo.count_leading_zeros"(%arg1) : (tensor<6xi64>) -> tensor<6xi64>
    %4 = "stablehlo.convert"(%3) : (tensor<6xi64>) -> tensor<6xf64>
    %5 = "stablehlo.multiply"(%arg0, %4) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %6 = "stablehlo.shift_right_arithmetic"(%arg1, %arg2) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
    %7 = "stablehlo.convert"(%6) : (tensor<6xi64>) -> tensor<6xf64>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %9 = "stablehlo.convert"(%arg1) : (tensor<6xi64>) -> tensor<6xf64>
    %10 = "stablehlo.convert"(%arg2) : (tensor<6xi64>) -> tensor<6xf64>
    %11 = "chlo.next_after"(%9, %10) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %12 = "stablehlo.convert"(%arg1) : (tensor<6xi64>) -> tensor<6xf64>
    %13 = "stablehlo.subtract"(%11, %12) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %14 = "stablehlo.multiply"(%arg0, %13) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %15 = "stablehlo.constant"() <{value = dense<0x4310000000000000> : tensor<f64>}> : () -> tensor<f64>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %17 = "stablehlo.multiply"(%14, %16) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %18 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %19 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %21 = "stablehlo.add"(%20, %18) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %22 = "stablehlo.cosine"(%21) : (tensor<6xf64>) -> tensor<6xf64>
    %23 = "stablehlo.multiply"(%22, %2) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %25 = "stablehlo.reduce"(%23, %24) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg9: tensor<f64>, %arg10: tensor<f64>):
      %58 = "stablehlo.add"(%arg9, %arg10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%58) : (tensor<f64>) -> ()
    }) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %27 = "stablehlo.add"(%26, %25) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %28 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %29 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %31 = "stablehlo.add"(%30, %28) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %32 = "stablehlo.cosine"(%31) : (tensor<6xf64>) -> tensor<6xf64>
    %33 = "stablehlo.multiply"(%32, %5) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %34 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %35 = "stablehlo.reduce"(%33, %34) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f64>, %arg8: tensor<f64>):
      %57 = "stablehlo.add"(%arg7, %arg8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%57) : (tensor<f64>) -> ()
    }) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %36 = "stablehlo.add"(%27, %35) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %37 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %38 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %40 = "stablehlo.add"(%39, %37) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %41 = "stablehlo.cosine"(%40) : (tensor<6xf64>) -> tensor<6xf64>
    %42 = "stablehlo.multiply"(%41, %8) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %44 = "stablehlo.reduce"(%42, %43) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg5: tensor<f64>, %arg6: tensor<f64>):
      %56 = "stablehlo.add"(%arg5, %arg6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%56) : (tensor<f64>) -> ()
    }) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %45 = "stablehlo.add"(%36, %44) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %46 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf64>
    %47 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<6xf64>
    %49 = "stablehlo.add"(%48, %46) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %50 = "stablehlo.cosine"(%49) : (tensor<6xf64>) -> tensor<6xf64>
    %51 = "stablehlo.multiply"(%50, %17) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %53 = "stablehlo.reduce"(%51, %52) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg3: tensor<f64>, %arg4: tensor<f64>):
      %55 = "stablehlo.add"(%arg3, %arg4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%55) : (tensor<f64>) -> ()
    }) : (tensor<6xf64>, tensor<f64>) -> tensor<f64>
    %54 = "stablehlo.add"(%45, %53) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%54) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
