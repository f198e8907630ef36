"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> tensor<f64>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg33: tensor<4x4xf64>):
    %157 = "func.call"(%arg33) <{callee = @det}> : (tensor<4x4xf64>) -> tensor<f64>
    %158:2 = "func.call"(%arg33) <{callee = @slogdet}> : (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>)
    %159 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %160 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %162 = "stablehlo.add"(%161, %159) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %163 = "stablehlo.cosine"(%162) : (tensor<1xf64>) -> tensor<1xf64>
    %164 = "stablehlo.reshape"(%163) : (tensor<1xf64>) -> tensor<f64>
    %165 = "stablehlo.multiply"(%164, %157) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %166 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %167 = "stablehlo.reduce"(%165, %166) <{dimensions = array<i64>}> ({
    ^bb0(%arg38: tensor<f64>, %arg39: tensor<f64>):
      %192 = "stablehlo.add"(%arg38, %arg39) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%192) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %168 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %169 = "stablehlo.add"(%168, %167) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %170 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %171 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %172 = "stablehlo.broadcast_in_dim"(%171) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %173 = "stablehlo.add"(%172, %170) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %174 = "stablehlo.cosine"(%173) : (tensor<1xf64>) -> tensor<1xf64>
    %175 = "stablehlo.reshape"(%174) : (tensor<1xf64>) -> tensor<f64>
    %176 = "stablehlo.multiply"(%175, %158#0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %177 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %178 = "stablehlo.reduce"(%176, %177) <{dimensions = array<i64>}> ({
    ^bb0(%arg36: tensor<f64>, %arg37: tensor<f64>):
      %191 = "stablehlo.add"(%arg36, %arg37) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%191) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %179 = "stablehlo.add"(%169, %178) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %180 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<1xf64>
    %181 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %182 = "stablehlo.broadcast_in_dim"(%181) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<1xf64>
    %183 = "stablehlo.add"(%182, %180) : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    %184 = "stablehlo.cosine"(%183) : (tensor<1xf64>) -> tensor<1xf64>
    %185 = "stablehlo.reshape"(%184) : (tensor<1xf64>) -> tensor<f64>
    %186 = "stablehlo.multiply"(%185, %158#1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %187 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %188 = "stablehlo.reduce"(%186, %187) <{dimensions = array<i64>}> ({
    ^bb0(%arg34: tensor<f64>, %arg35: tensor<f64>):
      %190 = "stablehlo.add"(%arg34, %arg35) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%190) : (tensor<f64>) -> ()
    }) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %189 = "stablehlo.add"(%179, %188) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%189) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> tensor<f64>, res_attrs = [{}], sym_name = "det", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<4x4xf64>):
    %154:2 = "func.call"(%arg32) <{callee = @slogdet}> : (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>)
    %155 = "stablehlo.exponential"(%154#1) : (tensor<f64>) -> tensor<f64>
    %156 = "stablehlo.multiply"(%154#0, %155) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%156) : (tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> (tensor<f64>, tensor<f64>), res_attrs = [{}, {}], sym_name = "slogdet", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<4x4xf64>):
    %100:3 = "stablehlo.custom_call"(%arg19) <{api_version = 1 : i32, backend_config = "", call_target_name = "lapack_dgetrf_ffi", called_computations = [], has_side_effect = false, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}> {mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=4, j=4, k=4, l=4, m=4}, custom>} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xi32>, tensor<i32>)
    %101 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4xi32>
    %103 = "stablehlo.subtract"(%100#1, %102) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %104 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %106 = "stablehlo.compare"(%100#2, %105) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1x1xi1>
    %108 = "stablehlo.constant"() <{value = dense<0x7FF8000000000000> : tensor<f64>}> : () -> tensor<f64>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4x4xf64>
    %110 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xi1>) -> tensor<4x4xi1>
    %111 = "stablehlo.select"(%110, %100#0, %109) : (tensor<4x4xi1>, tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
    %112 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %113 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %114 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %115:4 = "stablehlo.while"(%103, %114, %113, %112) ({
    ^bb0(%arg28: tensor<4xi32>, %arg29: tensor<i64>, %arg30: tensor<i64>, %arg31: tensor<4xi32>):
      %152 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
      %153 = "stablehlo.compare"(%arg29, %152) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%153) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg24: tensor<4xi32>, %arg25: tensor<i64>, %arg26: tensor<i64>, %arg27: tensor<4xi32>):
      %149:2 = "func.call"(%arg24, %arg26, %arg27) <{callee = @closed_call}> : (tensor<4xi32>, tensor<i64>, tensor<4xi32>) -> (tensor<i64>, tensor<4xi32>)
      %150 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %151 = "stablehlo.add"(%arg25, %150) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg24, %151, %149#0, %149#1) : (tensor<4xi32>, tensor<i64>, tensor<i64>, tensor<4xi32>) -> ()
    }) : (tensor<4xi32>, tensor<i64>, tensor<i64>, tensor<4xi32>) -> (tensor<4xi32>, tensor<i64>, tensor<i64>, tensor<4xi32>)
    %116 = "func.call"(%111) <{callee = @diagonal}> : (tensor<4x4xf64>) -> tensor<4xf64>
    %117 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4xf64>
    %119 = "stablehlo.compare"(%116, %118) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %120 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %121 = "stablehlo.reduce"(%119, %120) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg22: tensor<i1>, %arg23: tensor<i1>):
      %148 = "stablehlo.or"(%arg22, %arg23) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%148) : (tensor<i1>) -> ()
    }) : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
    %122 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %123 = "stablehlo.compare"(%103, %122) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %124 = "func.call"(%123) <{callee = @count_nonzero}> : (tensor<4xi1>) -> tensor<i64>
    %125 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<4xf64>
    %127 = "stablehlo.compare"(%116, %126) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
    %128 = "func.call"(%127) <{callee = @count_nonzero}> : (tensor<4xi1>) -> tensor<i64>
    %129 = "stablehlo.add"(%124, %128) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %130 = "stablehlo.constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
    %131 = "func.call"(%129, %130) <{callee = @remainder}> : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %132 = "stablehlo.constant"() <{value = dense<-2> : tensor<i64>}> : () -> tensor<i64>
    %133 = "stablehlo.multiply"(%132, %131) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %134 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %135 = "stablehlo.add"(%133, %134) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %136 = "stablehlo.convert"(%135) : (tensor<i64>) -> tensor<f64>
    %137 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %138 = "stablehlo.multiply"(%137, %136) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %139 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %140 = "func.call"(%121, %139, %138) <{callee = @_where_0}> : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    %141 = "stablehlo.abs"(%116) : (tensor<4xf64>) -> tensor<4xf64>
    %142 = "stablehlo.log"(%141) : (tensor<4xf64>) -> tensor<4xf64>
    %143 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f64>}> : () -> tensor<f64>
    %144 = "stablehlo.reduce"(%142, %143) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg20: tensor<f64>, %arg21: tensor<f64>):
      %147 = "stablehlo.add"(%arg20, %arg21) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%147) : (tensor<f64>) -> ()
    }) : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
    %145 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
    %146 = "func.call"(%121, %145, %144) <{callee = @_where_0}> : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%140, %146) : (tensor<f64>, tensor<f64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xi32>, tensor<i64>, tensor<4xi32>) -> (tensor<i64>, tensor<4xi32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4xi32>, %arg13: tensor<i64>, %arg14: tensor<4xi32>):
    %60 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %61 = "stablehlo.add"(%arg13, %60) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %62 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %63 = "stablehlo.compare"(%arg13, %62) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %64 = "stablehlo.convert"(%arg13) : (tensor<i64>) -> tensor<i64>
    %65 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %66 = "stablehlo.add"(%64, %65) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %67 = "stablehlo.select"(%63, %66, %arg13) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %68 = "stablehlo.dynamic_slice"(%arg12, %67) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i64>) -> tensor<1xi32>
    %69 = "stablehlo.reshape"(%68) : (tensor<1xi32>) -> tensor<i32>
    %70 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %71 = "stablehlo.compare"(%arg13, %70) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %72 = "stablehlo.convert"(%arg13) : (tensor<i64>) -> tensor<i64>
    %73 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %74 = "stablehlo.add"(%72, %73) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %75 = "stablehlo.select"(%71, %74, %arg13) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %76 = "stablehlo.dynamic_slice"(%arg14, %75) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i64>) -> tensor<1xi32>
    %77 = "stablehlo.reshape"(%76) : (tensor<1xi32>) -> tensor<i32>
    %78 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %79 = "stablehlo.compare"(%69, %78) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %80 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %81 = "stablehlo.add"(%69, %80) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %82 = "stablehlo.select"(%79, %81, %69) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %83 = "stablehlo.dynamic_slice"(%arg14, %82) <{slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %84 = "stablehlo.reshape"(%83) : (tensor<1xi32>) -> tensor<i32>
    %85 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %86 = "stablehlo.compare"(%arg13, %85) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %87 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
    %88 = "stablehlo.add"(%arg13, %87) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %89 = "stablehlo.select"(%86, %88, %arg13) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %90 = "stablehlo.convert"(%89) : (tensor<i64>) -> tensor<i32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %92 = "stablehlo.scatter"(%arg14, %91, %84) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg17: tensor<i32>, %arg18: tensor<i32>):
      "stablehlo.return"(%arg18) : (tensor<i32>) -> ()
    }) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    %93 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %94 = "stablehlo.compare"(%69, %93) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %95 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %96 = "stablehlo.add"(%69, %95) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %97 = "stablehlo.select"(%94, %96, %69) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %99 = "stablehlo.scatter"(%92, %98, %77) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg15: tensor<i32>, %arg16: tensor<i32>):
      "stablehlo.return"(%arg16) : (tensor<i32>) -> ()
    }) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    "func.return"(%61, %99) : (tensor<i64>, tensor<4xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x4xf64>) -> tensor<4xf64>, res_attrs = [{}], sym_name = "diagonal", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<4x4xf64>):
    %26 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x4xi64>
    %27 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x4xi64>
    %28 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4x4xi64>
    %30 = "stablehlo.add"(%26, %29) : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi64>
    %31 = "stablehlo.compare"(%30, %27) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %32 = "stablehlo.convert"(%31) : (tensor<4x4xi1>) -> tensor<4x4xf64>
    %33 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %34 = "stablehlo.case"(%33) ({
      %59 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%59) : (tensor<i32>) -> ()
    }, {
      %58 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      "stablehlo.return"(%58) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    %35 = "stablehlo.case"(%34) ({
      %36 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi64>
      %37 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi64>
      %38 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4xi64>
      %40 = "stablehlo.compare"(%36, %39) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
      %41 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
      %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4xi64>
      %43 = "stablehlo.add"(%36, %42) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      %44 = "stablehlo.select"(%40, %43, %36) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      %45 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4xi64>
      %47 = "stablehlo.compare"(%37, %46) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
      %48 = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
      %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<4xi64>
      %50 = "stablehlo.add"(%37, %49) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      %51 = "stablehlo.select"(%47, %50, %37) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
      %52 = "stablehlo.convert"(%44) : (tensor<4xi64>) -> tensor<4xi32>
      %53 = "stablehlo.convert"(%51) : (tensor<4xi64>) -> tensor<4xi32>
      %54 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
      %55 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
      %56 = "stablehlo.concatenate"(%54, %55) <{dimension = 1 : i64}> : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
      %57 = "stablehlo.gather"(%arg11, %56) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf64>, tensor<4x2xi32>) -> tensor<4xf64>
      "stablehlo.return"(%57) : (tensor<4xf64>) -> ()
    }) : (tensor<i32>) -> tensor<4xf64>
    "func.return"(%35) : (tensor<4xf64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xi1>) -> tensor<i64>, res_attrs = [{}], sym_name = "count_nonzero", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<4xi1>):
    %18 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<4xi1>
    %20 = "stablehlo.compare"(%arg8, %19) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    %21 = "stablehlo.convert"(%20) : (tensor<4xi1>) -> tensor<4xi32>
    %22 = "stablehlo.convert"(%21) : (tensor<4xi32>) -> tensor<4xi64>
    %23 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %24 = "stablehlo.reduce"(%22, %23) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg9: tensor<i64>, %arg10: tensor<i64>):
      %25 = "stablehlo.add"(%arg9, %arg10) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%25) : (tensor<i64>) -> ()
    }) : (tensor<4xi64>, tensor<i64>) -> tensor<i64>
    "func.return"(%24) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<i64>, %arg7: tensor<i64>):
    %2 = "stablehlo.convert"(%arg7) : (tensor<i64>) -> tensor<i64>
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %4 = "stablehlo.compare"(%2, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %6 = "func.call"(%4, %5, %2) <{callee = @_where}> : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %7 = "stablehlo.remainder"(%arg6, %6) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %9 = "stablehlo.compare"(%7, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %11 = "stablehlo.compare"(%7, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %12 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %13 = "stablehlo.compare"(%6, %12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %14 = "stablehlo.compare"(%11, %13) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %15 = "stablehlo.and"(%14, %9) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %16 = "stablehlo.add"(%7, %6) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %17 = "stablehlo.select"(%15, %16, %7) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%17) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i1>, %arg4: tensor<i64>, %arg5: tensor<i64>):
    %1 = "stablehlo.select"(%arg3, %arg4, %arg5) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%1) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>):
    %0 = "stablehlo.select"(%arg0, %arg1, %arg2) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    "func.return"(%0) : (tensor<f64>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
