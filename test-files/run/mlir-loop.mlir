// RUN: pir-run %s --input 'arg0=10' --input 'arg1=1.5' | FileCheck %s
// RUN: pir-opt --pass=licm,canonicalize,cse %s | pir-run - --input 'arg0=10' --input 'arg1=1.5' | FileCheck %s
// A loop of scf that counts, integers of 32 bits.
// CHECK: out:0 = tensor<f64> 29.8125
// CHECK-NEXT: out:1 = tensor<i32> 9
// CHECK-NEXT: out:2 = tensor<i1> true
"builtin.module"() ({
  "func.func"() <{function_type = (i32, f64) -> (f64, i32, i1), sym_name = "g"}> ({
  ^bb0(%arg0: i32, %arg1: f64):
    %0 = "arith.constant"() <{value = 0 : i32}> : () -> i32
    %1 = "arith.constant"() <{value = 3 : i32}> : () -> i32
    %2 = "arith.constant"() <{value = 1.000000e+00 : f64}> : () -> f64
    %3:2 = "scf.for"(%0, %arg0, %1, %2, %1) ({
    ^bb0(%arg2: i32, %arg3: f64, %arg4: i32):
      %6 = "arith.sitofp"(%arg2) : (i32) -> f64
      %7 = "arith.mulf"(%arg3, %arg1) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %8 = "arith.addf"(%7, %6) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      %9 = "arith.muli"(%arg4, %arg4) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %10 = "arith.remsi"(%9, %1) : (i32, i32) -> i32
      %11 = "arith.ori"(%10, %arg2) : (i32, i32) -> i32
      "scf.yield"(%8, %11) : (f64, i32) -> ()
    }) : (i32, i32, i32, f64, i32) -> (f64, i32)
    %4 = "arith.cmpi"(%3#1, %arg0) <{predicate = 6 : i64}> : (i32, i32) -> i1
    %5 = "math.powf"(%3#0, %2) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
    "func.return"(%5, %3#1, %4) : (f64, i32, i1) -> ()
  }) : () -> ()
}) : () -> ()

