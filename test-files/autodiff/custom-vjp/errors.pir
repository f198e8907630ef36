// RUN: pir-opt --split-input-file --verify-diagnostics %s
// expected-error@+2 {{@f names @fvjp as its derivative, which is not defined in the same region}}
// expected-help@+1 {{did you mean `@f_vjp`?}}
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = @fvjp} {
  func.return (%x)
}
func.func @f_vjp(%x: tensor<2xf64>, %y: tensor<2xf64>, %g: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%g)
}
// -----
// expected-error@+1 {{@f_vjp does not have the signature of a derivative of @f}}
func.func @f(%x: tensor<2xf64>, %i: tensor<i64>) -> tensor<2xf64> attributes {custom_vjp = @f_vjp} {
  func.return (%x)
}
// expected-note@+1 {{(tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>) there}}
func.func @f_vjp(%x: tensor<2xf64>, %y: tensor<2xf64>, %g: tensor<2xf64>) -> tensor<2xf64> {
  func.return (%g)
}
// -----
// expected-error@+2 {{@f does not have the signature of a derivative of @f}}
// expected-note@+1 {{(tensor<2xf64>) -> (tensor<2xf64>) there}}
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = @f} {
  func.return (%x)
}
// -----
// expected-error@+1 {{@f_vjp does not have the signature of a derivative of @f}}
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = @f_vjp} {
  func.return (%x)
}
// The cotangent of another shape.
// expected-note@+1 {{(tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<f64>) there}}
func.func @f_vjp(%x: tensor<2xf64>, %y: tensor<2xf64>, %g: tensor<2xf64>) -> tensor<f64> {
  %s = pd.sum (%g) : tensor<f64>
  func.return (%s)
}
// -----
// expected-error@+1 {{@f has a `custom_vjp`, but no float operand or result}}
func.func @f(%x: tensor<2xi64>) -> tensor<2xi64> attributes {custom_vjp = @f} {
  func.return (%x)
}
// -----
// expected-error@+1 {{@f has a `custom_vjp`, but there are no cotangents of type f32}}
func.func @f(%x: f32) -> f32 attributes {custom_vjp = @f} {
  func.return (%x)
}
// -----
// expected-error@+1 {{must be a symbol, but is the string `"g"`}}
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = "g"} {
  func.return (%x)
}
// -----
// expected-error@+1 {{@m does not have the signature of a derivative of @f}}
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> attributes {custom_vjp = @m} {
  func.return (%x)
}
// expected-note@+1 {{this is not a function}}
builtin.module @m {
}
