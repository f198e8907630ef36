// RUN: not pir-opt %s 2>&1 | expected-errors %s
// The mistakes of docs/testing.md.
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tahn (%x)  // expected-error {{there is no operation `pd.tahn`}}
// expected-error-re@+1 {{the operand `{{[xy]}}` is missing}}
%z = pd.add (%x)
