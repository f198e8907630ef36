// RUN: pir-opt --split-input-file --verify-diagnostics %s

// What is wrong is said where it is wrong, with what to do.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// expected-note@+1 {{in the regions of this `pd.if`}}
%r = pd.if (%c) then {
  %z = pd.exp (%x) : tensor<4xf32>
// expected-error@+1 {{`pd.if` declares 1 result, but its region yields none}}
} else {
  cf.yield (%x)
} : tensor<4xf32>

// -----

// expected-error@+1 {{the attribute `shape` of `pd.full` must be a list of integers, but is the string `"four"`}}
%x = pd.full {shape = "four", value = 1.0, dtype = f32} : tensor<4xf32>

// -----

// Once, with the list that is not closed.
// expected-error@+2 {{this list is not closed}}
// expected-note@+1 {{this is not an element}}
%x = pd.data {name = "x", shape = [4, dtype = f32} : tensor<4xf32>
%y = pd.tanh (%x) : tensor<4xf32>

// -----

// expected-error@+2 {{expected `,` or `}`, found `:`}}
// expected-note@+1 {{to close this brace}}
%x = pd.data {name = "x", shape = [4], dtype = i1 , stop_gradient = true : tensor<4xi1>

// -----

// The branch that differs from what is declared, not the first one.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%w = pd.data {name = "w", shape = [5], dtype = f32} : tensor<5xf32>
%c = pd.full {shape = [], value = true, dtype = i1} : tensor<i1>
// expected-note@+1 {{in the regions of this `pd.if`}}
%r = pd.if (%c) then {
  // expected-error@+1 {{yielded value #0 has type `tensor<5xf32>`, but result #0 has type `tensor<4xf32>`}}
  cf.yield (%w)
} else {
  cf.yield (%x)
// expected-note@+1 {{declared as `tensor<4xf32>`}}
} : tensor<4xf32>

// -----

%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
// expected-error@+1 {{expected 1 operand, one for each cond region argument, found 2}}
%n = pd.while (%zero, %one) cond (%i: tensor<1xi64>) {
  %go = pd.less_than (%i, %one) : tensor<1xi1>
  cf.cond_yield (%go, %i)
} body (%j: tensor<1xi64>) {
  %next = pd.add (%j, %one) : tensor<1xi64>
  cf.yield (%next)
} : tensor<1xi64>

// -----

// Both shapes, and where each comes from; with and without a type that is written.
// expected-note@+2 {{%x is `tensor<4x3xf32>`}}
// expected-note@+1 {{%x is `tensor<4x3xf32>`}}
%x = pd.data {name = "x", shape = [4, 3], dtype = f32} : tensor<4x3xf32>
// expected-note@+2 {{%w is `tensor<5x2xf32>`}}
// expected-note@+1 {{%w is `tensor<5x2xf32>`}}
%w = pd.data {name = "w", shape = [5, 2], dtype = f32} : tensor<5x2xf32>
// expected-error@+1 {{`pd.matmul`: the inner dimensions 3 and 5 of [4, 3] and [5, 2] differ}}
%y = pd.matmul (%x, %w)
// expected-error@+1 {{`pd.add`: shapes [4, 3] and [5, 2] do not broadcast}}
%z = pd.add (%x, %w)

// -----

// expected-note@+1 {{%x is `tensor<4xf32>`}}
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
// expected-note@+1 {{%i is `tensor<4xi64>`}}
%i = pd.data {name = "i", shape = [4], dtype = i64} : tensor<4xi64>
// expected-error@+1 {{`pd.add`: element types `f32` and `i64` differ}}
%z = pd.add (%x, %i)

// -----

// expected-note@+1 {{the types of the results}}
%a, %b = pd.full {shape = [4], value = 1.0, dtype = f32} : tensor<4xf32> // expected-error {{expected 1 result name, found 2}}

// -----

// What stands for a list of extents is a list of integers.
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%s = pd.full {shape = [2], value = 3.0, dtype = f32} : tensor<2xf32>
// expected-error@+1 {{`shape` of `pd.reshape` must be integers, not `tensor<2xf32>`}}
%y = pd.reshape (%x, %s) : tensor<?x?xf32>
%two = pd.full {shape = [], value = 2, dtype = i64} : tensor<i64>
%three = pd.full {shape = [], value = 3.0, dtype = f32} : tensor<f32>
%list = builtin.combine (%two, %three) : vec<tensor<i64>, tensor<f32>>
// expected-error@+1 {{`shape` of `pd.reshape` must be integers, not `vec<tensor<i64>, tensor<f32>>`}}
%z = pd.reshape (%x, %list) : tensor<?x?xf32>

// -----

// expected-note@+1 {{%x is `tensor<3xf32>`}}
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
// expected-note@+1 {{%y is `tensor<1xf32>`}}
%y = pd.data {name = "y", shape = [1], dtype = f32} : tensor<1xf32>
%up = pd.expand_as (%y, %x) : tensor<3xf32>
// expected-error@+1 {{`pd.expand_as`: shape [3] does not broadcast to [1]}}
%down = pd.expand_as (%x, %y) : tensor<3xf32>
