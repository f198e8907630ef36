// RUN: pir-opt --split-input-file --verify-diagnostics %s
// What a merge joins excludes each other: some predicate must have gone one way for the one operand and the other way for
// the other.

// Two predicates.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %q = pd.data {name = "q", shape = [], dtype = i1} : tensor<i1>
  %a, %b = df.switch (%x, %p) : tensor<f64>, tensor<f64>
  %y = pd.neg (%x) : tensor<f64>
  %c, %d = df.switch (%y, %q) : tensor<f64>, tensor<f64>
  // expected-error@+1 {{`%a` and `%d` may both be live or both be dead: no predicate distinguishes them}}
  %m, %i = df.merge (%a, %d) : tensor<f64>, tensor<i32>
  pd.fetch (%m) {name = "m"}
}

// -----

// The same side of one predicate, handed on twice.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %pred = df.identity (%p) : tensor<i1>
  %not = pd.logical_not (%p) : tensor<i1>
  %a, %b = df.switch (%x, %pred) : tensor<f64>, tensor<f64>
  %c, %d = df.switch (%x, %not) : tensor<f64>, tensor<f64>
  %e = pd.exp (%b) : tensor<f64>
  // expected-error@+1 {{so the operand that the merge forwards is undetermined}}
  %m, %i = df.merge (%e, %c) : tensor<f64>, tensor<i32>
  pd.fetch (%m) {name = "m"}
}

// -----

// The second of three.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %q = pd.data {name = "q", shape = [], dtype = i1} : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<f64>, tensor<f64>
  %ff, %ft = df.switch (%f, %q) : tensor<f64>, tensor<f64>
  %gf, %gt = df.switch (%x, %q) : tensor<f64>, tensor<f64>
  // expected-error@+1 {{`%t` and `%gt` may both be live}}
  %m, %i = df.merge (%t, %ft, %gt) : tensor<f64>, tensor<i32>
  pd.fetch (%m) {name = "m"}
}
