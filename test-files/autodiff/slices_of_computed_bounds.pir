// The derivative of a strided slice with computed bounds, forwards and backwards, and that of its derivative, by differences.
// RUN: pir-run --check-grad %s --input x=[[1,2,3,4,5],[-1,0.5,2,7,-3]] | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run --check-grad - --input x=[[1,2,3,4,5],[-1,0.5,2,7,-3]] | FileCheck %s
// CHECK: x{{ +}}10{{.*}} ok
%x = pd.data {name = "x", shape = [2, 5], dtype = f64} : tensor<2x5xf64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%size = pd.shape64 (%x) : tensor<2xi64>
%last = pd.slice (%size) {axes = [0], starts = [1], ends = [2]} : tensor<1xi64>
%cubes = pd.pow (%x) {y = 3.0} : tensor<2x5xf64>
%part = pd.strided_slice (%cubes, %one, %last) {axes = [1], strides = [2]} : tensor<2x?xf64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%turned = pd.strided_slice (%cubes, %last, %zero) {axes = [1], strides = [-1]} : tensor<2x?xf64>
%a = pd.sum (%part) : tensor<f64>
%squares = pd.multiply (%turned, %turned) : tensor<2x?xf64>
%b = pd.sum (%squares) : tensor<f64>
%y = pd.add (%a, %b) : tensor<f64>
pd.fetch (%y) {name = "y"}
