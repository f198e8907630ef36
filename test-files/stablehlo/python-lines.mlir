// Errors name the lines of the Python file that a program was made of.
// RUN: not pir-opt --pass=backward %s 2>&1 | FileCheck %s

// CHECK: python-lines.mlir:[[@LINE+6]]:{{[0-9]+}}: error: `chlo.bessel_i1e` has no derivative
// CHECK-NEXT: python-lines.mlir:[[@LINE+5]]:{{[0-9]+}}: note: written at model.py:12:9
#loc1 = loc("x")
module @jit_f {
  func.func public @main(%x: tensor<8xf64> loc("x")) -> (tensor<8xf64>) {
    %0 = stablehlo.cosine %x : tensor<8xf64> loc(#loc4)
    %1 = chlo.bessel_i1e %0 : tensor<8xf64> -> tensor<8xf64> loc(#loc6)
    %2 = stablehlo.sine %1 : tensor<8xf64> loc(#loc4)
    return %2 : tensor<8xf64> loc(#loc4)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("model.py":12:9 to :20)
#loc3 = loc("train.py":40:1)
#loc4 = loc(callsite("f"(#loc2) at "main"(#loc3)))
#loc5 = loc("jit(f)"(#loc4))
#loc6 = loc("jit(f)/fft"(#loc5))
