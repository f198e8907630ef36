"u.f8"() {
  a = 1.5 : f8E4M3FN, b = 0x7F : f8E5M2, c = dense<[1.0, -2.0, 0x7F]> : tensor<3xf8E4M3FN>, d = dense<0x80> : tensor<2xf8E4M3FNUZ>, f = 0.5 : tf32, g = 0x7C00 : f16, h = dense<[0x7F80, 0xFF80, 0x7FC1]> : tensor<3xbf16>,
  i = 1.0 : f80
} : () -> ()
"u.floats"() {
  a = 0.1 : f32, b = 1.0e10 : f32, c = 1.0e-10 : f64, d = 123456.789 : f64, e = 1.0e100 : f64, f = 1.0e22 : f64, g = 4.9e-324 : f64, h = 1.7976931348623157e308 : f64, i = 1.17549435e-38 : f32, j = 3.4028234e38 : f32, k = -0.0 : f64, l = 0x7FF8000000000000 : f64, m = 0xFFF8000000000000 : f64, n = 0x7FC00000 : f32, o = 0x7F800001 : f32, p = 65504.0 : f16, q = 5.96e-8 : f16, r = 1.0 : f128, rr = 0.1 : f128, rrr = 0.1 : f80, t = 3.0 : f80, u = 100000.0 : f32, v = 1000000.0 : f32, w = 1234567.0 : f32, x = 0.0001 : f32, y = 0.00001 : f32, z = 16777216.0 : f32, zz = 2.5
} : () -> ()
"u.ints"() {
  a = 0, b = 9223372036854775807, c = -9223372036854775808 : i64, d = 18446744073709551615 : ui64, e = 255 : i8, f = -128 : si8, g = 3 : i2, h = 1 : i1, i = 340282366920938463463374607431768211455 : i128, j = 123456789012345678901234567890123456789012345678901234567890 : i256, k = 0 : i0, m = 0xFFFFFFFFFFFFFFFFFFFFFFFF : i128, n = 1 : ui1, o = 65535 : ui16, p = -5 : index, q = true, r = false, s = 0x10, t = -1 : i1
} : () -> ()
"u.dense"() {
  a = dense<0x00FF> : tensor<i16>, b = dense<"0x0102030405060708"> : tensor<2x2xi16>, d = dense<[[true, false], [false, true]]> : tensor<2x2xi1>, e = dense<["a\22b", "", "c\00d", "é"]> : tensor<4x!u.str>, f = dense<"splat"> : tensor<3x!u.str>, g = dense<> : tensor<0x4xf32>, h = dense<[]> : tensor<0xi1>, i = dense<[[], []]> : tensor<2x0xf32>, j = dense<1.0> : tensor<f64>, k = dense<[-1, 255]> : tensor<2xi8>, l = dense<[0, 255]> : tensor<2xui8>, m = dense<123456789012345678901234567890> : tensor<2xi128>, n = dense<[0x7FC00000, 0xFF800000, 1.0]> : tensor<3xf32>, o = dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i32>>, p = dense<(0x7FC00000, -0.0)> : tensor<2xcomplex<f32>>, q = dense<[0, -1]> : tensor<2xindex>, r = dense<[1, 2]> : vector<2xsi4>, s = dense<0.0> : vector<f32>, t = dense<[[[[1]]]]> : tensor<1x1x1x1xi3>, u = dense<1> : tensor<4xi1>, v = dense<7> : tensor<1000000x1000000xi64>
} : () -> ()
"u.arrays"() {
  a = array<i1: true, false, true>, b = array<i8: -128, 127>, c = array<i16>, d = array<i32: 0>, e = array<i64: -9223372036854775808>, f = array<f32: 1.0, 0x7FC00000, -0.0, 1.0e-10>, g = array<f64: 4.9e-324>, h = array<bf16: 1.0>
} : () -> ()
