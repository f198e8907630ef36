// RUN: pir-run %s --function reductions | FileCheck %s --check-prefix=REDUCTIONS
// RUN: pir-run %s --function arranged | FileCheck %s --check-prefix=ARRANGED
// RUN: pir-run %s --function inserted | FileCheck %s --check-prefix=INSERTED
// RUN: pir-run %s --function products | FileCheck %s --check-prefix=PRODUCTS
// RUN: pir-run %s --function memory | FileCheck %s --check-prefix=MEMORY
// RUN: pir-run %s --function integers | FileCheck %s --check-prefix=INTEGERS
// RUN: pir-run %s --function args --input 'v=[1, 2, 3, 4]' | FileCheck %s --check-prefix=ARGS
// RUN: not pir-run %s --function scalable 2>&1 | FileCheck %s --check-prefix=SCALABLE

// What the functions give was compared with what mlir-opt-19 and clang-19 make of them.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @products() -> f64 {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : vector<2x3xf64>
  %b = arith.constant dense<[[1.0, 0.5], [0.25, 2.0], [-1.0, 3.0]]> : vector<3x2xf64>
  %c = arith.constant dense<[[0.5, 0.25], [1.0, 2.0]]> : vector<2x2xf64>
  %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<2x3xf64>, vector<3x2xf64> into vector<2x2xf64>
  %u = arith.constant dense<[1.0, -1.0]> : vector<2xf64>
  %o = vector.outerproduct %u, %u, %d {kind = #vector.kind<add>} : vector<2xf64>, vector<2xf64>
  %acc = arith.constant 1.0 : f64
  %r = vector.multi_reduction <add>, %o, %acc [0, 1] : vector<2x2xf64> to f64
  %e = vector.extract %o[0, 1] : f64 from vector<2x2xf64>
  %q = arith.divf %r, %e : f64
  return %q : f64
}

// REDUCTIONS: out:0 = tensor<f64> 6.211551096191407
func.func @reductions() -> f64 {
  %v = arith.constant dense<[1.5, 2.25, -3.0, 4.125]> : vector<4xf64>
  %w = arith.constant dense<0.3> : vector<4xf64>
  %c = arith.mulf %v, %w : vector<4xf64>
  %m = vector.fma %c, %v, %w : vector<4xf64>
  %s = vector.reduction <add>, %m : vector<4xf64> into f64
  %acc = arith.constant 10.0 : f64
  %p = vector.reduction <maximumf>, %v, %acc : vector<4xf64> into f64
  %t = vector.reduction <mul>, %c, %s : vector<4xf64> into f64
  %r = arith.addf %p, %t : f64
  return %r : f64
}

// ARRANGED: out:0 = tensor<f64> 1.375
func.func @arranged() -> f64 {
  %x = arith.constant 2.5 : f64
  %b = vector.broadcast %x : f64 to vector<2x3xf64>
  %row = arith.constant dense<[1.0, 2.0, 3.0]> : vector<3xf64>
  %rb = vector.broadcast %row : vector<3xf64> to vector<2x3xf64>
  %col = arith.constant dense<[[5.0], [7.0]]> : vector<2x1xf64>
  %cb = vector.broadcast %col : vector<2x1xf64> to vector<2x3xf64>
  %1 = arith.mulf %b, %rb : vector<2x3xf64>
  %2 = arith.subf %1, %cb : vector<2x3xf64>
  %t = vector.transpose %2, [1, 0] : vector<2x3xf64> to vector<3x2xf64>
  %e = vector.extract %t[2] : vector<2xf64> from vector<3x2xf64>
  %e0 = vector.extract %t[1, 1] : f64 from vector<3x2xf64>
  %s = vector.shape_cast %t : vector<3x2xf64> to vector<6xf64>
  %sl = vector.extract_strided_slice %s {offsets = [1], sizes = [4], strides = [1]} : vector<6xf64> to vector<4xf64>
  %r1 = vector.reduction <add>, %sl : vector<4xf64> into f64
  %r2 = vector.reduction <mul>, %e : vector<2xf64> into f64
  %r = arith.addf %r1, %r2 : f64
  %q = arith.divf %r, %e0 : f64
  return %q : f64
}

// INSERTED: out:0 = tensor<f64> 7476.5
func.func @inserted() -> f64 {
  %z = arith.constant dense<0.0> : vector<3x4xf64>
  %row = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf64>
  %x = arith.constant 9.0 : f64
  %1 = vector.insert %row, %z[1] : vector<4xf64> into vector<3x4xf64>
  %2 = vector.insert %x, %1[2, 3] : f64 into vector<3x4xf64>
  %part = arith.constant dense<[[-1.0, -2.0]]> : vector<1x2xf64>
  %3 = vector.insert_strided_slice %part, %2 {offsets = [1, 2], strides = [1, 1]} : vector<1x2xf64> into vector<3x4xf64>
  %acc = arith.constant dense<0.5> : vector<4xf64>
  %4 = vector.multi_reduction <add>, %3, %acc [0] : vector<3x4xf64> to vector<4xf64>
  %w = arith.constant dense<[1.0, 10.0, 100.0, 1000.0]> : vector<4xf64>
  %5 = arith.mulf %4, %w : vector<4xf64>
  %i = arith.constant 2 : i32
  %e = vector.extractelement %5[%i : i32] : vector<4xf64>
  %6 = vector.insertelement %e, %5[%i : i32] : vector<4xf64>
  %r = vector.reduction <add>, %6 : vector<4xf64> into f64
  return %r : f64
}

