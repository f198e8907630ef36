#set = affine_set<(d0, d1)[s0] : (d0 - 10 >= 0, -d1 + s0 - 1 >= 0, d0 - d1 == 0)>
func.func @misc(%A: memref<100x100xf32>, %N: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %r = affine.for %i = max affine_map<(d0) -> (0, d0 - 5)>(%N) to %N step 2 iter_args(%acc = %zero) -> (f32) {
    %x = affine.if #set(%i, %i)[%N] -> f32 {
      %l = affine.load %A[%i + 3, symbol(%N) - 1] : memref<100x100xf32>
      affine.yield %l : f32
    } else {
      %l = affine.load %A[%i mod 7, (%i floordiv 2) * 3] : memref<100x100xf32>
      affine.yield %l : f32
    }
    %s = arith.addf %acc, %x : f32
    affine.yield %s : f32
  }
  affine.parallel (%i, %j) = (0, 0) to (symbol(%N), 50) step (1, 5) {
    affine.store %r, %A[%i, %j] : memref<100x100xf32>
  }
  %red = affine.parallel (%k) = (0) to (100) reduce ("addf") -> (f32) {
    %v = affine.load %A[%k, 0] : memref<100x100xf32>
    affine.yield %v : f32
  }
  %m = affine.min affine_map<(d0)[s0] -> (d0 * 2, s0 ceildiv 4, 1024)>(%N)[%N]
  %w = affine.vector_load %A[%m, 8] : memref<100x100xf32>, vector<8xf32>
  affine.vector_store %w, %A[0, %m] : memref<100x100xf32>, vector<8xf32>
  affine.prefetch %A[%m, %m + 5], write, locality<0>, data : memref<100x100xf32>
  %id:2 = affine.delinearize_index %m into (%N, %N) : index, index
  return %red : f32
}

// -----

func.func @z(%a: i32, %b: i32, %v: vector<4xi32>, %t: tensor<4xf32>, %h: f16, %bf: bf16) -> i1 {
  %c = arith.constant 0x5EADBEEF : i32
  %big = arith.constant 123456789012345678901234567890 : i128
  %neg = arith.constant -5 : i8
  %tr = arith.constant true
  %inf = arith.constant 0x7F800000 : f32
  %vc = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1, %ov = arith.addui_extended %a, %b : i32, i1
  %2:2 = arith.mulsi_extended %v, %v : vector<4xi32>
  %3 = arith.floordivsi %a, %c : i32
  %4 = arith.shrui %3, %b : i32
  %5 = arith.extsi %neg : i8 to i32
  %6 = arith.trunci %big : i128 to i32
  %7 = arith.bitcast %h : f16 to bf16
  %8 = arith.truncf %inf to_nearest_even : f32 to f16
  %9 = arith.uitofp %v : vector<4xi32> to vector<4xf32>
  %10 = arith.maxnumf %t, %t : tensor<4xf32>
  %11 = arith.remf %inf, %inf {mytag} : f32
  %12 = arith.cmpi ult, %v, %v : vector<4xi32>
  %13 = arith.select %vc, %v, %v : vector<4xi1>, vector<4xi32>
  %14 = arith.cmpi "sge", %a, %b : i32
  return %14 : i1
}

// -----

func.func @collatz(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  cf.br ^head(%n, %c0 : i64, i64)
^head(%x: i64, %steps: i64):
  %done = arith.cmpi ule, %x, %c1 : i64
  cf.cond_br %done, ^exit(%steps : i64), ^body
^body:
  %r = arith.remui %x, %c2 : i64
  %even = arith.cmpi eq, %r, %c0 : i64
  cf.cond_br %even, ^half, ^triple
^half:
  %h = arith.divui %x, %c2 : i64
  cf.br ^latch(%h : i64)
^triple:
  %t = arith.muli %x, %c3 overflow<nsw, nuw> : i64
  %t1 = arith.addi %t, %c1 : i64
  cf.br ^latch(%t1 : i64)
^latch(%next: i64):
  %s1 = arith.addi %steps, %c1 : i64
  cf.br ^head(%next, %s1 : i64, i64)
^exit(%res: i64):
  return %res : i64
}
func.func @sw(%f: i32, %a: i64) -> i64 {
  cf.switch %f : i32, [
    default: ^d(%a : i64),
    42: ^b,
    -7: ^d(%a : i64)
  ]
^b:
  %z = arith.constant -1 : i64
  %ok = arith.constant true
  cf.assert %ok, "should not \"be\" here"
  cf.br ^d(%z : i64)
^d(%r: i64):
  return %r : i64
}

