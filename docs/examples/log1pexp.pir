// log(1 + e^x), whose derivative is no quotient of infinities where x is large
func.func private @log1pexp(%x: tensor<?xf32>) -> tensor<?xf32> attributes {custom_vjp = @log1pexp_vjp} {
  %e = pd.exp (%x) : tensor<?xf32>
  %s = pd.scale (%e) {bias = 1.0} : tensor<?xf32>
  %y = pd.log (%s) : tensor<?xf32>
  func.return (%y)
}
func.func private @log1pexp_vjp(%x: tensor<?xf32>, %y: tensor<?xf32>, %y_grad: tensor<?xf32>) -> tensor<?xf32> {
  %s = pd.sigmoid (%x) : tensor<?xf32>
  %x_grad = pd.multiply (%s, %y_grad) : tensor<?xf32>
  func.return (%x_grad)
}
%x = pd.data {name = "x", shape = [2], dtype = f32} : tensor<2xf32>
%y = func.call @log1pexp (%x) : tensor<2xf32>
pd.fetch (%y) {name = "y"}
