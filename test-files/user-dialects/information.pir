// Loaded operations are listed, described and completed.
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --list-ops | FileCheck %s --check-prefix=LIST
// LIST: my.geglu {{ *}}gelu(gate) · value, and gelu(gate)
// LIST: my.softcap {{ *}}cap · tanh(x / cap), element by element
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --show-op my.smooth | FileCheck %s --check-prefix=SHOW
// SHOW: %out: Tensor = my.smooth (%x: Tensor) {cap: double = 2.0}
// SHOW: effects: {{ *}}none
// SHOW-NEXT: speculatable: if its composition is, which depends on the types
// SHOW: computes
// SHOW-NEXT: %c = my.softcap (%x) {cap = $cap}
// SHOW: vjp
// RUN: not pir-opt --load-dialect %S/inputs/my.yaml --show-op my.smoth 2>&1 | FileCheck %s --check-prefix=NEAR
// NEAR: did you mean `my.smooth`?
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --completions bash | FileCheck %s --check-prefix=BASH
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --completions zsh | FileCheck %s --check-prefix=BASH
// RUN: pir-opt --load-dialect %S/inputs/my.yaml --completions fish | FileCheck %s --check-prefix=BASH
// BASH: my.softcap

// A reproducer names the file.
// RUN: not pir-opt --load-dialect %S/inputs/my.yaml --pass=debug-fail --emit-reproducer=%t.pir %s
// RUN: not pir-opt --run-reproducer %t.pir 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: debug-fail
// RUN: FileCheck %s --check-prefix=CONFIGURATION --input-file=%t.pir
// CONFIGURATION: --load-dialect='{{.*}}my.yaml'
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
%y = my.softcap (%x)
pd.fetch (%y) {name = "y"}
