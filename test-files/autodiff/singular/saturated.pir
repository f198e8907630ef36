// RUN: pir-opt --pass=backward %s | pir-run - --input 'z=[200,-200]' --input 'l=[1,0]' | FileCheck %s
// RUN: pir-run --eager-grad %s --input 'z=[200,-200]' --input 'l=[1,0]' | FileCheck %s
// The probability is certain, and right.
%z = pd.data {name = "z", shape = [2], dtype = f32}
%l = pd.data {name = "l", shape = [2], dtype = f32, stop_gradient = true}
%x = pd.sigmoid (%z)
%y = pd.bce_loss (%x, %l)
pd.fetch (%y) {name = "y"}
// CHECK: z_grad = tensor<2xf32> [{{-?}}0, {{-?}}0]
