func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.alloc() : memref<2xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.alloc(%i) : memref<?xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.alloca() : memref<2xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.load %m[%i, %i] : memref<?x4xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { memref.store %x, %m[%i, %i] : memref<?x4xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.dim %m, %i : memref<?x4xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { memref.dealloc %m : memref<?x4xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { memref.copy %m, %m : memref<?x4xf32> to memref<?x4xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.cast %m : memref<?x4xf32> to memref<?x?xf32> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.subview %m[0, 0] [1, 1] [1, 1] : memref<?x4xf32> to memref<1x1xf32, strided<[4, 1]>> return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { memref.alloca_scope { memref.alloca_scope.return } return }

// -----

func.func @f(%m: memref<?x4xf32>, %i: index, %x: f32) { %0 = memref.atomic_rmw addf %x, %m[%i, %i] : (f32, memref<?x4xf32>) -> f32 return }

// -----

memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]>

// -----

memref.global @h : memref<2xf32>

// -----

func.func @blanks(%m: index, %n: index) -> memref <?x?xf32> { %0 = memref.alloc () : memref<2xf32> %1 = memref.alloc (%m, %n) : memref<?x?xf32> %2 = arith.constant dense <1.0> : vector <2xf32> return %1 : memref<?x?xf32> }
