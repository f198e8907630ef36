// RUN: pir-opt --pass=backward %s | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-run - --input x=[1.0,2.0] | FileCheck --check-prefix=VALUES %s
// RUN: pir-run %s --eager-grad --input x=[1.0,2.0] | FileCheck --check-prefix=VALUES %s
// An axis that is not given is the first one: no tensor stands in its place.

%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%y = pd.scale (%x) {scale = 3.0} : tensor<2xf64>
%both = pd.concat (%x, %y) : tensor<4xf64>
%squares = pd.square (%both) : tensor<4xf64>
pd.fetch (%squares) {name = "squares"}

// CHECK: pd.concat (%x, %y) :
// CHECK: pd.slice ({{.*}}) {axes = [0], starts = [2], ends = [4]}
// VALUES: squares = tensor<4xf64> [1, 4, 9, 36]
// VALUES: x_grad = tensor<2xf64> [20, 40]
