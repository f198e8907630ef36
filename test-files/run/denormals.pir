// Subnormal numbers become zeros unless they are to stay.
// RUN: pir-run %s --input x=[1e-39,-1e-39,2e-38] | FileCheck %s --check-prefixes=FLUSH
// RUN: pir-run %s --denormals=keep --input x=[1e-39,-1e-39,2e-38] | FileCheck %s --check-prefixes=KEEP
// RUN: pir-run --dataflow %s --input x=[1e-39,-1e-39,2e-38] | FileCheck %s --check-prefixes=FLUSH
%x = pd.data {name = "x", shape = [3], dtype = f32} : tensor<3xf32>
%half = pd.full {shape = [], value = 0.5, dtype = f32} : tensor<f32>
%ratio = pd.divide (%x, %x)
%y = pd.multiply (%x, %half)
%z = pd.cast (%y) {dtype = f64}
pd.fetch (%ratio) {name = "ratio"}
pd.fetch (%y) {name = "y"}
pd.fetch (%z) {name = "z"}
// FLUSH: ratio = {{.*}} [NaN, NaN, 1]
// FLUSH: y = {{.*}} [0, -0, 0]
// KEEP: ratio = {{.*}} [1, 1, 1]
// KEEP: y = {{.*}} [5{{.*}}e-40, -5{{.*}}e-40, 1e-38]
