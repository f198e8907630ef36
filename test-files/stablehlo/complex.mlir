// Complex numbers: values, gradients in both parts by differences, and the same after a passage through pd and back.
// RUN: pir-run --check-grad %s --input arg6=[0.2-0.3j,-0.9+0.4j,1e0] --input arg7=[0.5+0.2j,1.5-0.3j,0.7+1j] | FileCheck %s
// RUN: pir-opt --pass=decompose --emit=stablehlo %s | pir-run --check-grad - --input arg6=[0.2-0.3j,-0.9+0.4j,1] --input arg7=[0.5+0.2j,1.5-0.3j,0.7+1j] | FileCheck %s
// RUN: pir-opt --pass=inline,canonicalize,cse %s | pir-run - --input arg6=1j --input arg7=2-1j | FileCheck %s --check-prefix=VALUE
// VALUE: out:0 = tensor<3xcomplex<f64>> [(2.0251614{{[0-9]*}}, -0.0538074{{[0-9]*}})
// VALUE: out:4 = tensor<3xcomplex<f64>> [(0.3876398{{[0-9]*}}, 2)
// CHECK: arg6{{ +}}6{{.*}} ok
// CHECK: arg7{{ +}}6{{.*}} ok
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3xf64>, tensor<3xf64>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg6: tensor<3xcomplex<f64>>, %arg7: tensor<3xcomplex<f64>>):
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %26:3 = "stablehlo.while"(%arg7, %25, %arg6) ({
    ^bb0(%arg11: tensor<3xcomplex<f64>>, %arg12: tensor<i64>, %arg13: tensor<3xcomplex<f64>>):
      %44 = "stablehlo.constant"() <{value = dense<5> : tensor<i64>}> : () -> tensor<i64>
      %45 = "stablehlo.compare"(%arg12, %44) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
      "stablehlo.return"(%45) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg8: tensor<3xcomplex<f64>>, %arg9: tensor<i64>, %arg10: tensor<3xcomplex<f64>>):
      %41 = "func.call"(%arg8, %arg10) <{callee = @closed_call}> : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
      %42 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
      %43 = "stablehlo.add"(%arg9, %42) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%arg8, %43, %41) : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>) -> ()
    }) : (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<i64>, tensor<3xcomplex<f64>>)
    %27 = "stablehlo.tanh"(%26#2) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %28 = "stablehlo.sqrt"(%arg7) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %29 = "stablehlo.add"(%27, %28) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %30 = "func.call"(%26#2) <{callee = @fft}> : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %31 = "stablehlo.real"(%30) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %32 = "stablehlo.constant"() <{value = dense<(3.000000e+00,0.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %34 = "stablehlo.add"(%26#2, %33) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %35 = "stablehlo.log"(%34) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %36 = "stablehlo.abs"(%35) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %37 = "stablehlo.power"(%arg7, %26#2) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %38 = "stablehlo.imag"(%26#2) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %39 = "stablehlo.real"(%arg7) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %40 = "stablehlo.complex"(%38, %39) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xcomplex<f64>>
    "func.return"(%29, %31, %36, %37, %40) : (tensor<3xcomplex<f64>>, tensor<3xf64>, tensor<3xf64>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>, res_attrs = [{}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<3xcomplex<f64>>, %arg5: tensor<3xcomplex<f64>>):
    %2 = "stablehlo.abs"(%arg5) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %3 = "stablehlo.constant"() <{value = dense<1.200000e+00> : tensor<f64>}> : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<3xf64>
    %5 = "stablehlo.compare"(%2, %4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
    %6 = "stablehlo.real"(%arg5) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %7 = "stablehlo.imag"(%arg5) : (tensor<3xcomplex<f64>>) -> tensor<3xf64>
    %8 = "stablehlo.negate"(%7) : (tensor<3xf64>) -> tensor<3xf64>
    %9 = "stablehlo.complex"(%6, %8) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xcomplex<f64>>
    %10 = "stablehlo.constant"() <{value = dense<(5.000000e-01,0.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %12 = "stablehlo.multiply"(%9, %11) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %13 = "stablehlo.multiply"(%arg5, %arg5) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %14 = "stablehlo.constant"() <{value = dense<(2.000000e+00,0.000000e+00)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %16 = "stablehlo.add"(%15, %arg5) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %17 = "stablehlo.divide"(%arg4, %16) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %18 = "stablehlo.add"(%13, %17) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %19 = "func.call"(%5, %12, %18) <{callee = @_where}> : (tensor<3xi1>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %20 = "stablehlo.constant"() <{value = dense<(0.000000e+00,1.000000e-01)> : tensor<complex<f64>>}> : () -> tensor<complex<f64>>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f64>>) -> tensor<3xcomplex<f64>>
    %22 = "stablehlo.multiply"(%21, %arg4) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %23 = "stablehlo.exponential"(%22) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    %24 = "stablehlo.multiply"(%19, %23) : (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    "func.return"(%24) : (tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3xi1>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<3xi1>, %arg2: tensor<3xcomplex<f64>>, %arg3: tensor<3xcomplex<f64>>):
    %1 = "stablehlo.select"(%arg1, %arg2, %arg3) : (tensor<3xi1>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    "func.return"(%1) : (tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3xcomplex<f64>>):
    %0 = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 3>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
    "func.return"(%0) : (tensor<3xcomplex<f64>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

