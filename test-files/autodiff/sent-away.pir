// RUN: not pir-opt --pass=backward %s 2>&1 | FileCheck %s

// What another process gets has its cotangent there.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%c = pd.exp (%x) : tensor<4xf32>
pd.send_v2 (%c) {peer = 1}
%d = pd.recv_v2 () {out_shape = [4], peer = 1} : tensor<4xf32>
%e = pd.add (%c, %d) : tensor<4xf32>
pd.fetch (%e) {name = "e"}

// CHECK: `pd.send_v2` sends what depends on an input to another process, from which no cotangent comes back