// PRODUCTS: out:0 = tensor<f64> 3.607843137254902

// MEMORY: out:0 = tensor<f64> -1127
func.func @memory() -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %pad = arith.constant -7.0 : f64
  %m = memref.alloc() : memref<3x5xf64>
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c5 step %c1 {
      %p = arith.muli %i, %c5 : index
      %q = arith.addi %p, %j : index
      %x = arith.index_cast %q : index to i64
      %y = arith.sitofp %x : i64 to f64
      memref.store %y, %m[%i, %j] : memref<3x5xf64>
    }
  }
  %v = vector.load %m[%c1, %c1] : memref<3x5xf64>, vector<4xf64>
  %w = vector.transfer_read %m[%c2, %c3], %pad : memref<3x5xf64>, vector<4xf64>
  %s = arith.addf %v, %w : vector<4xf64>
  vector.store %s, %m[%c0, %c1] : memref<3x5xf64>, vector<4xf64>
  vector.transfer_write %w, %m[%c1, %c2] : vector<4xf64>, memref<3x5xf64>
  %mask = vector.create_mask %c2 : vector<4xi1>
  %g = vector.maskedload %m[%c2, %c0], %mask, %s : memref<3x5xf64>, vector<4xi1>, vector<4xf64> into vector<4xf64>
  vector.maskedstore %m[%c2, %c1], %mask, %g : memref<3x5xf64>, vector<4xi1>, vector<4xf64>
  %idx = arith.constant dense<[3, 0, 1, 2]> : vector<4xi32>
  %ga = vector.gather %m[%c1, %c0] [%idx], %mask, %s : memref<3x5xf64>, vector<4xi32>, vector<4xi1>, vector<4xf64> into vector<4xf64>
  %all = vector.transfer_read %m[%c0, %c0], %pad {in_bounds = [true, true]} : memref<3x5xf64>, vector<3x5xf64>
  %tr = vector.transfer_read %m[%c0, %c0], %pad {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<3x5xf64>, vector<5x4xf64>
  %flat = vector.shape_cast %tr : vector<5x4xf64> to vector<20xf64>
  %acc = arith.constant 0.0 : f64
  %r0 = vector.multi_reduction <add>, %all, %acc [0, 1] : vector<3x5xf64> to f64
  %sh = vector.shuffle %g, %ga [0, 5, 2, 7, 1] : vector<4xf64>, vector<4xf64>
  %r1 = vector.reduction <add>, %sh, %r0 : vector<5xf64> into f64
  %fl = vector.extract %flat[7] : f64 from vector<20xf64>
  %r = arith.mulf %r1, %fl : f64
  memref.dealloc %m : memref<3x5xf64>
  return %r : f64
}

// INTEGERS: out:0 = tensor<i64> 270
func.func @integers() -> i64 {
  %v = arith.constant dense<[5, -3, 12, 7]> : vector<4xi64>
  %w = arith.constant dense<[1, 2, 3, 4]> : vector<4xi64>
  %c = arith.cmpi sgt, %v, %w : vector<4xi64>
  %s = arith.select %c, %v, %w : vector<4xi1>, vector<4xi64>
  %a = vector.reduction <xor>, %s : vector<4xi64> into i64
  %b = vector.reduction <minsi>, %v : vector<4xi64> into i64
  %d = vector.reduction <maxui>, %v : vector<4xi64> into i64
  %il = vector.interleave %v, %w : vector<4xi64> -> vector<8xi64>
  %sq = arith.muli %il, %il : vector<8xi64>
  %e = vector.extract %sq[3] : i64 from vector<8xi64>
  %st = vector.step : vector<4xindex>
  %sti = arith.index_cast %st : vector<4xindex> to vector<4xi64>
  %g = vector.reduction <add>, %sti : vector<4xi64> into i64
  %cm = vector.constant_mask [2] : vector<4xi1>
  %z = arith.select %cm, %v, %w : vector<4xi1>, vector<4xi64>
  %h = vector.reduction <add>, %z : vector<4xi64> into i64
  %1 = arith.addi %a, %b : i64
  %2 = arith.addi %1, %d : i64
  %3 = arith.muli %e, %g : i64
  %4 = arith.addi %2, %3 : i64
  %5 = arith.muli %4, %h : i64
  return %5 : i64
}

// ARGS: out:0 = tensor<2x2xf64> {{\[\[}}1, 2], [3, 4]]
func.func @args(%v: vector<4xf64>) -> vector<2x2xf64> {
  %m = vector.shape_cast %v : vector<4xf64> to vector<2x2xf64>
  return %m : vector<2x2xf64>
}

// SCALABLE: :[[#@LINE+3]]:{{.*}}`vector.splat` failed: there is no kernel for this operation
func.func @scalable() -> f64 {
  %x = arith.constant 1.0 : f64
  %v = vector.splat %x : vector<[4]xf64>
  %r = vector.reduction <add>, %v : vector<[4]xf64> into f64
  return %r : f64
}
