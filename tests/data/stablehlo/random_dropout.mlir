"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x3xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg38: tensor<4x3xf64>):
    %126 = "stablehlo.constant"() <{value = dense<[0, 7]> : tensor<2xui32>}> : () -> tensor<2xui32>
    %127 = "stablehlo.constant"() <{value = dense<6.000000e-01> : tensor<f64>}> : () -> tensor<f64>
    %128 = "func.call"(%126, %127) <{callee = @_bernoulli}> : (tensor<2xui32>, tensor<f64>) -> tensor<4x3xi1>
    %129 = "stablehlo.constant"() <{value = dense<6.000000e-01> : tensor<f64>}> : () -> tensor<f64>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x3xf64>
    %131 = "stablehlo.divide"(%arg38, %130) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %132 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %133 = "func.call"(%128, %131, %132) <{callee = @_where}> : (tensor<4x3xi1>, tensor<4x3xf64>, tensor<f64>) -> tensor<4x3xf64>
    %134 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf64>
    %135 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<12xf64>
    %137 = "stablehlo.add"(%136, %134) : (tensor<12xf64>, tensor<12xf64>) -> tensor<12xf64>
    %138 = "stablehlo.cosine"(%137) : (tensor<12xf64>) -> tensor<12xf64>
    %139 = "stablehlo.reshape"(%138) : (tensor<12xf64>) -> tensor<4x3xf64>
    %140 = "stablehlo.multiply"(%139, %133) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %141 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %142 = "stablehlo.reduce"(%140, %141) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg39: tensor<f64>, %arg40: tensor<f64>):
      %145 = "stablehlo.add"(%arg39, %arg40) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%145) : (tensor<f64>) -> ()
    }) : (tensor<4x3xf64>, tensor<f64>) -> tensor<f64>
    %143 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %144 = "stablehlo.add"(%143, %142) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%144) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2xui32>, tensor<f64>) -> tensor<4x3xi1>, res_attrs = [{}], sym_name = "_bernoulli", sym_visibility = "private"}> ({
  ^bb0(%arg36: tensor<2xui32>, %arg37: tensor<f64>):
    %121 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %122 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %123 = "func.call"(%arg36, %121, %122) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f64>, tensor<f64>) -> tensor<4x3xf64>
    %124 = "stablehlo.broadcast_in_dim"(%arg37) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x3xf64>
    %125 = "stablehlo.compare"(%123, %124) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xi1>
    "func.return"(%125) : (tensor<4x3xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f64>, tensor<f64>) -> tensor<4x3xf64>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<2xui32>, %arg34: tensor<f64>, %arg35: tensor<f64>):
    %75 = "stablehlo.convert"(%arg34) : (tensor<f64>) -> tensor<f64>
    %76 = "stablehlo.convert"(%arg35) : (tensor<f64>) -> tensor<f64>
    %77 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1x1xf64>
    %78 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1x1xf64>
    %79 = "stablehlo.slice"(%arg33) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %80 = "stablehlo.reshape"(%79) : (tensor<1xui32>) -> tensor<ui32>
    %81 = "stablehlo.slice"(%arg33) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %82 = "stablehlo.reshape"(%81) : (tensor<1xui32>) -> tensor<ui32>
    %83 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x3xui64>
    %84 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x3xui64>
    %85 = "stablehlo.constant"() <{value = dense<3> : tensor<ui64>}> : () -> tensor<ui64>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %87 = "stablehlo.multiply"(%86, %83) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %88 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %90 = "stablehlo.multiply"(%89, %84) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %91 = "stablehlo.add"(%87, %90) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %92 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %94 = "stablehlo.shift_right_logical"(%91, %93) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %95 = "stablehlo.convert"(%91) : (tensor<4x3xui64>) -> tensor<4x3xui32>
    %96 = "stablehlo.convert"(%94) : (tensor<4x3xui64>) -> tensor<4x3xui32>
    %97:2 = "func.call"(%80, %82, %96, %95) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<4x3xui32>, tensor<4x3xui32>) -> (tensor<4x3xui32>, tensor<4x3xui32>)
    %98 = "stablehlo.convert"(%97#0) : (tensor<4x3xui32>) -> tensor<4x3xui64>
    %99 = "stablehlo.convert"(%97#1) : (tensor<4x3xui32>) -> tensor<4x3xui64>
    %100 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %102 = "stablehlo.shift_left"(%98, %101) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %103 = "stablehlo.or"(%102, %99) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %104 = "stablehlo.constant"() <{value = dense<12> : tensor<ui64>}> : () -> tensor<ui64>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %106 = "stablehlo.shift_right_logical"(%103, %105) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %107 = "stablehlo.constant"() <{value = dense<4607182418800017408> : tensor<ui64>}> : () -> tensor<ui64>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<4x3xui64>
    %109 = "stablehlo.or"(%106, %108) : (tensor<4x3xui64>, tensor<4x3xui64>) -> tensor<4x3xui64>
    %110 = "stablehlo.bitcast_convert"(%109) : (tensor<4x3xui64>) -> tensor<4x3xf64>
    %111 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x3xf64>
    %113 = "stablehlo.subtract"(%110, %112) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %114 = "stablehlo.subtract"(%78, %77) : (tensor<1x1xf64>, tensor<1x1xf64>) -> tensor<1x1xf64>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf64>) -> tensor<4x3xf64>
    %116 = "stablehlo.multiply"(%113, %115) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %117 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf64>) -> tensor<4x3xf64>
    %118 = "stablehlo.add"(%116, %117) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    %119 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf64>) -> tensor<4x3xf64>
    %120 = "stablehlo.maximum"(%119, %118) : (tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    "func.return"(%120) : (tensor<4x3xf64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<4x3xui32>, tensor<4x3xui32>) -> (tensor<4x3xui32>, tensor<4x3xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<ui32>, %arg12: tensor<ui32>, %arg13: tensor<4x3xui32>, %arg14: tensor<4x3xui32>):
    %58 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %59 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %60 = "stablehlo.xor"(%arg11, %arg12) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %61 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %62 = "stablehlo.xor"(%60, %61) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %63 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %64 = "stablehlo.add"(%arg13, %63) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %65 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %66 = "stablehlo.add"(%arg14, %65) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %67 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %68 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %69:9 = "stablehlo.while"(%68, %67, %64, %66, %arg12, %62, %arg11, %58, %59) ({
    ^bb0(%arg24: tensor<i64>, %arg25: tensor<i64>, %arg26: tensor<4x3xui32>, %arg27: tensor<4x3xui32>, %arg28: tensor<ui32>, %arg29: tensor<ui32>, %arg30: tensor<ui32>, %arg31: tensor<4xui32>, %arg32: tensor<4xui32>):
      %73 = "stablehlo.constant"() <{value = dense<5> : tensor<i64>}> : () -> tensor<i64>
      %74 = "stablehlo.compare"(%arg24, %73) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%74) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg15: tensor<i64>, %arg16: tensor<i64>, %arg17: tensor<4x3xui32>, %arg18: tensor<4x3xui32>, %arg19: tensor<ui32>, %arg20: tensor<ui32>, %arg21: tensor<ui32>, %arg22: tensor<4xui32>, %arg23: tensor<4xui32>):
      %70:8 = "func.call"(%arg16, %arg17, %arg18, %arg19, %arg20, %arg21, %arg22, %arg23) <{callee = @closed_call}> : (tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %71 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %72 = "stablehlo.add"(%arg15, %71) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%72, %70#0, %70#1, %70#2, %70#3, %70#4, %70#5, %70#6, %70#7) : (tensor<i64>, tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i64>, tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%69#2, %69#3) : (tensor<4x3xui32>, tensor<4x3xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i64>, %arg4: tensor<4x3xui32>, %arg5: tensor<4x3xui32>, %arg6: tensor<ui32>, %arg7: tensor<ui32>, %arg8: tensor<ui32>, %arg9: tensor<4xui32>, %arg10: tensor<4xui32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %4 = "stablehlo.add"(%arg3, %3) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %5 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %6 = "stablehlo.reshape"(%5) : (tensor<1xui32>) -> tensor<ui32>
    %7 = "stablehlo.add"(%arg4, %arg5) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %8 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %9 = "stablehlo.shift_left"(%arg5, %8) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %10 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %11 = "stablehlo.subtract"(%10, %6) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %13 = "stablehlo.shift_right_logical"(%arg5, %12) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %14 = "stablehlo.or"(%9, %13) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %15 = "stablehlo.xor"(%7, %14) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %16 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %17 = "stablehlo.reshape"(%16) : (tensor<1xui32>) -> tensor<ui32>
    %18 = "stablehlo.add"(%7, %15) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %19 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %20 = "stablehlo.shift_left"(%15, %19) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %21 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %22 = "stablehlo.subtract"(%21, %17) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %24 = "stablehlo.shift_right_logical"(%15, %23) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %25 = "stablehlo.or"(%20, %24) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %26 = "stablehlo.xor"(%18, %25) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %27 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %28 = "stablehlo.reshape"(%27) : (tensor<1xui32>) -> tensor<ui32>
    %29 = "stablehlo.add"(%18, %26) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %30 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %31 = "stablehlo.shift_left"(%26, %30) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %32 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %33 = "stablehlo.subtract"(%32, %28) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %35 = "stablehlo.shift_right_logical"(%26, %34) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %36 = "stablehlo.or"(%31, %35) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %37 = "stablehlo.xor"(%29, %36) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %38 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %39 = "stablehlo.reshape"(%38) : (tensor<1xui32>) -> tensor<ui32>
    %40 = "stablehlo.add"(%29, %37) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %41 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %42 = "stablehlo.shift_left"(%37, %41) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %43 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %44 = "stablehlo.subtract"(%43, %39) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %46 = "stablehlo.shift_right_logical"(%37, %45) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %47 = "stablehlo.or"(%42, %46) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %48 = "stablehlo.xor"(%40, %47) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %49 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %50 = "stablehlo.add"(%40, %49) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %51 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %52 = "stablehlo.add"(%48, %51) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    %53 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %54 = "stablehlo.add"(%arg3, %53) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %55 = "stablehlo.convert"(%54) : (tensor<i64>) -> tensor<ui32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4x3xui32>
    %57 = "stablehlo.add"(%52, %56) : (tensor<4x3xui32>, tensor<4x3xui32>) -> tensor<4x3xui32>
    "func.return"(%4, %50, %57, %arg7, %arg8, %arg6, %arg10, %arg9) : (tensor<i64>, tensor<4x3xui32>, tensor<4x3xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x3xi1>, tensor<4x3xf64>, tensor<f64>) -> tensor<4x3xf64>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x3xi1>, %arg1: tensor<4x3xf64>, %arg2: tensor<f64>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f64>) -> tensor<f64>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x3xf64>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<4x3xi1>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
    "func.return"(%2) : (tensor<4x3xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
