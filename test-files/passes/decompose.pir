// RUN: pir-opt --pass=decompose %s | FileCheck %s
// RUN: pir-opt --pass=decompose %s | pir-run - --input x=rand --input g=rand --input like=[1,2,3,4,5,6] --seed 3 > %t.after
// RUN: pir-run %s --input x=rand --input g=rand --input like=[1,2,3,4,5,6] --seed 3 | diff %t.after -
%x = pd.data {name = "x", shape = [3], dtype = f64}
%g = pd.data {name = "g", shape = [3], dtype = f64}

// CHECK: %[[SQ:.*]] = pd.square (%x)
// CHECK: %[[D:.*]] = pd.scale (%[[SQ]]) {scale = -1.0, bias = 1.0
// CHECK: %tanh = pd.multiply (%g, %[[D]])
%tanh = pd.tanh_grad (%x, %g)
pd.fetch (%tanh) {name = "tanh"}

// CHECK: %[[POSITIVE:.*]] = pd.greater_than (%x,
// CHECK: %relu = pd.where (%[[POSITIVE]], %g,
%relu = pd.relu_grad (%x, %g)
pd.fetch (%relu) {name = "relu"}

// A constant has derivative zero, at zero too.
// CHECK: %constant = pd.full {shape = [3], value = 0.0
%constant = pd.pow_grad (%x, %g) {y = 0.0}
pd.fetch (%constant) {name = "constant"}

// CHECK: %slice = pd.pad (%g) {paddings = [1, 2], pad_value = 0.0}
%slice = pd.slice_grad (%g) {axes = [0], starts = [1], ends = [-2], x_shape = [6]}
pd.fetch (%slice) {name = "slice"}

// Of two that are equal each gets half.
// CHECK-NOT: _grad
%left, %right = pd.maximum_grad (%x, %x, %g)
pd.fetch (%left) {name = "left"}
pd.fetch (%right) {name = "right"}

// Without a static shape there are no paddings to write.
// CHECK: %unknown = pd.slice_grad
%like = pd.data {name = "like", shape = [-1], dtype = f64}
%unknown = pd.slice_grad (%g, %like) {axes = [0], starts = [1], ends = [4]}
