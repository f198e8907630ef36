// RUN: pir-opt --pass=backward --split-input-file --verify-diagnostics %s
// The derivative of the call is refused for its first operand, and the program needs it.
func.func @main(%n: tensor<2xf64>, %x: tensor<2xf64>) -> tensor<2xf64> {
  // expected-error@+4 {{cannot differentiate `func.call`: `@f` has no derivative with respect to operand 0}}
  // expected-note@+3 {{it is reached from an input by %n}}
  // expected-note@+2 {{in the pass}}
  // expected-help@+1 {{compute it with other operations}}
  %y = func.call @f (%n, %x) {pir.vjp = @f.vjp, pir.no_vjp = [0]} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%n: tensor<2xf64>, %x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
func.func private @f.vjp(%n: tensor<2xf64>, %x: tensor<2xf64>, %g: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  func.return (%g, %g)
}
// -----
// A constant needs none.
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  %n = pd.full {shape = [2], value = 2.0, dtype = f64} : tensor<2xf64>
  %y = func.call @f (%n, %x) {pir.vjp = @f.vjp, pir.no_vjp = [0]} : tensor<2xf64>
  func.return (%y)
}
func.func private @f(%n: tensor<2xf64>, %x: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%x)
}
func.func private @f.vjp(%n: tensor<2xf64>, %x: tensor<2xf64>, %g: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  func.return (%g, %g)
}