// -----

func.func @butterfly(%a: complex<f32>, %b: complex<f32>, %t: f32) -> (complex<f32>, complex<f32>) {
  %c = math.cos %t : f32
  %s = math.sin %t : f32
  %w = complex.create %c, %s : complex<f32>
  %p = complex.mul %w, %b : complex<f32>
  %x = complex.add %a, %p : complex<f32>
  %y = complex.sub %a, %p fastmath<nnan> : complex<f32>
  %k = complex.constant [0.1 : f32, -1.0 : f32] : complex<f32>
  %re = complex.re %k : complex<f32>
  %im = complex.im %k : complex<f32>
  %eq = complex.neq %x, %y : complex<f32>
  %ab = complex.abs %y : complex<f32>
  return %x, %y : complex<f32>, complex<f32>
}
func.func private @dft(tensor<16xcomplex<f64>>) -> tensor<16xcomplex<f64>>

// -----

func.func @conv(%img: tensor<1x28x28x1xf32>, %k: tensor<3x3x1x8xf32>) -> tensor<1x13x13x8xf32> {
  %z = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x26x26x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x26x26x8xf32>) -> tensor<1x26x26x8xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : vector<2xi64>}
    ins(%img, %k : tensor<1x28x28x1xf32>, tensor<3x3x1x8xf32>) outs(%f : tensor<1x26x26x8xf32>) -> tensor<1x26x26x8xf32>
  %w = tensor.empty() : tensor<2x2xf32>
  %e2 = tensor.empty() : tensor<1x13x13x8xf32>
  %f2 = linalg.fill ins(%ninf : f32) outs(%e2 : tensor<1x13x13x8xf32>) -> tensor<1x13x13x8xf32>
  %p = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%c, %w : tensor<1x26x26x8xf32>, tensor<2x2xf32>) outs(%f2 : tensor<1x13x13x8xf32>) -> tensor<1x13x13x8xf32>
  return %p : tensor<1x13x13x8xf32>
}

// -----

#m = affine_map<(d0) -> (d0 * 10)>
func.func @tile(%A: tensor<100x300xf32>, %B: tensor<300x50xf32>, %out: tensor<100x50xf32>) -> tensor<100x50xf32> {
  %r = scf.forall (%t1, %t2) in (10, 5) shared_outs(%o = %out) -> (tensor<100x50xf32>) {
    %i = affine.apply #m(%t1)
    %j = affine.apply affine_map<(d0) -> (d0 * 10)>(%t2)
    %sA = tensor.extract_slice %A[%i, 0] [10, 300] [1, 1] : tensor<100x300xf32> to tensor<10x300xf32>
    %sB = tensor.extract_slice %B[0, %j][300, 10][1, 1] : tensor<300x50xf32> to tensor<300x10xf32>
    %sO = tensor.extract_slice %o[%i, %j] [10, 10] [1, 1] : tensor<100x50xf32> to tensor<10x10xf32>
    %mm = linalg.matmul ins(%sA, %sB : tensor<10x300xf32>, tensor<300x10xf32>) outs(%sO : tensor<10x10xf32>) -> tensor<10x10xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %mm into %o[%i, %j] [10, 10] [1, 1] : tensor<10x10xf32> into tensor<100x50xf32>
    }
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return %r : tensor<100x50xf32>
}

// -----

func.func @idx(%a: index, %b: index) -> (i1, index) {
  %0 = index.add %a, %b
  %1 = index.ceildivs %0, %b
  %2 = index.cmp slt(%1, %a)
  %3 = index.castu %1 : index to i32
  %4 = index.constant 42
  %5 = index.sizeof
  %6 = index.bool.constant false
  %p = ub.poison : f32
  %7 = index.maxu %4, %5
  %8 = arith.select %2, %7, %4 : index
  return %6, %8 : i1, index
}

