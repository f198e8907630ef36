// RUN: pir-opt --split-input-file --verify-diagnostics %s

// A name that the definition does not have is an error where it stands.
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
// expected-error@+1 {{`pd.softmax` has no attribute `dim`}}
%l = pd.softmax (%x) {dim = 0}
pd.fetch (%l) {name = "l"}

// -----

// Each of them is said.
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
// expected-error@+1 {{`pd.sum` has no attribute `axes`}}
%a = pd.sum (%x) {axes = [0]}
// expected-error@+2 {{`pd.scale` has no attribute `scael`}}
// expected-error@+1 {{`pd.scale` has no attribute `baes`}}
%d = pd.scale (%x) {scael = 3.0, baes = 1.0}
pd.fetch (%a) {name = "a"}
pd.fetch (%d) {name = "d"}

// -----

// In the generic form too, in properties and behind regions.
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// expected-error@+1 {{`pd.scale` has no attribute `scael`}}
%d = "pd.scale"(%x) <{scael = 3.0}> : (tensor<2xf32>) -> tensor<2xf32>

// -----

// A mark of the tools has its type, and sits where it means something.
// expected-error@+1 {{the attribute `backward` of `pd.full` must be an integer, but is the string `"yes"`}}
%x = pd.full {shape = [2], value = 1.0, dtype = f32, backward = "yes"} : tensor<2xf32>
// expected-error@+1 {{the attribute `stop_gradient` of `pd.tanh` must be `false`, but is `true`}}
%y = pd.tanh (%x) {stop_gradient = true} : tensor<2xf32>

// -----

// Types are those of the row.
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
// expected-error@+1 {{the attribute `keepdim` of `pd.sum` must be true or false, but is the integer `2`}}
%a = pd.sum (%x) {keepdim = 2} : tensor<f32>
// expected-error@+1 {{the attribute `axis` of `pd.sum` must be a list of integers, or an integer, but is the list `[0.5]`}}
%b = pd.sum (%x) {axis = [0.5]} : tensor<f32>
// expected-error@+1 {{the attribute `dtype` of `pd.cast` must be an element type, but is the type `tensor<2xf32>`}}
%c = pd.cast (%x) {dtype = tensor<2xf32>} : tensor<2x3xf32>

// -----

// What is required is missed by the verifier.
// expected-error@+1 {{`pd.data` needs the attribute `name`}}
%x = pd.data {shape = [2], dtype = f32} : tensor<2xf32>
// expected-error@+1 {{`pd.fetch` needs the attribute `name`}}
pd.fetch (%x)

// -----

// An attribute that an operand may stand for is required too.
%x = pd.data {name = "x", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
%two = pd.full {shape = [1], value = 2.0, dtype = f32} : tensor<1xf32>
// expected-error@+1 {{`pd.pow` needs the attribute `y`}}
%p = pd.pow (%x) : tensor<2x3xf32>
%q = pd.pow (%x, %two) : tensor<2x3xf32>
// expected-error@+2 {{`pd.clip` needs the attribute `min`}}
// expected-error@+1 {{`pd.clip` needs the attribute `max`}}
%r = pd.clip (%x) : tensor<2x3xf32>
