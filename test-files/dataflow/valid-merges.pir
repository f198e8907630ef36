// RUN: pir-opt %s
// RUN: pir-run --dataflow %s --input x=3 --input p=true --input q=false | FileCheck %s
// CHECK-DAG: pivots = tensor<f64> 6
// CHECK-DAG: negated = tensor<f64> 3
// CHECK-DAG: three = tensor<f64> 3
// CHECK-DAG: both = tensor<f64> 9
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f64} : tensor<f64>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %q = pd.data {name = "q", shape = [], dtype = i1} : tensor<i1>
  // A pivot by the predicate itself, a switch by a copy of it, as TensorFlow writes conditionals.
  %pivot_f, %pivot_t = df.switch (%p, %p) : tensor<i1>, tensor<i1>
  %pred = df.identity (%p) : tensor<i1>
  %on = df.identity (%pivot_t) : tensor<i1>
  %two = pd.full {shape = [], value = 6.0, dtype = f64} : tensor<f64>
  df.control (%two, %on)
  %a, %b = df.switch (%x, %pred) : tensor<f64>, tensor<f64>
  %m, %i = df.merge (%a, %two) : tensor<f64>, tensor<i32>
  pd.fetch (%m) {name = "pivots"}
  // The negation of a predicate goes the other way.
  %not = pd.logical_not (%pred) : tensor<i1>
  %c, %d = df.switch (%x, %not) : tensor<f64>, tensor<f64>
  %square = pd.square (%d) : tensor<f64>
  %n, %j = df.merge (%c, %square) : tensor<f64>, tensor<i32>
  pd.fetch (%n) {name = "negated"}
  // Three ways.
  %f, %t = df.switch (%x, %p) : tensor<f64>, tensor<f64>
  %ff, %ft = df.switch (%f, %q) : tensor<f64>, tensor<f64>
  %o, %k = df.merge (%t, %ft, %ff) : tensor<f64>, tensor<i32>
  pd.fetch (%o) {name = "three"}
  // What needs two predicates, against the other side of either.
  %u, %v = df.switch (%x, %q) : tensor<f64>, tensor<f64>
  %w = pd.multiply (%u, %t) : tensor<f64>
  %r, %l = df.merge (%v, %w) : tensor<f64>, tensor<i32>
  pd.fetch (%r) {name = "both"}
}
