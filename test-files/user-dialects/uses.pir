// Uses of loaded operations are checked: names, attributes, types; with the place in the file where a program does not fit.
// RUN: not pir-opt --load-dialect %S/inputs/my.yaml %s 2>&1 | expected-errors %s
// expected-note@+1 {{%x is `tensor<3xf64>`}}
%x = pd.data {name = "x", shape = [3], dtype = f64} : tensor<3xf64>
// expected-note@+1 {{%y is `tensor<2x3xf32>`}}
%y = pd.data {name = "y", shape = [2, 3], dtype = f32} : tensor<2x3xf32>
// expected-error@+2 {{there is no operation `my.sofcap`}}
// expected-help@+1 {{did you mean `my.softcap`?}}
%a = my.sofcap (%x)
// expected-error@+2 {{`my.softcap` has no attribute `cp`}}
// expected-help@+1 {{did you mean `cap`?}}
%b = my.softcap (%x) {cp = 2.0}
// expected-error@+1 {{in `computes` of `my.geglu` (}}
%c, %d = my.geglu (%x, %y)
