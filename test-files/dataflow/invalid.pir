// RUN: pir-opt --split-input-file --verify-diagnostics %s
// Every rule of graphs, broken.

// A graph is one block.
// expected-error@+1 {{a `df.graph` has one block, without arguments}}
df.graph {
^bb0(%x: tensor<f32>):
  pd.fetch (%x) {name = "x"}
}

// -----

// Nodes have no regions.
df.graph {
  %c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{`pd.if` is not a node: it has regions}}
  pd.if (%c) then {
    cf.yield ()
  }
}

// -----

df.graph {
  // expected-error@+1 {{`cf.yield` is not a node: it ends a block}}
  cf.yield ()
}

// -----

// Predicates are truth values.
df.graph {
  %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
  // expected-error@+1 {{the predicate of `df.switch` must be a single boolean, not `tensor<2xf32>`}}
  %a, %b = df.switch (%x, %x) : tensor<2xf32>, tensor<2xf32>
}

// -----

df.graph {
  // expected-error@+1 {{`df.merge`: it needs an operand}}
  %a, %b = df.merge () : tensor<2xf32>, tensor<i32>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
  %y = pd.data {name = "y", shape = [3], dtype = f32} : tensor<3xf32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<2xf32>, tensor<2xf32>
  %f_1, %t_1 = df.switch (%y, %p) : tensor<3xf32>, tensor<3xf32>
  // expected-error@+1 {{operand 1 of `df.merge` has type `tensor<3xf32>`, its result `tensor<2xf32>`}}
  %a, %b = df.merge (%f, %t_1) : tensor<2xf32>, tensor<i32>
}

// -----

// Frames have names, different ones for different loops.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{the name of a frame must not be empty}}
  %e = df.enter (%x) {frame = ""} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{`parallel_iterations` is 0, so no iteration could run}}
  %e = df.enter (%x) {frame = "while", parallel_iterations = 0} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// A loop in a loop needs a name of its own.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{the frame "while" is entered from two frames: two loops have the same name}}
  %e2 = df.enter (%t) {frame = "while"} : tensor<i1>
  %m2, %i2 = df.merge (%e2, %n2) : tensor<i1>, tensor<i32>
  %go2 = df.loop_cond (%m2) : tensor<i1>
  %f2, %t2 = df.switch (%m2, %go2) : tensor<i1>, tensor<i1>
  %n2 = df.next_iteration (%t2) : tensor<i1>
  %r2 = df.exit (%f2) : tensor<i1>
  %n = df.next_iteration (%r2) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// A loop has one condition.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{the frame "while" has no `df.loop_cond`, so the loop has no condition}}
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %f, %t = df.switch (%m, %m) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  // expected-error@+1 {{the frame "while" has more than one `df.loop_cond`}}
  %other = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// Edges stay in a frame.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %y = pd.logical_not (%x) : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{`pd.logical_and` is in the frame "while", but its operand `%y` in no loop}}
  %both = pd.logical_and (%t, %y) : tensor<i1>
  %n = df.next_iteration (%both) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %y = pd.logical_not (%x) : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{a control edge leads from no loop to the frame "while"}}
  %n = df.next_iteration (%t) : tensor<i1>
  df.control (%n, %y)
  %r = df.exit (%f) : tensor<i1>
}

// -----

// A constant in a region hangs from the pivot.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %no = pd.full {shape = [], value = false, dtype = i1} : tensor<i1>
  // expected-error@+1 {{`pd.logical_and` in the frame "while" uses `%no`, which is outside of the frame}}
  %both = pd.logical_and (%t, %no) : tensor<i1>
  %n = df.next_iteration (%both) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// Nothing runs but once what is there in every iteration.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %c = df.enter (%x) {frame = "while", constant = true} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{all operands of `df.next_iteration` are available in every iteration of the frame "while"}}
  %n = df.next_iteration (%c) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// An enter into another frame as well.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %c = df.enter (%x) {frame = "while", constant = true} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{all operands of `df.enter` are available in every iteration of the frame "while"}}
  %e2 = df.enter (%c) {frame = "inner"} : tensor<i1>
  %m2, %i2 = df.merge (%e2, %n2) : tensor<i1>, tensor<i32>
  %go2 = df.loop_cond (%m2) : tensor<i1>
  %f2, %t2 = df.switch (%m2, %go2) : tensor<i1>, tensor<i1>
  %n2 = df.next_iteration (%t2) : tensor<i1>
  %r2 = df.exit (%f2) : tensor<i1>
  %n = df.next_iteration (%r2) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// Cycles lead through next iterations only.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{`pd.logical_and` waits for itself}}
  %y = pd.logical_and (%x, %z) : tensor<i1>
  %z = pd.logical_not (%y) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{`df.merge` waits for itself}}
  %y, %i = df.merge (%x, %z) : tensor<i1>, tensor<i32>
  %z = pd.logical_not (%y) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  // expected-error@+1 {{`pd.logical_not` uses a `df.next_iteration`}}
  %wrong = pd.logical_not (%n) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// What is of a loop is in one.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  // expected-error@+1 {{`df.exit` is not in a frame}}
  %a = df.exit (%x) : tensor<i1>
  // expected-error@+1 {{`df.next_iteration` is in no loop}}
  %b = df.next_iteration (%x) : tensor<i1>
  // expected-error@+1 {{`df.loop_cond` is in no loop}}
  %c = df.loop_cond (%x) : tensor<i1>
}