// -----

module {
  module @inner {
    func.func nested @g(%x: i32) -> i32 {
      return %x : i32
    }
  }
  func.func @table(%sel: i1, %v: f32) -> f32 {
    %f = func.constant @sq : (f32) -> f32
    %g = constant @neg : (f32) -> f32
    %h = arith.select %sel, %f, %g : (f32) -> f32
    %r = func.call_indirect %h(%v) : (f32) -> f32
    %q = call_indirect %h(%r) {note = "again"} : (f32) -> f32
    return %q : f32
  }
  func.func private @sq(f32) -> f32 attributes {sym_doc = "square", passthrough = ["noinline", ["a", "b"]]}
  func.func @neg(%x: f32 {my.noalias}) -> f32 {
    %0 = arith.negf %x : f32
    func.return %0 : f32
  }
}

// -----

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
module @mlp attributes {torch.debug_module_name = "MLP"} {
  func.func @forward(%x: tensor<?x784xf32> {tag.name = "x"}, %w: tensor<784x128xf32>, %b: tensor<128xf32>) -> (tensor<?x128xf32> {res.id = 0 : i32}) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.000000e+00 : f32
    %n = tensor.dim %x, %c0 : tensor<?x784xf32>
    %e = tensor.empty(%n) : tensor<?x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x128xf32>) -> tensor<?x128xf32>
    %mm = linalg.matmul {cast = #linalg.type_fn<cast_signed>} ins(%x, %w : tensor<?x784xf32>, tensor<784x128xf32>)
                        outs(%f : tensor<?x128xf32>) -> tensor<?x128xf32>
    %r = linalg.generic {
        indexing_maps = [#id2, #bias, #id2],
        iterator_types = ["parallel", "parallel"]
      } ins(%mm, %b : tensor<?x128xf32>, tensor<128xf32>) outs(%e : tensor<?x128xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %s = arith.addf %in, %in_0 : f32
        %cmp = arith.cmpf ugt, %s, %zero : f32
        %sel = arith.select %cmp, %s, %zero : f32
        linalg.yield %sel : f32
    } -> tensor<?x128xf32>
    return %r : tensor<?x128xf32>
  }
}

// -----

