// RUN: not pir-opt --pass=backward{seed=args} %s 2>&1 | FileCheck %s
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.tanh (%x) : tensor<2xf64>
pd.fetch (%y) {name = "y"}

// CHECK: error: operations at top level have no arguments for cotangents [seed-arguments]
// CHECK: help: give numbers, values or names of inputs as seeds
