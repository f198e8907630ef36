// Operations of PaddlePaddle that are made of others: their derivatives are those of what they compute.
// RUN: pir-run --check-grad %s --input 'x=[[0.3, -0.7, 1.2], [2.1, 0.4, -1.6], [-0.9, 1.7, 0.8]]' --input 'y=[0.6, -1.1, 0.9]' | FileCheck %s
// CHECK: x {{.*}} ok
// CHECK: y {{.*}} ok
%x = pd.data {name = "x", shape = [3, 3], dtype = f64}
%y = pd.data {name = "y", shape = [3], dtype = f64}
%at = pd.full_int_array {value = [2, 0, -2]}
%ids = pd.full_int_array {value = [0, 0, 2]}

// Functions.
%i0 = pd.i0 (%x) : tensor<3x3xf64>
%i0e = pd.i0e (%x) : tensor<3x3xf64>
%i1 = pd.i1 (%x) : tensor<3x3xf64>
%i1e = pd.i1e (%x) : tensor<3x3xf64>
%step = pd.heaviside (%x, %y) : tensor<3x3xf64>
%far = pd.scale (%x) {bias = 25.0}
%behind = pd.i0e (%far) : tensor<3x3xf64>
%b1 = pd.add (%i0, %i0e)
%b2 = pd.multiply (%i1, %i1e)
%b3 = pd.multiply (%behind, %step)
%b4 = pd.add (%b1, %b2)
%bessel = pd.add (%b4, %b3)
pd.fetch (%bessel) {name = "bessel"}

// What is put at places.
%list = builtin.combine (%at) : vec<tensor<3xi64>>
%put = pd.index_put (%x, %list, %y) : tensor<3x3xf64>
%added = pd.index_put (%x, %list, %y) {accumulate = true} : tensor<3x3xf64>
%diagonal = pd.fill_diagonal_tensor (%x, %y) {offset = 0, dim1 = 0, dim2 = 1} : tensor<3x3xf64>
%cut = pd.crop (%x) {shape = [2, -1], offsets = [1, 0]} : tensor<2x3xf64>
%p1 = pd.multiply (%put, %added)
%places = pd.multiply (%p1, %diagonal)
pd.fetch (%places) {name = "places"}
pd.fetch (%cut) {name = "cut"}

// What goes along edges, and into groups.
%sum, %c1 = pd.segment_pool (%x, %ids) {pooltype = "SUM"} : tensor<3x3xf64>, tensor<3xf64>
%mean, %c2 = pd.segment_pool (%x, %ids) {pooltype = "MEAN"} : tensor<3x3xf64>, tensor<3xf64>
%most, %c3 = pd.segment_pool (%x, %ids) {pooltype = "MAX"} : tensor<3x3xf64>, tensor<3xf64>
%to = pd.full_int_array {value = [1, 2, 1]}
%received, %c4 = pd.send_ue_recv (%x, %x, %ids, %to) {message_op = "MUL", reduce_op = "MEAN", out_size = [0]} : tensor<3x3xf64>, tensor<3xi32>
%edges = pd.send_uv (%x, %x, %ids, %to) {message_op = "MUL"} : tensor<3x3xf64>
%g1 = pd.multiply (%sum, %mean)
%g2 = pd.multiply (%g1, %most)
%g3 = pd.add (%g2, %received)
%graph = pd.add (%g3, %edges)
pd.fetch (%graph) {name = "graph"}

// Puts by which what was there does not count.
%index = pd.assign_value {shape = [3, 1], values = [0, 2, 1], dtype = i64}
%values = pd.reshape (%y) {shape = [3, 1]}
%o1 = pd.put_along_axis (%x, %index, %values) {axis = 1, reduce = "add", include_self = false}
%o2 = pd.put_along_axis (%x, %index, %values) {axis = 1, reduce = "amax", include_self = false}
%others = pd.multiply (%o1, %o2)
pd.fetch (%others) {name = "others"}

// Factors.
%f, %p, %i = pd.lu (%x) : tensor<3x3xf64>, tensor<3xi32>, tensor<i32>
%rows, %l, %u = pd.lu_unpack (%f, %p) : tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>
%lu = pd.matmul (%u, %l)
%column = pd.reshape (%y) {shape = [3, 1]}
%solution = pd.lu_solve (%column, %f, %p) {trans = "N"} : tensor<3x1xf64>
pd.fetch (%lu) {name = "lu"}
pd.fetch (%solution) {name = "solution"}

// A weight over its greatest singular value, and windows.
%v = pd.assign_value {shape = [3], values = [0.5, -0.2, 0.8], dtype = f64}
%norm = pd.spectral_norm (%x, %v, %v) {dim = 0, power_iters = 2} : tensor<3x3xf64>
%sq = pd.square (%x)
%image = pd.reshape (%sq) {shape = [1, 1, 3, 3]}
%pool = pd.lp_pool2d (%image) {kernel_size = [2, 2], strides = [1, 1], norm_type = 3.0} : tensor<1x1x2x2xf64>
pd.fetch (%norm) {name = "norm"}
pd.fetch (%pool) {name = "pool"}
