// RUN: pir-opt --pass=backward %s | pir-run - --input 'x=[3]' | FileCheck %s
// RUN: pir-opt -O3 %s | pir-opt --pass=backward - | pir-run - --input 'x=[3]' | FileCheck %s
// RUN: pir-opt --pass=canonicalize,cse,licm,sink,dce,backward,decompose,canonicalize %s | pir-run - --input 'x=[3]' | FileCheck %s
// RUN: pir-opt --pass=jvp %s | pir-run - --input 'x=[3]' --input 'x_tangent=[1]' | FileCheck --check-prefix=TANGENT %s
// RUN: pir-run --eager-grad %s --input 'x=[3]' | FileCheck %s
// A detached value is no derivative's business, and no pass takes it for the value itself: (d/dx) x * stop(x) = x.
%x = pd.data {name = "x", shape = [1], dtype = f64} : tensor<1xf64>
%d = pd.detach (%x) : tensor<1xf64>
%y = pd.multiply (%x, %d) : tensor<1xf64>
// CHECK: x_grad = tensor<1xf64> [3]
// TANGENT: y_tangent = tensor<1xf64> [3]
pd.fetch (%y) {name = "y"}
