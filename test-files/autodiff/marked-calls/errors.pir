// RUN: pir-opt --split-input-file --verify-diagnostics %s
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error@+2 {{a call names @fvjp as its derivative, which is not defined}}
  // expected-help@+1 {{did you mean `@f.vjp`?}}
  %y = func.call @f (%x) {pir.vjp = @fvjp} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
func.func private @f.vjp(%x: tensor<2xf64>, %g: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%g)
}
// -----
// The cotangents of all results are expected, those of all operands are returned.
func.func @main(%x: tensor<2xf64>, %n: tensor<i64>) -> tensor<2xf64> {
  // expected-error@+2 {{@f.vjp does not have the signature of a derivative of this call}}
  // expected-help@+1 {{it must take the operands and the cotangents of all results, and return the cotangents of all operands: (tensor<2xf64>, tensor<i64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>)}}
  %y = func.call @f (%x, %n) {pir.vjp = @f.vjp} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%x: tensor<2xf64>, %n: tensor<i64>) -> tensor<2xf64> {
  func.return (%x)
}
// expected-note@+1 {{(tensor<2xf64>, tensor<i64>, tensor<2xf64>) -> (tensor<2xf64>) there}}
func.func private @f.vjp(%x: tensor<2xf64>, %n: tensor<i64>, %g: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%g)
}
// -----
// A cotangent of another type.
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error@+1 {{@f.vjp does not have the signature of a derivative of this call}}
  %y = func.call @f (%x) {pir.vjp = @f.vjp} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
// expected-note@+1 {{there}}
func.func private @f.vjp(%x: tensor<2xf64>, %g: tensor<2xf32>) -> tensor<2xf64> {
  func.return (%x)
}
// -----
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error@+2 {{the attribute `pir.vjp` of `func.call` must be a symbol, but is the string `"f.vjp"`}}
  // expected-help@+1 {{@name}}
  %y = func.call @f (%x) {pir.vjp = "f.vjp"} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
// -----
// Such a mark elsewhere, or misspelled, would be a wrong derivative.
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error@+1 {{the mark `pd.tanh` is not permitted on `pir.stop_gradient`}}
  %y = pd.tanh (%x) {pir.stop_gradient} : tensor<2xf64>
  // expected-error@+2 {{`func.call` has no attribute `pir.stop_gradients`}}
  // expected-help@+1 {{did you mean `pir.stop_gradient`?}}
  %z = func.call @f (%y) {pir.stop_gradients} : tensor<2xf64>
  func.return (%z)
}
func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
