// RUN: not pir-opt --emit=paddle-json %s 2>&1 | expected-errors %s
// PaddlePaddle's executor knows no lists that branches yield or loops carry: it stops when it runs such a program.
%x = pd.data {name = "x", shape = [2], dtype = f64} : tensor<2xf64>
%c = pd.data {name = "c", shape = [], dtype = i1} : tensor<i1>
%e = pd.exp (%x) : tensor<2xf64>
%l = builtin.combine (%x, %e) : vec<tensor<2xf64>, tensor<2xf64>>
// expected-error@+1 {{the lists that `pd.if` forwards cannot be written for PaddlePaddle}}
%r = pd.if (%c) then {
  cf.yield (%l)
} else {
  %m = builtin.combine (%e, %x) : vec<tensor<2xf64>, tensor<2xf64>>
  cf.yield (%m)
} : vec<tensor<2xf64>, tensor<2xf64>>
// expected-error@+1 {{the lists that `pd.while` forwards cannot be written for PaddlePaddle}}
%w = pd.while (%r) cond (%a: vec<tensor<2xf64>, tensor<2xf64>>) {
  %more = pd.assign (%c) : tensor<i1>
  cf.cond_yield (%more, %a)
} body (%b: vec<tensor<2xf64>, tensor<2xf64>>) {
  cf.yield (%b)
} : vec<tensor<2xf64>, tensor<2xf64>>
%p, %q = builtin.split (%w) : tensor<2xf64>, tensor<2xf64>
%y = pd.add (%p, %q) : tensor<2xf64>
pd.fetch (%y) {name = "y"}
