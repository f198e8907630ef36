// RUN: pir-opt %s | FileCheck %s
// RUN: pir-opt --print-generic %s | pir-opt - | FileCheck %s
// RUN: pir-opt --pass=backward %s | pir-opt --pass=strip-backward - | FileCheck %s --check-prefix=STRIPPED
// RUN: pir-opt --pass=backward %s | pir-opt --print-generic - | pir-opt --pass=strip-backward - | FileCheck %s --check-prefix=STRIPPED

// Names with a dot are free; marks survive pipes.
// CHECK: %x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
// CHECK-NEXT: %y = pd.scale (%x) {scale = 3.0, my.note = "kept", my.flag, my.nested = {a = [1, 2]}} : tensor<2xf32>
// STRIPPED: %y = pd.scale (%x) {scale = 3.0, my.note = "kept", my.flag, my.nested = {a = [1, 2]}} : tensor<2xf32>
// STRIPPED-NEXT: pd.fetch (%y) {name = "y"}
// STRIPPED-NOT: {{.}}
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%y = pd.scale (%x) {scale = 3.0, my.note = "kept", my.flag, my.nested = {a = [1, 2]}} : tensor<2xf32>
pd.fetch (%y) {name = "y"}
