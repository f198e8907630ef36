// RUN: pir-run %s --input x=[1,2] | FileCheck %s
// RUN: not pir-run %s --input x=[1,-2] 2>&1 | FileCheck %s --check-prefix=ENDS
%x = pd.data {name = "x", shape = [2], dtype = f64}
%zero = pd.full {shape = [2], value = 0.0, dtype = f64}
%p = pd.greater_than (%x, %zero)
%all = pd.all (%p)
%list = builtin.combine (%x)
pd.assert (%all, %list)
pd.fetch (%x) {name = "x"}

// CHECK: x = tensor<2xf64> [1, 2]
// ENDS: the condition is false, for tensor<2xf64> [1, -2]
