// RUN: pir-opt --pass=lower-to-dataflow --split-input-file --verify-diagnostics %s
// What cannot be lowered is named, with the pass to run before.

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  func.return (%x)
}
%x = pd.data {name = "x", shape = [], dtype = f32}
// expected-error@+2 {{`func.call` cannot be lowered to dataflow: a graph cannot call functions}}
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
  // expected-error@+2 {{`pd.fetch` cannot be lowered to dataflow: a graph cannot fetch values inside of a loop}}
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

// A stack at top level is one of the graph, and the graph has no stacks of stacks.
%s = cf.create_stack ()
%t = cf.create_stack ()
// expected-error@+2 {{this `cf.push_back` cannot be lowered to dataflow: a stack created at top level cannot hold handles}}
// expected-note@+1 {{in the pass}}
cf.push_back (%s, %t)

// -----

%x = pd.data {name = "x", shape = [], dtype = f32}
// expected-error@+2 {{`df.identity` cannot be lowered to dataflow: it belongs in a `df.graph`}}
// expected-note@+1 {{in the pass}}
%y = df.identity (%x)

// -----

// A stack of the body of a loop, which has a new one in every iteration, is not one that the loop fills.
%x = pd.data {name = "x", shape = [4], dtype = f64}
%n = pd.full {shape = [], value = 3, dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%r, %sum = pd.while (%zero, %x) cond (%i, %a) {
  %less = pd.less_than (%i, %n)
  cf.cond_yield (%less, %i, %a)
} body (%j, %b) {
  %s = cf.create_stack ()
  // expected-error@+2 {{this `cf.push_back` cannot be lowered to dataflow: its stack is not created in the `init` region}}
  // expected-note@+1 {{in the pass}}
  cf.push_back (%s, %x)
  %y = pd.while (%b) cond (%c) {
    // expected-error@+2 {{this `cf.is_empty` cannot be lowered to dataflow}}
    // expected-note@+1 {{in the pass}}
    %empty = cf.is_empty (%s)
    %more = pd.logical_not (%empty)
    cf.cond_yield (%more, %c)
  } body (%d) {
    // expected-error@+2 {{this `cf.pop_back` cannot be lowered to dataflow}}
    // expected-note@+1 {{in the pass}}
    %popped = cf.pop_back (%s) : tensor<4xf64>
    %next = pd.subtract (%popped, %d)
    cf.yield (%next)
  }
  %k = pd.increment (%j) {value = 1.0}
  cf.yield (%k, %y)
}
pd.fetch (%sum) {name = "sum"}
