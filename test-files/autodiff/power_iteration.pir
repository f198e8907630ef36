// RUN: pir-opt --pass=backward %s | FileCheck %s
// Power iteration: a product, and a division by its norm.
%n = pd.data {name = "n", shape = [1], dtype = i64} : tensor<1xi64>
%zero = pd.full {shape = [1], value = 0, dtype = i64} : tensor<1xi64>
%one = pd.full {shape = [1], value = 1, dtype = i64} : tensor<1xi64>
%m = pd.data {name = "m", shape = [3, 3], dtype = f64} : tensor<3x3xf64>
%v0 = pd.data {name = "v", shape = [3, 1], dtype = f64} : tensor<3x1xf64>
%i_end, %v_end = pd.while (%zero, %v0) cond (%i: tensor<1xi64>, %v: tensor<3x1xf64>) {
  %go = pd.less_than (%i, %n) : tensor<1xi1>
  cf.cond_yield (%go, %i, %v)
} body (%i_b: tensor<1xi64>, %v_b: tensor<3x1xf64>) {
  %p = pd.matmul (%m, %v_b) : tensor<3x1xf64>
  %sq = pd.multiply (%p, %p) : tensor<3x1xf64>
  %ss = pd.sum (%sq) : tensor<f64>
  %norm = pd.sqrt (%ss) : tensor<f64>
  %unit = pd.divide (%p, %norm) : tensor<3x1xf64>
  %next = pd.add (%i_b, %one) : tensor<1xi64>
  cf.yield (%next, %unit)
} : tensor<1xi64>, tensor<3x1xf64>
%mv = pd.matmul (%m, %v_end) : tensor<3x1xf64>
%vmv = pd.multiply (%v_end, %mv) : tensor<3x1xf64>
%loss = pd.sum (%vmv) : tensor<f64>
pd.fetch (%loss) {name = "loss"}
// CHECK: pd.while_grad
// CHECK: pd.fetch {{.*}} {name = "m_grad"}
