spirv.module Logical GLSL450 requires #spirv.vce<v1.0, [Shader], []> {
  spirv.GlobalVariable @v bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.array<4 x f32, stride=4> [0])>, StorageBuffer>
  spirv.func @f(%x: f32, %n: i32) -> f32 "None" {
    %0 = spirv.FMul %x, %x : f32
    spirv.ReturnValue %0 : f32
  }
}
func.func @bigattrs() {
  "u.op"() {ints = dense<[[1, 2], [3, 4]]> : vector<2x2xi32>, splat = dense<-1> : tensor<100xi64>, hex = dense<"0x0100000002000000"> : tensor<2xi32>, cplx = dense<[(1.0, -1.0)]> : tensor<1xcomplex<f64>>, nested = [[], [[]], {}], neg = -0.0 : f32, inf = 0x7F800000 : f32, ninf = 0xFFF0000000000000 : f64, half = 1.5 : f16, bf = 0x7FC0 : bf16, i1 = -1 : i1, u8 = 255 : ui8, big = -170141183460469231731687303715884105728 : i128, idx = -7 : index, ty = !llvm.array<3 x i8>, fn = (i32, (f32) -> ()) -> (tuple<i1, i2>), dr = array<i8: -1, 2>, af = affine_map<(d0, d1)[s0, s1] -> (d0 * 2 + s0 - (d1 floordiv 3), (d0 + d1) mod s1)>, set = affine_set<(d0) : (d0 >= 0, -d0 + 5 >= 0)>, sd = strided<[?, 1]>, "weird name!" = 1 : i8} : () -> ()
  return
}
