// RUN: pir-run %s --input x=[[1,2,2],[0,3,4]] --input w=[1,2,3] | FileCheck %s
// RUN: pir-opt --pass='backward{of=y}' %s | pir-run - --input x=[[1,2,2],[0,3,4]] --input w=[1,2,3] | FileCheck %s --check-prefix=GRADIENT

// Each row is divided by the root of the mean of its squares: the root of 3 with the small number that is added, and of 25/3.
%x = pd.data {name = "x", shape = [2, 3], dtype = f64} : tensor<2x3xf64>
%w = pd.data {name = "w", shape = [3], dtype = f64} : tensor<3xf64>
%y, %inverse = pd.rms_norm (%x, %w) {normalized_shape = [3], epsilon = 0.0} : tensor<2x3xf64>, tensor<2xf64>
pd.fetch (%y) {name = "y"}
pd.fetch (%inverse) {name = "inverse"}

// CHECK: y = tensor<2x3xf64> {{\[\[}}0.57735{{.*}}, 2.30940{{.*}}, 3.46410{{.*}}], [0, 2.0784609{{.*}}, 4.1569219{{.*}}]]
// CHECK: inverse = tensor<2xf64> [0.57735{{.*}}, 0.346410{{.*}}]
// GRADIENT: x_grad = tensor<2x3xf64> {{\[\[}}-0.12830{{.*}}, -0.25660{{.*}}, 0.32075{{.*}}], [0.346410{{.*}}, -0.055425{{.*}}, 0.041569{{.*}}]]
// GRADIENT: w_grad = tensor<3xf64> [0.57735{{.*}}, 2.19393{{.*}}, 2.54034{{.*}}]
