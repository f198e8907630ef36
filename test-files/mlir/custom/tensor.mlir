func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.dim %t, %i : tensor<4x?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.empty() : tensor<2xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.empty(%i) : tensor<?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.extract %v[%i] : tensor<2xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.insert %x into %v[%i] : tensor<2xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.from_elements %x, %x : tensor<2xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.splat %x : tensor<2xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.extract_slice %v[0] [1] [1] : tensor<2xf32> to tensor<1xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x?xf32> into tensor<?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.generate %i { ^bb0(%j: index): tensor.yield %x : f32 } : tensor<?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.rank %t : tensor<4x?xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.pad %v low[1] high[1] { ^bb0(%j: index): tensor.yield %x : f32 } : tensor<2xf32> to tensor<4xf32> return }

// -----

func.func @f(%t: tensor<4x?xf32>, %i: index, %x: f32, %v: tensor<2xf32>) { %0 = tensor.bitcast %v : tensor<2xf32> to tensor<2xi32> return }
