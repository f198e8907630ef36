func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.broadcast %x : f32 to vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.extract %v[1] : f32 from vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.insert %x, %v[1] : f32 into vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.load %m[%i] : memref<8xf32>, vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.reduction <add>, %v : vector<4xf32> into f32 return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.shuffle %v, %v [0, 1, 4, 5] : vector<4xf32>, vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.splat %x : vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { vector.print %v : vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.transfer_read %m[%i], %x : memref<8xf32>, vector<4xf32> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.create_mask %i : vector<4xi1> return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.vscale return }

// -----

func.func @f(%v: vector<4xf32>, %x: f32, %m: memref<8xf32>, %i: index, %k: vector<4xi1>) { %0 = vector.fma %v, %v, %v : vector<4xf32> return }
