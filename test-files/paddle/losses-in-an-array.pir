// RUN: pir-opt --pass=backward %S/inputs/losses_in_an_array.json | pir-run - --input x=[0.3,0.5] | FileCheck %s
// RUN: pir-opt --pass=backward --emit=paddle-json %S/inputs/losses_in_an_array.json -o %t.json
// RUN: pir-run %t.json --input x=[0.3,0.5] | FileCheck %s
// An array of scalars, of whose elements PaddlePaddle's saved program says that they are vectors. Numbers of its eager mode.
// CHECK: y = {{.*}} 1.0221338650150
// CHECK: x_grad = {{.*}} [0.0029388837172460{{[0-9]*}}, 0.102577435167409{{[0-9]*}}]
