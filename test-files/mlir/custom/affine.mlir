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
