// Complex numbers have PaddlePaddle's convention in its programs: the cotangent of z is the derivative by its real part plus i times
// that by its imaginary part. The gradient of |z|^2 is 2z.
// RUN: pir-opt --pass='backward{of=[l], wrt=[z, x]}' %s | pir-run - --input z=[1+2j,0.5-1j] --input x=[1.0,2.0,4.0] | FileCheck %s
// RUN: pir-opt --pass='backward{of=[l], wrt=[z, x], twins=true}' %s | pir-run - --input z=[1+2j,0.5-1j] --input x=[1.0,2.0,4.0] | FileCheck %s
// RUN: pir-opt --pass='backward{of=[l], wrt=[z, x]}' --emit=paddle-json %s | FileCheck %s --check-prefix=WRITTEN
%z = pd.data {name = "z", shape = [2], dtype = complex<f64>}
%x = pd.data {name = "x", shape = [3], dtype = f64}
%c = pd.conj (%z) : tensor<2xcomplex<f64>>
%s = pd.multiply (%z, %c)
%r = pd.real (%s) : tensor<2xf64>
%a = pd.sum (%r)
%f = pd.fft_r2c (%x) {axes = [0], normalization = "backward", forward = true, onesided = true} : tensor<2xcomplex<f64>>
%p = pd.as_real (%f) : tensor<2x2xf64>
%q = pd.square (%p)
%b = pd.sum (%q)
%l = pd.add (%a, %b)
pd.fetch (%l) {name = "l"}
pd.fetch (%f) {name = "f"}

// CHECK: z_grad = tensor<2xcomplex<f64>> [(2, 4), (1, -2)]
// CHECK: x_grad = tensor<3xf64> [10.0000000000000{{[0-9]+}}, 12.99999999999999{{[0-9]+}}, 19]
// WRITTEN: fft_r2c_grad
