// RUN: pir-opt --pass=raise-from-dataflow --split-input-file --verify-diagnostics %s
// Graphs that no branches and loops would make.

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %q = pd.logical_not (%p) : tensor<i1>
  %a, %b = df.switch (%x, %p) : tensor<f32>, tensor<f32>
  %d, %c = df.switch (%x, %q) : tensor<f32>, tensor<f32>
  // expected-error@+2 {{`df.merge` cannot be raised: it does not merge the values of the two sides of one branch}}
  // expected-note@+1 {{in the pass}}
  %r, %i = df.merge (%a, %d) : tensor<f32>, tensor<i32>
  pd.fetch (%r) {name = "r"}
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %a, %b = df.switch (%x, %p) : tensor<f32>, tensor<f32>
  // expected-error@+2 {{`df.merge` cannot be raised: the index of its live operand is used}}
  // expected-note@+1 {{in the pass}}
  %r, %i = df.merge (%a, %b) : tensor<f32>, tensor<i32>
  pd.fetch (%i) {name = "i"}
}

// -----

// The second choice needs the result of the first, by the same predicate: they cannot be one. Nor can they be two, since a value of the
// first one that the second reads would be of unknown size on the other side.
df.graph {
  %x = pd.data {name = "x", shape = [-1], dtype = f32} : tensor<?xf32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %a, %b = df.switch (%x, %p) : tensor<?xf32>, tensor<?xf32>
  %c = pd.tanh (%a) : tensor<?xf32>
  // expected-error@+2 {{cannot be raised: two branches by one predicate depend on each other}}
  // expected-note@+1 {{in the pass}}
  %r, %i = df.merge (%c, %b) : tensor<?xf32>, tensor<i32>
  %d, %e = df.switch (%r, %p) : tensor<?xf32>, tensor<?xf32>
  %f = pd.add (%d, %c) : tensor<?xf32>
  %s, %j = df.merge (%f, %e) : tensor<?xf32>, tensor<i32>
  pd.fetch (%s) {name = "s"}
}

// -----

// The body uses what the condition computes without a switch.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+2 {{`pd.logical_and` cannot be raised: it uses a value of another region}}
  // expected-note@+1 {{in the pass}}
  %both = pd.logical_and (%t, %m) : tensor<i1>
  %n = df.next_iteration (%both) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// expected-error@+2 {{the graph of one of several devices cannot be raised}}
// expected-note@+1 {{in the pass}}
df.graph {device = 0} {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
}
