%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%y = pd.tahn (%x) // expected-error {{there is no operation `pd.tahn`}}

// -----

// expected-error-re@+2 {{the operand `{{[xy]}}` is missing}}
%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
%z = pd.add (%x)

// -----

%x = pd.data {name = "x", shape = [4], dtype = f32} : tensor<4xf32>
// expected-warning@below {{that is never reported}}
%z = pd.fecth (%x)
