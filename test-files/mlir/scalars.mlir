func.func @c(%a: complex<f32>, %b: complex<f64>, %f: f32, %i: i32, %x: index, %t: tensor<?xcomplex<i16>>, %h: f16) -> (complex<f32>, i1) {
  %0 = complex.constant [1.0 : f32, -0.0 : f32] : complex<f32>
  %1 = complex.mul %a, %0 fastmath<nnan,contract> : complex<f32>
  %2 = complex.create %f, %f : complex<f32>
  %3 = arith.constant dense<(1, -2)> : tensor<4xcomplex<i16>>
  %4 = arith.addi %i, %i overflow<nsw, nuw> : i32
  %5:2 = arith.addui_extended %i, %i : i32, i1
  %6 = arith.cmpf ueq, %f, %f fastmath<reassoc> : f32
  %7 = arith.select %6, %f, %f : f32
  %8 = arith.truncf %f downward : f32 to bf16
  %9 = arith.constant 0x7FF0000000000001 : f64
  %10 = arith.constant -170141183460469231731687303715884105728 : i128
  %11 = arith.constant dense<[[[1], [2]], [[3], [4]]]> : vector<2x2x1xi64>
  %12 = arith.constant dense<true> : vector<[4]xi1>
  %13 = arith.constant sparse<[[0, 0], [1, 2]], [1.0, 5.0]> : tensor<3x4xf16>
  %14 = arith.constant dense_resource<r1> : tensor<3xf32>
  %15 = math.fma %f, %f, %f fastmath<fast> : f32
  %16 = math.ctlz %i : i32
  %17 = index.constant -42
  %18 = index.cmp ult(%x, %17)
  %19 = index.bool.constant true
  %20 = index.sizeof
  %23 = arith.constant {tag} 1.0 : f128
  return %1, %18 : complex<f32>, i1
}
{-#
  dialect_resources: { builtin: { r1: "0x040000000000803F0000004000004040" } }
#-}
