// RUN: not pir-opt --emit=paddle-json %s 2>&1 | FileCheck %s
// CHECK: :5:6: error: `pd.any` cannot be written for PaddlePaddle: `axis` is computed, but is an attribute in PaddlePaddle
%x = pd.data {name = "x", shape = [2, 3], dtype = i1} : tensor<2x3xi1>
%k = pd.data {name = "k", shape = [1], dtype = i64} : tensor<1xi64>
%o = pd.any (%x, %k) {keepdim = true} : tensor<?x?xi1>
pd.fetch (%o) {name = "o"}