func.func @n(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>, %v: memref<8xf32>, %o: memref<4xf32>, %t: tensor<4x8xf32>) -> tensor<8x4xf32> {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  linalg.matvec ins(%a, %v : memref<4x8xf32>, memref<8xf32>) outs(%o : memref<4xf32>)
  %e = tensor.empty() : tensor<8x4xf32>
  %tr = linalg.transpose ins(%t : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %s = tensor.empty() : tensor<4xf32>
  %red = linalg.reduce { arith.addf } ins(%t : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
  %red2 = linalg.reduce ins(%t : tensor<4x8xf32>) outs(%s : tensor<4xf32>) dimensions = [1]
    (%in: f32, %init: f32) {
      %m = arith.maximumf %in, %init : f32
      linalg.yield %m : f32
    }
  %mp = linalg.map { math.exp } ins(%t : tensor<4x8xf32>) outs(%t : tensor<4x8xf32>)
  %bc = linalg.broadcast ins(%red : tensor<4xf32>) outs(%tr : tensor<8x4xf32>) dimensions = [0]
  %ex = linalg.exp ins(%bc : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %ix = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%ex : tensor<8x4xf32>) attrs = {lib = "x"} {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %x = arith.index_cast %i : index to i64
    %y = arith.sitofp %x : i64 to f32
    linalg.yield %y : f32
  } -> tensor<8x4xf32>
  %sm = linalg.softmax dimension(1) ins(%t : tensor<4x8xf32>) outs(%mp : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %ix : tensor<8x4xf32>
}

// -----

memref.global "private" constant @weights : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]>
memref.global "public" @state : memref<4xi32> = uninitialized
memref.global @ext : memref<8xf64> {alignment = 64 : i64}
func.func @views(%arg: memref<8x16xf32, strided<[16, 1], offset: ?>>, %n: index, %dyn: memref<?x?xf32>) -> memref<?xf32, strided<[?], offset: ?>> {
  %g = memref.get_global @weights : memref<2x2xf32>
  %a = memref.alloc(%n)[] {alignment = 16 : i64} : memref<?x4xf32>
  %st = memref.alloca() : memref<f32>
  %v = arith.constant 3.5e-01 : f32
  memref.store %v, %st[] : memref<f32>
  %s = memref.subview %arg[0, %n] [4, 2] [1, 2] : memref<8x16xf32, strided<[16, 1], offset: ?>> to memref<4x2xf32, strided<[16, 2], offset: ?>>
  %rc = memref.reinterpret_cast %dyn to offset: [%n], sizes: [%n], strides: [%n] : memref<?x?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %c = memref.collapse_shape %a [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  %c4 = arith.constant 4 : index
  %e = memref.expand_shape %c [[0, 1]] output_shape [%n, 4] : memref<?xf32> into memref<?x4xf32>
  %t = memref.transpose %dyn (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
  memref.copy %a, %e : memref<?x4xf32> to memref<?x4xf32>
  %old = memref.atomic_rmw addf %v, %c[%n] : (f32, memref<?xf32>) -> f32
  %x = memref.generic_atomic_rmw %c[%n] : memref<?xf32> {
  ^bb0(%cur: f32):
    %nx = arith.mulf %cur, %v : f32
    memref.atomic_yield %nx : f32
  }
  memref.prefetch %dyn[%n, %n], read, locality<3>, data : memref<?x?xf32>
  memref.assume_alignment %a, 16 : memref<?x4xf32>
  %rk = memref.rank %dyn : memref<?x?xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %dyn : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
  memref.dealloc %a : memref<?x4xf32>
  return %rc : memref<?xf32, strided<[?], offset: ?>>
}

// -----

func.func @fib(%n: i64) -> i64 {
    %two = arith.constant 2 : i64
    %lt = arith.cmpi "slt", %n, %two : i64
    %r = scf.if %lt -> (i64) {
        scf.yield %n : i64
    } else {
        %one = arith.constant 1 : i64
        %n1 = arith.subi %n, %one : i64
        %n2 = arith.subi %n, %two : i64
        %f1 = func.call @fib(%n1) : (i64) -> i64
        %f2 = func.call @fib(%n2) : (i64) -> i64
        %s = arith.addi %f1, %f2 : i64
        scf.yield %s : i64
    }
    return %r : i64
}

// -----

func.func @reduce(%buf: memref<1024xf32>, %lb: index, %ub: index, %step: index) -> (f32, f32) {
  %sum_0 = arith.constant 0.0 : f32
  %c0 = arith.constant 0.0 : f32
  %sum, %prod = scf.for %iv = %lb to %ub step %step
      iter_args(%s = %sum_0, %p = %sum_0) -> (f32, f32) {
    %t = memref.load %buf[%iv] : memref<1024xf32>
    %cond = arith.cmpf ugt, %t, %c0 : f32
    %s_next = scf.if %cond -> (f32) {
      %new_sum = arith.addf %s, %t : f32
      scf.yield %new_sum : f32
    } else {
      scf.yield %s : f32
    }
    scf.yield %s_next, %p : f32, f32
  }
  %init = arith.constant 1.000000e+00 : f32
  %r:2 = scf.parallel (%i, %j) = (%lb, %lb) to (%ub, %ub) step (%step, %step) init (%init, %sum_0) -> (f32, f32) {
    %elem = memref.load %buf[%i] : memref<1024xf32>
    scf.reduce(%elem, %elem : f32, f32) {
      ^bb0(%lhs : f32, %rhs: f32):
        %res = arith.mulf %lhs, %rhs : f32
        scf.reduce.return %res : f32
    }, {
      ^bb0(%lhs : f32, %rhs: f32):
        %res = arith.maximumf %lhs, %rhs : f32
        scf.reduce.return %res : f32
    }
  }
  %sw = scf.index_switch %lb -> f32
  case 2 {
    scf.yield %init : f32
  }
  case 5 {
    scf.yield %sum : f32
  }
  default {
    scf.yield %prod : f32
  }
  %e = scf.execute_region -> i1 {
    %ok = arith.constant true
    scf.yield %ok : i1
  }
  scf.if %e {
    memref.store %sw, %buf[%lb] : memref<1024xf32>
  }
  return %r#0, %r#1 : f32, f32
}

// -----

func.func @t(%t: tensor<?x4xf32>, %i: index, %u: tensor<*xf32>, %shape: tensor<2xindex>) -> tensor<?x?xf32> {
  %cst = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %splat = arith.constant dense<0x7FC00000> : tensor<4xf32>
  %f = arith.constant 0.0 : f32
  %p = tensor.pad %t low[0, %i] high[1, 2] {
    ^bb0(%a: index, %b: index):
      tensor.yield %f : f32
  } : tensor<?x4xf32> to tensor<?x?xf32>
  %g = tensor.generate %i {
    ^bb0(%x: index, %y: index):
      %v = arith.index_cast %x : index to i32
      %w = arith.sitofp %v : i32 to f32
      tensor.yield %w : f32
  } : tensor<?x4xf32>
  %fe = tensor.from_elements %f, %f : tensor<2xf32>
  %e = tensor.extract %g[%i, %i] : tensor<?x4xf32>
  %ins = tensor.insert %e into %g[%i, %i] : tensor<?x4xf32>
  %c = tensor.cast %u : tensor<*xf32> to tensor<?x?xf32>
  %rs = tensor.reshape %t(%shape) : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %co = tensor.collapse_shape %ins [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %cc = tensor.concat dim(0) %t, %g : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %sl = tensor.insert_slice %fe into %cc[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<?x4xf32>
  %sp = tensor.splat %f : tensor<4x4xf32>
  %rank = tensor.rank %u : tensor<*xf32>
  %bt = bufferization.to_memref %sp : memref<4x4xf32>
  %al = bufferization.alloc_tensor(%i) : tensor<?x4xf32>
  return %p : tensor<?x?xf32>
}

// -----

#map = affine_map<(d0)[s0] -> (64, -d0 + s0)>
#lb = affine_map<(d0) -> (d0)>
#ub = affine_map<(d0)[s0] -> (d0 + 32, s0)>
func.func @gemm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %A, %c0 : memref<?x?xf32>
  %K = memref.dim %A, %c1 : memref<?x?xf32>
  %N = memref.dim %B, %c1 : memref<?x?xf32>
  affine.for %i0 = 0 to %M step 32 {
    affine.for %j0 = 0 to %N step 32 {
      affine.for %k0 = 0 to %K step 32 {
        affine.for %i = #lb(%i0) to min #ub(%i0)[%M] {
          affine.for %j = #lb(%j0) to min #ub(%j0)[%N] {
            affine.for %k = #lb(%k0) to min affine_map<(d0)[s0] -> (d0 + 32, s0)>(%k0)[%K] {
              %a = affine.load %A[%i, %k] : memref<?x?xf32>
              %b = affine.load %B[%k, %j] : memref<?x?xf32>
              %c = affine.load %C[%i, %j] : memref<?x?xf32>
              %p = arith.mulf %a, %b fastmath<fast> : f32
              %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
              affine.store %s, %C[%i, %j] : memref<?x?xf32>
            }
          }
        } {tile = 32 : i64}
      }
    }
  }
  return
}

// -----
module {
  func.func private @printMemrefF64(memref<*xf64>) attributes {llvm.emit_c_interface}
  func.func @main() {
    %cst = arith.constant 6.000000e+00 : f64
    %cst_0 = arith.constant 5.0 : f64
    %0 = memref.alloc() : memref<3x2xf64>
    %1 = memref.alloc() : memref<2x3xf64>
    affine.store %cst_0, %1[0, 0] : memref<2x3xf64>
    affine.store %cst, %1[1, 2] : memref<2x3xf64>
    affine.for %arg0 = 0 to 3 {
      affine.for %arg1 = 0 to 2 {
        %2 = affine.load %1[%arg1, %arg0] : memref<2x3xf64>
        %3 = arith.mulf %2, %2 : f64
        affine.store %3, %0[%arg0, %arg1] : memref<3x2xf64>
      }
    }
    %u = memref.cast %0 : memref<3x2xf64> to memref<*xf64>
    call @printMemrefF64(%u) : (memref<*xf64>) -> ()
    memref.dealloc %1 : memref<2x3xf64>
    memref.dealloc %0 : memref<3x2xf64>
    return
  }
}

// -----

func.func @mix(%x: tensor<4xf32>, %tok: none, %m: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>) {
  %0 = "my.op"(%x) <{a = 1 : i32}> ({
  ^bb0(%arg0: i32):
    "my.yield"(%arg0) : (i32) -> ()
  }, {
  }) {attr = array<i64: 1, -2, 3>, m = affine_map<(d0)[s0] -> (d0 mod 2 + s0)>, u, n = @a::@b, d = {x = dense<[1.0, 2.0]> : tensor<2xf32>, y = []}} : (tensor<4xf32>) -> i32
  %c0 = arith.constant 0 : index
  %v = memref.load %m[%c0, %c0] : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>, 3>
  return
}

// -----

#minor = affine_map<(d0, d1) -> (d1)>
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  %va = vector.broadcast %a : f32 to vector<8xf32>
  scf.for %i = %c0 to %n step %c8 {
    %vx = vector.transfer_read %x[%i], %pad : memref<?xf32>, vector<8xf32>
    %vy = vector.transfer_read %y[%i], %pad {in_bounds = [false]} : memref<?xf32>, vector<8xf32>
    %r = vector.fma %va, %vx, %vy : vector<8xf32>
    vector.transfer_write %r, %y[%i] : vector<8xf32>, memref<?xf32>
  }
  return
}
func.func @more(%m: memref<4x16xf32>, %v: vector<4x8xf32>, %k: vector<[4]xf32>, %i: index) -> vector<8xf32> {
  %c = arith.constant 0 : index
  %f = arith.constant 1.000000e+00 : f32
  %0 = vector.load %m[%c, %i] : memref<4x16xf32>, vector<8xf32>
  %1 = vector.extract %v[2] : vector<8xf32> from vector<4x8xf32>
  %2 = vector.extract %v[1, 3] : f32 from vector<4x8xf32>
  %3 = vector.insert %2, %1[5] : f32 into vector<8xf32>
  %4 = vector.reduction <maxnumf>, %3 : vector<8xf32> into f32
  %5 = vector.reduction <add>, %3, %4 fastmath<reassoc> : vector<8xf32> into f32
  %mk = vector.create_mask %i : vector<8xi1>
  %6 = vector.maskedload %m[%c, %c], %mk, %3 : memref<4x16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %7 = vector.shuffle %6, %0 [0, 1, 2, 3, 8, 9, 10, 11] : vector<8xf32>, vector<8xf32>
  %8 = vector.multi_reduction <mul>, %v, %7 [0] : vector<4x8xf32> to vector<8xf32>
  %9 = vector.transfer_read %m[%c, %c], %f {permutation_map = #minor, in_bounds = [true]} : memref<4x16xf32>, vector<8xf32>
  %10 = vector.mask %mk { vector.reduction <add>, %9 : vector<8xf32> into f32 } : vector<8xi1> -> f32
  vector.print %10 : f32
  vector.print str "hello"
  return %8 : vector<8xf32>
}

// -----

func.func @newton(%x: f64, %tol: f64) -> f64 {
  %half = arith.constant 5.0e-1 : f64
  %res:2 = scf.while (%y = %x, %it = %x) : (f64, f64) -> (f64, f64) {
    %y2 = arith.mulf %y, %y : f64
    %d = arith.subf %y2, %x : f64
    %ad = math.absf %d : f64
    %c = arith.cmpf ogt, %ad, %tol : f64
    scf.condition(%c) %y, %it : f64, f64
  } do {
  ^bb0(%y: f64, %it: f64):
    %q = arith.divf %x, %y : f64
    %s = arith.addf %y, %q : f64
    %n = arith.mulf %half, %s : f64
    scf.yield %n, %it : f64, f64
  } attributes {loop_annotation = "newton"}
  %e = arith.constant 3 : i32
  %cp = math.copysign %res#0, %x : f64
  %fp = math.fpowi %cp, %e : f64, i32
  %rs = math.rsqrt %fp fastmath<afn> : f64
  return %rs : f64
}
