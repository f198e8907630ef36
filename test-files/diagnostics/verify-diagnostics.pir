// RUN: pir-opt --verify-diagnostics --split-input-file %s
// RUN: not pir-opt --verify-diagnostics %s 2>&1 | FileCheck --check-prefix=WHOLE %s
// Each part is a program of its own; as one they share the names of their values.
// WHOLE: unexpected: {{.*}}`%x`
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tahn (%x)  // expected-error {{there is no operation `pd.tahn`}}

// -----

// expected-error-re@+2 {{the operand `{{[xy]}}` is missing}}
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%z = pd.add (%x)

// -----

%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%z = pd.fecth (%x)
// expected-error@above {{there is no operation `pd.fecth`}}
