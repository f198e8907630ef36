// RUN: pir-opt --split-input-file --verify-diagnostics %s
// The two ends of a message agree, across devices.

df.graph {device = 0} {
  %z = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
  %n = pd.full {shape = [], value = 3, dtype = i64} : tensor<i64>
  %e = df.enter (%z) {frame = "w"} : tensor<i64>
  %m, %mi = df.merge (%e, %nx) : tensor<i64>, tensor<i32>
  %ne = df.enter (%n) {frame = "w", constant = true} : tensor<i64>
  %p = pd.less_than (%m, %ne) : tensor<i1>
  %c = df.loop_cond (%p) : tensor<i1>
  %f, %t = df.switch (%m, %c) : tensor<i64>, tensor<i64>
  // expected-note@+1 {{sent here}}
  %s = df.send (%t) {key = "k", from = 0, to = 1} : df.control
  %k = pd.increment (%t) {value = 1.0} : tensor<i64>
  %nx = df.next_iteration (%k) : tensor<i64>
  %r = df.exit (%f) : tensor<i64>
  pd.fetch (%r) {name = "r"}
}
df.graph {device = 1} {
  // expected-error@+1 {{the message "k" is sent in the frame "w", but received outside of all loops}}
  %v = df.recv {key = "k", from = 0, to = 1} : tensor<i64>
  pd.fetch (%v) {name = "v"}
}

// -----

df.graph {device = 0} {
  %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
  // expected-note@+1 {{sent here}}
  %s = df.send (%x) {key = "k", from = 0, to = 1} : df.control
}
df.graph {device = 1} {
  // expected-error@+1 {{the message "k" is sent with type `tensor<2xf32>`, but received with type `tensor<3xi64>`}}
  %v = df.recv {key = "k", from = 0, to = 1} : tensor<3xi64>
  pd.fetch (%v) {name = "w"}
}

// -----

// Dimensions that are not known agree with any. What is sent to another device, and what nobody sends.
df.graph {device = 0} {
  %x = pd.data {name = "x", shape = [-1], dtype = f32} : tensor<?xf32>
  %a = df.send (%x) {key = "a", from = 0, to = 1} : df.control
  // expected-note@+1 {{sent here}}
  %b = df.send (%x) {key = "b", from = 0, to = 2} : df.control
  // expected-error@+1 {{no node receives the message with the key "c"}}
  %c = df.send (%x) {key = "c", from = 0, to = 1} : df.control
  // The graph of that device is not here.
  %e = df.send (%x) {key = "e", from = 0, to = 7} : df.control
}
df.graph {device = 1} {
  %a = df.recv {key = "a", from = 0, to = 1} : tensor<2xf32>
  // expected-error@+1 {{the two ends of the message "b" name different devices}}
  %b = df.recv {key = "b", from = 0, to = 1} : tensor<?xf32>
  // expected-error@+1 {{no message is sent with the key "d", so this node waits forever}}
  %d = df.recv {key = "d", from = 0, to = 1} : tensor<?xf32>
  %f = df.recv {key = "f", from = 7, to = 1} : tensor<?xf32>
  pd.fetch (%a) {name = "a"}
}
