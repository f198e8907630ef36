func.func @f(%m: memref<10xf32>, %n: index) { affine.for %i = 0 to 10 { "a.b"(%i) : (index) -> () } return }

// -----

func.func @f(%m: memref<10xf32>, %n: index) { affine.for %i = 0 to %n step 2 { } return }

// -----

func.func @f(%m: memref<10xf32>, %n: index) { affine.for %i = 0 to 10 { %0 = affine.load %m[%i] : memref<10xf32> affine.store %0, %m[%i] : memref<10xf32> } return }

// -----

func.func @f(%m: memref<10xf32>, %n: index) { %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%n) return }

// -----

func.func @f(%m: memref<10xf32>, %n: index) { %0 = affine.min affine_map<(d0) -> (d0, 5)>(%n) return }

// -----

func.func @f(%m: memref<10xf32>, %n: index) { affine.parallel (%i) = (0) to (10) { } return }

// -----

func.func @f(%n: index) { affine.for %i = 0 to 10 { affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i) { } } return }

// -----

func.func @bounds(%a: memref<100x100xf32>, %n: index, %k: index) -> (f32, f32) {
  %r:2 = affine.parallel (%i, %j) = (max(%n + 1, 3), 0) to (min(%n, %k * 3, 30), %n floordiv 2) step (10, 2) reduce ("minimumf", "maximumf") -> (f32, f32) {
    %v = affine.load %a[%i, %j] : memref<100x100xf32>
    affine.yield %v, %v : f32, f32
  } {tag = 1}
  affine.parallel (%i) = (0) to (10) { affine.store %r#0, %a[%i, %i] : memref<100x100xf32> }
  affine.parallel () = () to () { }
  return %r#0, %r#1 : f32, f32
}
