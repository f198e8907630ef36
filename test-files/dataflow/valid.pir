// RUN: pir-opt %s | FileCheck %s
// Graphs that keep all rules, written in any order.

// CHECK: df.graph
// CHECK: df.exit
df.graph {
  pd.fetch (%r) {name = "r"}
  %r = df.exit (%f) : tensor<i1>
  %n = df.next_iteration (%joined) : tensor<i1>
  %joined, %j = df.merge (%left, %no) : tensor<i1>, tensor<i32>
  // A constant in a branch, in a loop.
  %no = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
  df.control (%no, %pivot)
  %pivot = df.identity (%right) : tensor<i1>
  %left, %right = df.switch (%t, %q) : tensor<i1>, tensor<i1>
  %q = df.identity (%c) : tensor<i1>
  df.control (%q, %t_pivot)
  %t_pivot = df.identity (%t) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %go = df.loop_cond (%m) : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %c = df.enter (%x) {frame = "while", constant = true} : tensor<i1>
  %e = df.enter (%x) {frame = "while", parallel_iterations = 1} : tensor<i1>
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
}

// Nothing is known of what another device sends: it may be alive on one side only.
// CHECK: df.graph {device = 0}
// CHECK: df.recv
df.graph {
  %y = pd.data {name = "y", shape = [], dtype = f32} : tensor<f32>
  %a = df.recv {key = "a", from = 1, to = 0} : tensor<f32>
  %r, %i = df.merge (%a, %y) : tensor<f32>, tensor<i32>
  pd.fetch (%r) {name = "s"}
} {device = 0}
