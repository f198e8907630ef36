// RUN: pir-opt --pass=lower-to-dataflow --split-input-file --verify-diagnostics %s
// What cannot be lowered is named, with the pass to run before.

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  func.return (%x)
}
%x = pd.data {name = "x", shape = [], dtype = f32}
// expected-error@+2 {{`func.call` cannot be lowered to dataflow: a graph calls no functions}}
// expected-note@+1 {{in the pass}}
%y = func.call @f(%x) : tensor<f32>
pd.fetch (%y) {name = "y"}

// -----

%x = pd.data {name = "x", shape = [], dtype = i64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%r = pd.while (%x) cond (%i) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i)
} body (%j) {
  // expected-error@+2 {{`pd.fetch` cannot be lowered to dataflow: nothing is fetched inside of a loop}}
// expected-note@+1 {{in the pass}}
  pd.fetch (%j) {name = "j"}
  %k = pd.increment (%j) {value = 1.0}
  cf.yield (%k)
}

// -----

%x = pd.data {name = "x", shape = [], dtype = f32}
%y = pd.tanh (%x)
// expected-error@+2 {{`pd.inplace_add` cannot be lowered to dataflow: it changes operand 0 in place}}
// expected-note@+1 {{in the pass}}
pd.inplace_add (%y, %x)
pd.fetch (%y) {name = "y"}

// -----

%s = cf.create_stack ()
%x = pd.data {name = "x", shape = [], dtype = f32}
// expected-error@+2 {{this `cf.push_back` cannot be lowered to dataflow}}
// expected-note@+1 {{in the pass}}
cf.push_back (%s, %x)

// -----

%x = pd.data {name = "x", shape = [], dtype = f32}
// expected-error@+2 {{`df.identity` cannot be lowered to dataflow: it belongs into a `df.graph`}}
// expected-note@+1 {{in the pass}}
%y = df.identity (%x)
