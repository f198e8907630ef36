emitc.include <"a.h">
emitc.func @e(%a: i32, %p: !emitc.ptr<!emitc.opaque<"std::vector<int>">>) -> i32 attributes {specifiers = ["static", "inline"]} {
  %0 = emitc.call_opaque "f"(%a) {args = [0 : index, #emitc.opaque<"x > y">, 3 : i32], template_args = [i32, !emitc.array<3x4xf32>]} : (i32) -> i32
  %1 = "emitc.constant"() <{value = #emitc.opaque<"NULL">}> : () -> !emitc.ptr<i8>
  %2 = emitc.expression : i32 {
    %3 = emitc.add %a, %0 : (i32, i32) -> i32
    emitc.yield %3 : i32
  }
  emitc.verbatim "#pragma once"
  emitc.return %2 : i32
}
func.func @tosa(%a: tensor<1x4x4x8xi8>, %b: tensor<?x3xf32>) -> tensor<*xi8> {
  %0 = tosa.rescale %a {double_round = false, input_zp = 127 : i32, multiplier = array<i32: 1073741824>, output_zp = -1 : i32, per_channel = false, scale32 = true, shift = array<i8: 30>} : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi8>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x8xi8>) -> tensor<1x3x3x8xi8>
  %2 = "tosa.const"() <{value = dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  %3 = tensor.cast %1 : tensor<1x3x3x8xi8> to tensor<*xi8>
  return %3 : tensor<*xi8>
}
func.func @vector(%a: vector<4x8xf32>, %m: memref<?x?xf32>, %i: index, %k: vector<8xi1>, %s: vector<[4]xf32>) -> vector<4x4xf32> {
  %f = arith.constant 0.0 : f32
  %0 = vector.transfer_read %m[%i, %i], %f {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d1)>} : memref<?x?xf32>, vector<8xf32>
  %z = "u.z"() : () -> vector<4x4xf32>
  %1 = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %a, %z : vector<4x8xf32>, vector<4x8xf32> into vector<4x4xf32>
  
  %2 = vector.mask %k { vector.reduction <maximumf>, %0 : vector<8xf32> into f32 } : vector<8xi1> -> f32
  %3 = vector.shuffle %0, %0 [0, 9, 15] : vector<8xf32>, vector<8xf32>
  %4 = vector.multi_reduction <mul>, %a, %0 [0] : vector<4x8xf32> to vector<8xf32>
  %5 = vector.scalable.extract %s[0] : vector<4xf32> from vector<[4]xf32>
  vector.print %2 : f32 punctuation <comma>
  return %1 : vector<4x4xf32>
}
func.func @shape() -> !shape.value_shape {
  %0 = shape.const_shape [1, 2, 3] : !shape.shape
  %1 = shape.const_size 5
  %2 = shape.const_witness true
  %3 = shape.assuming %2 -> (!shape.size) {
    shape.assuming_yield %1 : !shape.size
  }
  %4 = "u.v"() : () -> !shape.value_shape
  %5 = shape.reduce(%0, %1) : !shape.shape -> !shape.size {
  ^bb0(%i: index, %d: !shape.size, %acc: !shape.size):
    shape.yield %acc : !shape.size
  }
  return %4 : !shape.value_shape
}
shape.function_library @lib {
  func.func @sim(%a: !shape.value_shape) -> !shape.shape { %0 = shape.shape_of %a : !shape.value_shape -> !shape.shape return %0 : !shape.shape }
} mapping { test.x = @sim }
func.func @omp(%n: i32, %p: memref<i32>) {
  omp.parallel num_threads(%n : i32) proc_bind(close) {
    omp.wsloop schedule(dynamic = %n : i32, nonmonotonic) ordered(0) {
      omp.loop_nest (%i) : i32 = (%n) to (%n) inclusive step (%n) {
        omp.atomic.update hint(speculative) memory_order(relaxed) %p : memref<i32> {
        ^bb0(%x: i32):
          omp.yield(%x : i32)
        }
        omp.yield
      }
      omp.terminator
    }
    omp.terminator
  }
  omp.barrier
  return
}
omp.critical.declare @mutex hint(contended, speculative)
omp.declare_reduction @add : f32 init {
^bb0(%a: f32):
  %0 = arith.constant 0.0 : f32
  omp.yield (%0 : f32)
} combiner {
^bb0(%a: f32, %b: f32):
  %0 = arith.addf %a, %b : f32
  omp.yield (%0 : f32)
}
mesh.mesh @m(shape = 2x?x4)
func.func @mesh(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mesh.all_reduce %a on @m mesh_axes = [1, 0] reduction = <max> : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @poly() -> !polynomial.polynomial<ring = <coefficientType = i32, coefficientModulus = 7 : i32, polynomialModulus = #polynomial.int_polynomial<-1 + x**1024>>> {
  %0 = polynomial.constant int<1 + 2x + 3x**2> : !polynomial.polynomial<ring = <coefficientType = i32, coefficientModulus = 7 : i32, polynomialModulus = #polynomial.int_polynomial<-1 + x**1024>>>
  return %0 : !polynomial.polynomial<ring = <coefficientType = i32, coefficientModulus = 7 : i32, polynomialModulus = #polynomial.int_polynomial<-1 + x**1024>>>
}