// -----

// An exit reads the side on which the loop ends.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  // expected-error@+1 {{`df.exit` must read the first result of a switch by the condition of the loop, not `%t`}}
  %r = df.exit (%t) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %f2, %t2 = df.switch (%m, %m) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  // expected-error@+1 {{`df.exit` must read the first result of a switch by the condition of the loop, not `%f2`}}
  %r = df.exit (%f2) : tensor<i1>
}

// -----

// The merge of a loop takes what enters and what comes back, and waits for nothing else.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while", constant = true} : tensor<i1>
  // expected-error@+1 {{must have one other operand, a `df.enter` that is not constant}}
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  // expected-error@+1 {{the merge at the head of a loop has control edges}}
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  df.control (%m, %c)
  %c = df.enter (%x) {frame = "while", constant = true} : tensor<i1>
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// Nothing is fed or fetched in a frame.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = i1} : tensor<i1>
  %e = df.enter (%x) {frame = "while"} : tensor<i1>
  %m, %i = df.merge (%e, %n) : tensor<i1>, tensor<i32>
  // expected-error@+1 {{`pd.data` is in the frame "while": inputs cannot be fed inside of a loop}}
  %y = pd.data {name = "y", shape = [], dtype = i1} : tensor<i1>
  df.control (%y, %m)
  %go = df.loop_cond (%m) : tensor<i1>
  %f, %t = df.switch (%m, %go) : tensor<i1>, tensor<i1>
  // expected-error@+1 {{`pd.fetch` is in the frame "while": values cannot be fetched inside of a loop}}
  pd.fetch (%t) {name = "t"}
  %n = df.next_iteration (%t) : tensor<i1>
  %r = df.exit (%f) : tensor<i1>
}

// -----

// What a branch gives is alive on one side.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<f32>, tensor<f32>
  %a = pd.tanh (%f) : tensor<f32>
  %one = pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>
  // expected-error@+1 {{`%one` is live on both sides of the branch}}
  %r, %i = df.merge (%a, %one) : tensor<f32>, tensor<i32>
  pd.fetch (%r) {name = "r"}
}

// -----

// A control edge of a switch is always alive: it does not tell which way the branch goes.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  %p = pd.data {name = "p", shape = [], dtype = i1} : tensor<i1>
  %f, %t = df.switch (%x, %p) : tensor<f32>, tensor<f32>
  %one = pd.full {shape = [], value = 1.0, dtype = f32} : tensor<f32>
  df.control (%one, %t)
  // expected-error@+1 {{`%one` is live on both sides of the branch}}
  %r, %i = df.merge (%f, %one) : tensor<f32>, tensor<i32>
  pd.fetch (%r) {name = "r"}
}

// -----

// Stacks, messages.
df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  // expected-error@+1 {{the first operand of `df.stack_push` must be a stack, not `tensor<f32>`}}
  %y = df.stack_push (%x, %x) : tensor<f32>
}

// -----

df.graph {
  %x = pd.data {name = "x", shape = [], dtype = f32} : tensor<f32>
  %a = df.send (%x) {key = "x", from = 0, to = 1} : df.control
  // expected-error@+1 {{two messages are sent with the key "x"}}
  %b = df.send (%x) {key = "x", from = 0, to = 1} : df.control
  // expected-error@+1 {{the key of a message must not be empty}}
  %c = df.recv {key = "", from = 0, to = 1} : tensor<f32>
  // expected-error@+1 {{`df.recv` sends from a device to itself}}
  %d = df.recv {key = "d", from = 1, to = 1} : tensor<f32>
}

// -----

df.graph {
  // expected-error@+1 {{`df.recv` names a device other than that of its graph, 1}}
  %d = df.recv {key = "d", from = 1, to = 2} : tensor<f32>
} {device = 1}
