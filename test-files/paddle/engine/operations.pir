// RUN: pir-opt %s --emit=paddle-json -o %t.json
// Every operation that PaddlePaddle has too.
// PASS: dce
%x = pd.data {name = "x", shape = [2, 3], dtype = f32}
%y = pd.data {name = "y", shape = [2, 3], dtype = f32}
%z = pd.data {name = "z", shape = [3], dtype = f32}
%a = pd.data {name = "a", shape = [2, 3], dtype = i64}
%b = pd.data {name = "b", shape = [2, 3], dtype = i32}
%p = pd.data {name = "p", shape = [2, 3], dtype = i1}
%i = pd.data {name = "i", shape = [2], dtype = i64}
%w = pd.data {name = "w", shape = [3, 4], dtype = f32}
%dx = pd.data {name = "dx", shape = [2, 3], dtype = f64}
%r0 = pd.add (%x, %y)
pd.fetch (%r0) {name = "add_r0"}
%r1 = pd.multiply (%x, %y)
pd.fetch (%r1) {name = "multiply_r1"}
%r2 = pd.subtract (%x, %y)
pd.fetch (%r2) {name = "subtract_r2"}
%r3 = pd.divide (%x, %y)
pd.fetch (%r3) {name = "divide_r3"}
%r4 = pd.remainder (%x, %y)
pd.fetch (%r4) {name = "remainder_r4"}
%r5 = pd.floor_divide (%x, %y)
pd.fetch (%r5) {name = "floor_divide_r5"}
%r6 = pd.elementwise_pow (%x, %y)
pd.fetch (%r6) {name = "elementwise_pow_r6"}
%r7 = pd.atan2 (%x, %y)
pd.fetch (%r7) {name = "atan2_r7"}
%r8 = pd.maximum (%x, %y)
pd.fetch (%r8) {name = "maximum_r8"}
%r9 = pd.minimum (%x, %y)
pd.fetch (%r9) {name = "minimum_r9"}
%r10 = pd.fmax (%x, %y)
pd.fetch (%r10) {name = "fmax_r10"}
%r11 = pd.fmin (%x, %y)
pd.fetch (%r11) {name = "fmin_r11"}
%r12 = pd.equal (%x, %y)
pd.fetch (%r12) {name = "equal_r12"}
%r13 = pd.not_equal (%x, %y)
pd.fetch (%r13) {name = "not_equal_r13"}
%r14 = pd.less_than (%x, %y)
pd.fetch (%r14) {name = "less_than_r14"}
%r15 = pd.less_equal (%x, %y)
pd.fetch (%r15) {name = "less_equal_r15"}
%r16 = pd.greater_than (%x, %y)
pd.fetch (%r16) {name = "greater_than_r16"}
%r17 = pd.greater_equal (%x, %y)
pd.fetch (%r17) {name = "greater_equal_r17"}
%r18 = pd.add (%x, %z)
pd.fetch (%r18) {name = "add_r18"}
%r19 = pd.multiply (%x, %z)
pd.fetch (%r19) {name = "multiply_r19"}
%r20 = pd.subtract (%x, %z)
pd.fetch (%r20) {name = "subtract_r20"}
%r21 = pd.maximum (%x, %z)
pd.fetch (%r21) {name = "maximum_r21"}
%r22 = pd.logical_and (%p, %p)
pd.fetch (%r22) {name = "logical_and_r22"}
%r23 = pd.logical_or (%p, %p)
pd.fetch (%r23) {name = "logical_or_r23"}
%r24 = pd.logical_xor (%p, %p)
pd.fetch (%r24) {name = "logical_xor_r24"}
%r25 = pd.bitwise_and (%b, %b)
pd.fetch (%r25) {name = "bitwise_and_r25"}
%r26 = pd.bitwise_or (%b, %b)
pd.fetch (%r26) {name = "bitwise_or_r26"}
%r27 = pd.bitwise_xor (%b, %b)
pd.fetch (%r27) {name = "bitwise_xor_r27"}
%r28 = pd.bitwise_not (%b)
pd.fetch (%r28) {name = "bitwise_not_r28"}
%r29 = pd.logical_not (%p)
pd.fetch (%r29) {name = "logical_not_r29"}
%r30 = pd.where (%p, %x, %y)
pd.fetch (%r30) {name = "where_r30"}
%r31 = pd.add_n (%x, %y)
pd.fetch (%r31) {name = "add_n_r31"}
%r32 = pd.exp (%x)
pd.fetch (%r32) {name = "exp_r32"}
%r33 = pd.expm1 (%x)
pd.fetch (%r33) {name = "expm1_r33"}
%r34 = pd.log (%x)
pd.fetch (%r34) {name = "log_r34"}
%r35 = pd.log2 (%x)
pd.fetch (%r35) {name = "log2_r35"}
%r36 = pd.log10 (%x)
pd.fetch (%r36) {name = "log10_r36"}
%r37 = pd.log1p (%x)
pd.fetch (%r37) {name = "log1p_r37"}
%r38 = pd.square (%x)
pd.fetch (%r38) {name = "square_r38"}
%r39 = pd.reciprocal (%x)
pd.fetch (%r39) {name = "reciprocal_r39"}
%r40 = pd.sinh (%x)
pd.fetch (%r40) {name = "sinh_r40"}
%r41 = pd.cosh (%x)
pd.fetch (%r41) {name = "cosh_r41"}
%r42 = pd.sin (%x)
pd.fetch (%r42) {name = "sin_r42"}
%r43 = pd.cos (%x)
pd.fetch (%r43) {name = "cos_r43"}
%r44 = pd.tan (%x)
pd.fetch (%r44) {name = "tan_r44"}
%r45 = pd.asin (%x)
pd.fetch (%r45) {name = "asin_r45"}
%r46 = pd.acos (%x)
pd.fetch (%r46) {name = "acos_r46"}
%r47 = pd.atan (%x)
pd.fetch (%r47) {name = "atan_r47"}
%r48 = pd.neg (%x)
pd.fetch (%r48) {name = "neg_r48"}
%r49 = pd.sign (%x)
pd.fetch (%r49) {name = "sign_r49"}
%r50 = pd.floor (%x)
pd.fetch (%r50) {name = "floor_r50"}
%r51 = pd.ceil (%x)
pd.fetch (%r51) {name = "ceil_r51"}
%r52 = pd.round (%x)
pd.fetch (%r52) {name = "round_r52"}
%r53 = pd.trunc (%x)
pd.fetch (%r53) {name = "trunc_r53"}
%r54 = pd.erf (%x)
pd.fetch (%r54) {name = "erf_r54"}
%r55 = pd.tanh (%x)
pd.fetch (%r55) {name = "tanh_r55"}
%r56 = pd.sigmoid (%x)
pd.fetch (%r56) {name = "sigmoid_r56"}
%r57 = pd.relu (%x)
pd.fetch (%r57) {name = "relu_r57"}
%r58 = pd.sqrt (%x)
pd.fetch (%r58) {name = "sqrt_r58"}
%r59 = pd.rsqrt (%x)
pd.fetch (%r59) {name = "rsqrt_r59"}
%r60 = pd.abs (%x)
pd.fetch (%r60) {name = "abs_r60"}
%r61 = pd.assign (%x)
pd.fetch (%r61) {name = "assign_r61"}
%r62 = pd.isnan (%x)
pd.fetch (%r62) {name = "isnan_r62"}
%r63 = pd.isinf (%x)
pd.fetch (%r63) {name = "isinf_r63"}
%r64 = pd.isfinite (%x)
pd.fetch (%r64) {name = "isfinite_r64"}
%r65 = pd.pow (%x) {y = 2.5}
pd.fetch (%r65) {name = "pow_r65"}
%r66 = pd.pow (%dx) {y = 0.1}
pd.fetch (%r66) {name = "pow_r66"}
%r67 = pd.clip (%x) {min = 0.3, max = 0.6}
pd.fetch (%r67) {name = "clip_r67"}
%r68 = pd.scale (%dx) {scale = 0.1, bias = 0.7}
pd.fetch (%r68) {name = "scale_r68"}
%r69 = pd.scale (%a) {scale = 3.0, bias = 1.0}
pd.fetch (%r69) {name = "scale_r69"}
%r70 = pd.scale (%x) {scale = 2.0, bias = 0.5, bias_after_scale = false}
pd.fetch (%r70) {name = "scale_r70"}
%r71 = pd.increment (%x) {value = 2.0}
pd.fetch (%r71) {name = "increment_r71"}
%r72 = pd.cast (%x) {dtype = f64}
pd.fetch (%r72) {name = "cast_r72"}
%r73 = pd.cast (%a) {dtype = f32}
pd.fetch (%r73) {name = "cast_r73"}
%r74 = pd.full_like (%x) {value = 3.0}
pd.fetch (%r74) {name = "full_like_r74"}
%r75 = pd.shape (%x)
pd.fetch (%r75) {name = "shape_r75"}
%r76 = pd.shape64 (%x)
pd.fetch (%r76) {name = "shape64_r76"}
%r77 = pd.numel (%x)
pd.fetch (%r77) {name = "numel_r77"}
%r78 = pd.arange () {start = 0, end = 5, step = 2, dtype = i64}
pd.fetch (%r78) {name = "arange_r78"}
%r79 = pd.sum (%x)
pd.fetch (%r79) {name = "sum_r79"}
%r80 = pd.sum (%x) {axis = [1], keepdim = true}
pd.fetch (%r80) {name = "sum_r80"}
%r81 = pd.sum (%x) {axis = [-1]}
pd.fetch (%r81) {name = "sum_r81"}
%r82 = pd.mean (%x) {axis = [0]}
pd.fetch (%r82) {name = "mean_r82"}
%r83 = pd.max (%x) {axis = [1]}
pd.fetch (%r83) {name = "max_r83"}
%r84 = pd.min (%x) {axis = [0], keepdim = true}
pd.fetch (%r84) {name = "min_r84"}
%r85 = pd.prod (%x) {axis = [1]}
pd.fetch (%r85) {name = "prod_r85"}
%r86 = pd.any (%p) {axis = [1]}
pd.fetch (%r86) {name = "any_r86"}
%r87 = pd.all (%p)
pd.fetch (%r87) {name = "all_r87"}
%r88 = pd.sum (%b)
pd.fetch (%r88) {name = "sum_r88"}
%r89 = pd.argmax (%x) {axis = 1}
pd.fetch (%r89) {name = "argmax_r89"}
%r90 = pd.argmin (%x) {axis = 0, keepdims = true}
pd.fetch (%r90) {name = "argmin_r90"}
%r91 = pd.cumsum (%x) {axis = 1}
pd.fetch (%r91) {name = "cumsum_r91"}
%r92 = pd.cumsum (%x) {axis = 0, reverse = true, exclusive = true}
pd.fetch (%r92) {name = "cumsum_r92"}
%r93 = pd.reduce_as (%x, %z)
pd.fetch (%r93) {name = "reduce_as_r93"}
%r94 = pd.reduce_as (%x) {shape = [3]}
pd.fetch (%r94) {name = "reduce_as_r94"}
%r95 = pd.reduce_as (%x) {shape = []}
pd.fetch (%r95) {name = "reduce_as_r95"}
%r96 = pd.matmul (%x, %w)
pd.fetch (%r96) {name = "matmul_r96"}
%r97 = pd.matmul (%x, %y) {transpose_y = true}
pd.fetch (%r97) {name = "matmul_r97"}
%r98 = pd.transpose (%x) {perm = [1, 0]}
pd.fetch (%r98) {name = "transpose_r98"}
%r99 = pd.reshape (%x) {shape = [3, -1]}
pd.fetch (%r99) {name = "reshape_r99"}
%r100 = pd.unsqueeze (%x) {axis = [1]}
pd.fetch (%r100) {name = "unsqueeze_r100"}
%r101 = pd.squeeze (%r100) {axis = [1]}
pd.fetch (%r101) {name = "squeeze_r101"}
%r102 = pd.flatten (%x) {start_axis = 0, stop_axis = 1}
pd.fetch (%r102) {name = "flatten_r102"}
%r103 = pd.expand (%z) {shape = [2, 3]}
pd.fetch (%r103) {name = "expand_r103"}
%r104 = pd.expand_as (%z, %x)
pd.fetch (%r104) {name = "expand_as_r104"}
%r105 = pd.tile (%x) {repeat_times = [2, 1]}
pd.fetch (%r105) {name = "tile_r105"}
%r106 = pd.concat (%x, %y) {axis = 1}
pd.fetch (%r106) {name = "concat_r106"}
%r107 = pd.concat (%x, %y) {axis = -1}
pd.fetch (%r107) {name = "concat_r107"}
%r108 = pd.stack (%x, %y) {axis = 1}
pd.fetch (%r108) {name = "stack_r108"}
%r109, %r110 = pd.split (%x) {sections = [1, 2], axis = 1}
pd.fetch (%r109) {name = "split_r109"}
pd.fetch (%r110) {name = "split_r110"}
%r111, %r112, %r113 = pd.split_with_num (%x) {num = 3, axis = -1}
pd.fetch (%r111) {name = "split_with_num_r111"}
pd.fetch (%r112) {name = "split_with_num_r112"}
pd.fetch (%r113) {name = "split_with_num_r113"}
%r114, %r115 = pd.unstack (%x) {axis = 0, num = 2}
pd.fetch (%r114) {name = "unstack_r114"}
pd.fetch (%r115) {name = "unstack_r115"}
%r116 = pd.tril (%x)
pd.fetch (%r116) {name = "tril_r116"}
%r117 = pd.triu (%x) {diagonal = 1}
pd.fetch (%r117) {name = "triu_r117"}
%r118 = pd.flip (%x) {axis = [1]}
pd.fetch (%r118) {name = "flip_r118"}
%r119 = pd.roll (%x) {shifts = [1], axis = [1]}
pd.fetch (%r119) {name = "roll_r119"}
%r120 = pd.pad (%x) {paddings = [0, 1, 1, 0], pad_value = 2.0}
pd.fetch (%r120) {name = "pad_r120"}
%r121 = pd.slice (%x) {axes = [1], starts = [0], ends = [2]}
pd.fetch (%r121) {name = "slice_r121"}
%r122 = pd.slice (%x) {axes = [0], starts = [1], ends = [2], decrease_axis = [0]}
pd.fetch (%r122) {name = "slice_r122"}
%r123 = pd.gather (%x, %i)
pd.fetch (%r123) {name = "gather_r123"}
%r124 = pd.gather (%x, %i) {axis = 1}
pd.fetch (%r124) {name = "gather_r124"}
%r125 = pd.index_select (%x, %i) {axis = 1}
pd.fetch (%r125) {name = "index_select_r125"}
%r126 = pd.gather_nd (%x, %i)
pd.fetch (%r126) {name = "gather_nd_r126"}
%r127 = pd.take_along_axis (%x, %a) {axis = 0}
pd.fetch (%r127) {name = "take_along_axis_r127"}
%r128 = pd.one_hot (%i) {num_classes = 3}
pd.fetch (%r128) {name = "one_hot_r128"}
%c = pd.const {value = 3} 
%r129 = pd.scale (%c) {bias = 1.0}
pd.fetch (%r129) {name = "scale_r129"}
%r130 = pd.softmax (%x)
pd.fetch (%r130) {name = "softmax_r130"}
%r131 = pd.log_softmax (%x)
pd.fetch (%r131) {name = "log_softmax_r131"}
%r132 = pd.increment (%i) {value = 1.0}
pd.fetch (%r132) {name = "increment_r132"}
