// RUN: pir-opt --pass=inplace-accumulate %s | FileCheck %s
// Sums that somebody could see before they are complete.
%n = pd.data {name = "n", shape = [], dtype = i64} : tensor<i64>
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%zero = pd.full {shape = [], value = 0, dtype = i64} : tensor<i64>
%one = pd.full {shape = [], value = 1, dtype = i64} : tensor<i64>
%zeros = pd.full {shape = [2], value = 0.0, dtype = f64} : tensor<2xf64>
%scalar = pd.full {shape = [], value = 0.0, dtype = f64} : tensor<f64>

// The sum is read in the body before something is added to it, printed behind it, or pushed.
// CHECK: %k1, %read, %printed, %pushed = pd.while
// CHECK: } body (%i: tensor<i64>, %a: tensor<2xf64>, %b: tensor<2xf64>, %c: tensor<2xf64>) {
// CHECK: %a_next = pd.add (%a, %t)
// CHECK: %b_next = pd.add (%b, %x)
// CHECK: %c_next = pd.add (%c, %x)
// CHECK: cf.yield (%i_next, %a_next, %b_next, %c_next)
%stack = cf.create_stack () : cf.stack
%k1, %read, %printed, %pushed = pd.while (%zero, %zeros, %zeros, %zeros) cond (%i, %a, %b, %c) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a, %b, %c)
} body (%i, %a, %b, %c) {
  %t = pd.tanh (%a)
  %a_next = pd.add (%a, %t)
  %b_next = pd.add (%b, %x)
  %p = pd.print (%b_next) {message = "b"}
  cf.push_back (%stack, %c)
  %c_next = pd.add (%c, %x)
  %i_next = pd.add (%i, %one)
  cf.yield (%i_next, %a_next, %b_next, %c_next)
}

// Two sums that change places, and one that decides when to stop. Only the count, which nobody looks at, is kept in place.
// CHECK: %this, %that, %stop = pd.while
// CHECK: pd.inplace_add (%zero_1, %one)
// CHECK-NEXT: cf.yield (%b_next, %a_next, %s_next)
%k2, %this, %that, %stop = pd.while (%zero, %zeros, %zeros, %scalar) cond (%i, %a, %b, %s) {
  %limit = pd.full {shape = [], value = 9.0, dtype = f64}
  %go = pd.less_than (%s, %limit)
  cf.cond_yield (%go, %i, %a, %b, %s)
} body (%i, %a, %b, %s) {
  %a_next = pd.add (%a, %x)
  %b_next = pd.add (%b, %x)
  %part = pd.sum (%x)
  %s_next = pd.add (%s, %part)
  %i_next = pd.add (%i, %one)
  cf.yield (%i_next, %b_next, %a_next, %s_next)
}

// One whose addition the condition makes, once more often than the body runs, is right in place; a branch that forgets
// the sum is not.
// CHECK: %k3, %forgotten = pd.while
// CHECK: pd.inplace_add ([[SUM:%zeros_1]], %x)
// CHECK: cf.cond_yield (%go, %i, %b)
// CHECK: } body (%i: tensor<i64>, %b: tensor<2xf64>) {
// CHECK: %r = pd.if
// CHECK: %b_more = pd.add (%b, %x)
%k3, %sum, %forgotten = pd.while (%zero, %zeros, %zeros) cond (%i, %a, %b) {
  %go = pd.less_than (%i, %n)
  %a_more = pd.add (%x, %a)
  cf.cond_yield (%go, %i, %a_more, %b)
} body (%i, %a, %b) {
  %odd = pd.equal (%i, %one)
  %r = pd.if (%odd) then {
    %b_more = pd.add (%b, %x)
    cf.yield (%b_more)
  } else {
    cf.yield (%x)
  }
  %i_next = pd.add (%i, %one)
  cf.yield (%i_next, %a, %r)
}

// Through a branch and a loop inside. The start is read behind, so there is a copy.
// CHECK: [[COPY:%.*]] = pd.assign (%zeros)
// CHECK: %k4 = pd.while (%zero) cond
// CHECK: pd.if (%odd) then {
// CHECK-NEXT: pd.inplace_add ([[COPY]], %x)
// CHECK-NEXT: cf.yield ()
// CHECK-NEXT: } else {
// CHECK-NEXT: cf.yield ()
// CHECK: %kk = pd.while (%zero) cond
// CHECK: pd.inplace_add ([[COPY]], %x)
%k4, %deep = pd.while (%zero, %zeros) cond (%i, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %a)
} body (%i, %a) {
  %odd = pd.equal (%i, %one)
  %r = pd.if (%odd) then {
    %more = pd.add (%a, %x)
    cf.yield (%more)
  } else {
    cf.yield (%a)
  }
  %kk, %inner = pd.while (%zero, %r) cond (%j, %b) {
    %go = pd.less_than (%j, %i)
    cf.cond_yield (%go, %j, %b)
  } body (%j, %b) {
    %b_next = pd.add (%b, %x)
    %j_next = pd.add (%j, %one)
    cf.yield (%j_next, %b_next)
  }
  %i_next = pd.add (%i, %one)
  cf.yield (%i_next, %inner)
}

// What is added must not change the type, and an input is not changed.
// CHECK: [[X:%x_1]] = pd.assign (%x)
// CHECK: %k5, %wide = pd.while
// CHECK: pd.inplace_add ([[X]], %zeros)
// CHECK: %w_next = pd.add (%w, %x)
%k5, %wide, %from_x = pd.while (%zero, %zeros, %x) cond (%i, %w, %a) {
  %go = pd.less_than (%i, %n)
  cf.cond_yield (%go, %i, %w, %a)
} body (%i, %w, %a) {
  %a_next = pd.add (%a, %zeros)
  %w_next = pd.add (%w, %x)
  %w_now = pd.assign (%w_next)
  %i_next = pd.add (%i, %one)
  cf.yield (%i_next, %w_now, %a_next)
}
// CHECK: pd.fetch ([[SUM]]) {name = "sum"}
// CHECK: pd.fetch ([[COPY]]) {name = "deep"}
// CHECK: pd.fetch ([[X]]) {name = "from_x"}
// CHECK: pd.fetch (%zeros) {name = "zeros"}
pd.fetch (%read) {name = "read"}
pd.fetch (%printed) {name = "printed"}
pd.fetch (%pushed) {name = "pushed"}
pd.fetch (%this) {name = "this"}
pd.fetch (%that) {name = "that"}
pd.fetch (%stop) {name = "stop"}
pd.fetch (%sum) {name = "sum"}
pd.fetch (%forgotten) {name = "forgotten"}
pd.fetch (%deep) {name = "deep"}
pd.fetch (%wide) {name = "wide"}
pd.fetch (%from_x) {name = "from_x"}
pd.fetch (%zeros) {name = "zeros"}
