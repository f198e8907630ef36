"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg35: tensor<5xf64>):
    %107 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %108 = "stablehlo.constant"() <{value = dense<32> : tensor<i64>}> : () -> tensor<i64>
    %109 = "stablehlo.shift_right_logical"(%107, %108) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %110 = "stablehlo.convert"(%109) : (tensor<i64>) -> tensor<ui32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %112 = "stablehlo.constant"() <{value = dense<4294967295> : tensor<i64>}> : () -> tensor<i64>
    %113 = "stablehlo.and"(%107, %112) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %114 = "stablehlo.convert"(%113) : (tensor<i64>) -> tensor<ui32>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %116 = "stablehlo.concatenate"(%111, %115) <{dimension = 0 : i64}> : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %117 = "stablehlo.concatenate"(%116, %116) <{dimension = 0 : i64}> : (tensor<2xui32>, tensor<2xui32>) -> tensor<4xui32>
    %118 = "stablehlo.reshape"(%117) : (tensor<4xui32>) -> tensor<2x2xui32>
    %119 = "stablehlo.slice"(%118) <{limit_indices = array<i64: 2, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<2x1xui32>
    %120 = "stablehlo.reshape"(%119) : (tensor<2x1xui32>) -> tensor<2xui32>
    %121 = "stablehlo.slice"(%118) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<2x1xui32>
    %122 = "stablehlo.reshape"(%121) : (tensor<2x1xui32>) -> tensor<2xui32>
    %123 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %124 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %126 = "stablehlo.multiply"(%125, %123) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %127 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %128 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %129 = "stablehlo.shift_right_logical"(%126, %128) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %130 = "stablehlo.convert"(%126) : (tensor<2xui64>) -> tensor<2xui32>
    %131 = "stablehlo.convert"(%129) : (tensor<2xui64>) -> tensor<2xui32>
    %132 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1x2xui32>
    %133 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1x2xui32>
    %134 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %135 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %136:2 = "func.call"(%134, %135, %132, %133) <{callee = @threefry2x32}> : (tensor<2x1xui32>, tensor<2x1xui32>, tensor<1x2xui32>, tensor<1x2xui32>) -> (tensor<2x2xui32>, tensor<2x2xui32>)
    %137 = "stablehlo.broadcast_in_dim"(%136#0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x2xui32>) -> tensor<2x2x1xui32>
    %138 = "stablehlo.broadcast_in_dim"(%136#1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x2xui32>) -> tensor<2x2x1xui32>
    %139 = "stablehlo.concatenate"(%137, %138) <{dimension = 2 : i64}> : (tensor<2x2x1xui32>, tensor<2x2x1xui32>) -> tensor<2x2x2xui32>
    %140 = "stablehlo.transpose"(%139) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x2x2xui32>) -> tensor<2x2x2xui32>
    %141 = "stablehlo.reshape"(%140) : (tensor<2x2x2xui32>) -> tensor<2x4xui32>
    %142 = "stablehlo.slice"(%141) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x4xui32>) -> tensor<1x4xui32>
    %143 = "stablehlo.reshape"(%142) : (tensor<1x4xui32>) -> tensor<4xui32>
    %144 = "func.call"(%143) <{callee = @_normal}> : (tensor<4xui32>) -> tensor<5xf64>
    %145 = "stablehlo.multiply"(%arg35, %144) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %146 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xf64>
    %147 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %148 = "stablehlo.broadcast_in_dim"(%147) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<5xf64>
    %149 = "stablehlo.add"(%148, %146) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %150 = "stablehlo.cosine"(%149) : (tensor<5xf64>) -> tensor<5xf64>
    %151 = "stablehlo.multiply"(%150, %145) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %152 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %153 = "stablehlo.reduce"(%151, %152) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg36: tensor<f64>, %arg37: tensor<f64>):
      %156 = "stablehlo.add"(%arg36, %arg37) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%156) : (tensor<f64>) -> ()
    }) : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
    %154 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %155 = "stablehlo.add"(%154, %153) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%155) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x1xui32>, tensor<2x1xui32>, tensor<1x2xui32>, tensor<1x2xui32>) -> (tensor<2x2xui32>, tensor<2x2xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<2x1xui32>, %arg14: tensor<2x1xui32>, %arg15: tensor<1x2xui32>, %arg16: tensor<1x2xui32>):
    %87 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %88 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %89 = "stablehlo.xor"(%arg13, %arg14) : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %90 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x1xui32>
    %92 = "stablehlo.xor"(%89, %91) : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %93 = "stablehlo.broadcast_in_dim"(%arg15) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xui32>) -> tensor<2x2xui32>
    %94 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %95 = "stablehlo.add"(%93, %94) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %96 = "stablehlo.broadcast_in_dim"(%arg16) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xui32>) -> tensor<2x2xui32>
    %97 = "stablehlo.broadcast_in_dim"(%arg14) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %98 = "stablehlo.add"(%96, %97) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %99 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %100 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %101:9 = "stablehlo.while"(%100, %99, %95, %98, %arg14, %92, %arg13, %87, %88) ({
    ^bb0(%arg26: tensor<i64>, %arg27: tensor<i64>, %arg28: tensor<2x2xui32>, %arg29: tensor<2x2xui32>, %arg30: tensor<2x1xui32>, %arg31: tensor<2x1xui32>, %arg32: tensor<2x1xui32>, %arg33: tensor<4xui32>, %arg34: tensor<4xui32>):
      %105 = "stablehlo.constant"() <{value = dense<5> : tensor<i64>}> : () -> tensor<i64>
      %106 = "stablehlo.compare"(%arg26, %105) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%106) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg17: tensor<i64>, %arg18: tensor<i64>, %arg19: tensor<2x2xui32>, %arg20: tensor<2x2xui32>, %arg21: tensor<2x1xui32>, %arg22: tensor<2x1xui32>, %arg23: tensor<2x1xui32>, %arg24: tensor<4xui32>, %arg25: tensor<4xui32>):
      %102:8 = "func.call"(%arg18, %arg19, %arg20, %arg21, %arg22, %arg23, %arg24, %arg25) <{callee = @closed_call}> : (tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>)
      %103 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %104 = "stablehlo.add"(%arg17, %103) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%104, %102#0, %102#1, %102#2, %102#3, %102#4, %102#5, %102#6, %102#7) : (tensor<i64>, tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i64>, tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%101#2, %101#3) : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i64>, %arg6: tensor<2x2xui32>, %arg7: tensor<2x2xui32>, %arg8: tensor<2x1xui32>, %arg9: tensor<2x1xui32>, %arg10: tensor<2x1xui32>, %arg11: tensor<4xui32>, %arg12: tensor<4xui32>):
    %32 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %33 = "stablehlo.add"(%arg5, %32) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %34 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %35 = "stablehlo.reshape"(%34) : (tensor<1xui32>) -> tensor<ui32>
    %36 = "stablehlo.add"(%arg6, %arg7) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %37 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %38 = "stablehlo.shift_left"(%arg7, %37) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %39 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %40 = "stablehlo.subtract"(%39, %35) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %42 = "stablehlo.shift_right_logical"(%arg7, %41) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %43 = "stablehlo.or"(%38, %42) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %44 = "stablehlo.xor"(%36, %43) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %45 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %46 = "stablehlo.reshape"(%45) : (tensor<1xui32>) -> tensor<ui32>
    %47 = "stablehlo.add"(%36, %44) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %48 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %49 = "stablehlo.shift_left"(%44, %48) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %50 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %51 = "stablehlo.subtract"(%50, %46) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %53 = "stablehlo.shift_right_logical"(%44, %52) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %54 = "stablehlo.or"(%49, %53) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %55 = "stablehlo.xor"(%47, %54) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %56 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %57 = "stablehlo.reshape"(%56) : (tensor<1xui32>) -> tensor<ui32>
    %58 = "stablehlo.add"(%47, %55) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %59 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %60 = "stablehlo.shift_left"(%55, %59) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %61 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %62 = "stablehlo.subtract"(%61, %57) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %64 = "stablehlo.shift_right_logical"(%55, %63) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %65 = "stablehlo.or"(%60, %64) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %66 = "stablehlo.xor"(%58, %65) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %67 = "stablehlo.slice"(%arg11) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %68 = "stablehlo.reshape"(%67) : (tensor<1xui32>) -> tensor<ui32>
    %69 = "stablehlo.add"(%58, %66) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %70 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %71 = "stablehlo.shift_left"(%66, %70) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %72 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %73 = "stablehlo.subtract"(%72, %68) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %75 = "stablehlo.shift_right_logical"(%66, %74) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %76 = "stablehlo.or"(%71, %75) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %77 = "stablehlo.xor"(%69, %76) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %78 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %79 = "stablehlo.add"(%69, %78) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %80 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %81 = "stablehlo.add"(%77, %80) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %82 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %83 = "stablehlo.add"(%arg5, %82) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %84 = "stablehlo.convert"(%83) : (tensor<i64>) -> tensor<ui32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %86 = "stablehlo.add"(%81, %85) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    "func.return"(%33, %79, %86, %arg9, %arg10, %arg8, %arg12, %arg11) : (tensor<i64>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<5xf64>, res_attrs = [{}], sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<4xui32>):
    %31 = "func.call"(%arg4) <{callee = @_normal_real}> : (tensor<4xui32>) -> tensor<5xf64>
    "func.return"(%31) : (tensor<5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<5xf64>, res_attrs = [{}], sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<4xui32>):
    %24 = "stablehlo.constant"() <{value = dense<-0.99999999999999988> : tensor<f64>}> : () -> tensor<f64>
    %25 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %26 = "func.call"(%arg3, %24, %25) <{callee = @_uniform}> : (tensor<4xui32>, tensor<f64>, tensor<f64>) -> tensor<5xf64>
    %27 = "chlo.erf_inv"(%26) : (tensor<5xf64>) -> tensor<5xf64>
    %28 = "stablehlo.constant"() <{value = dense<1.4142135623730951> : tensor<f64>}> : () -> tensor<f64>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<5xf64>
    %30 = "stablehlo.multiply"(%29, %27) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    "func.return"(%30) : (tensor<5xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xui32>, tensor<f64>, tensor<f64>) -> tensor<5xf64>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4xui32>, %arg1: tensor<f64>, %arg2: tensor<f64>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %2 = "stablehlo.reshape"(%arg0) : (tensor<4xui32>) -> tensor<2x2xui32>
    %3 = "stablehlo.bitcast_convert"(%2) : (tensor<2x2xui32>) -> tensor<2xui64>
    %4:2 = "stablehlo.rng_bit_generator"(%3) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui64>)
    %5 = "stablehlo.bitcast_convert"(%4#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %6 = "stablehlo.reshape"(%5) : (tensor<2x2xui32>) -> tensor<4xui32>
    %7 = "stablehlo.constant"() <{value = dense<12> : tensor<ui64>}> : () -> tensor<ui64>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<5xui64>
    %9 = "stablehlo.shift_right_logical"(%4#1, %8) : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xui64>
    %10 = "stablehlo.constant"() <{value = dense<4607182418800017408> : tensor<ui64>}> : () -> tensor<ui64>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<5xui64>
    %12 = "stablehlo.or"(%9, %11) : (tensor<5xui64>, tensor<5xui64>) -> tensor<5xui64>
    %13 = "stablehlo.bitcast_convert"(%12) : (tensor<5xui64>) -> tensor<5xf64>
    %14 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<5xf64>
    %16 = "stablehlo.subtract"(%13, %15) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %17 = "stablehlo.subtract"(%1, %0) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf64>) -> tensor<5xf64>
    %19 = "stablehlo.multiply"(%16, %18) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %20 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf64>) -> tensor<5xf64>
    %21 = "stablehlo.add"(%19, %20) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    %22 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf64>) -> tensor<5xf64>
    %23 = "stablehlo.maximum"(%22, %21) : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
    "func.return"(%23) : (tensor<5xf64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
