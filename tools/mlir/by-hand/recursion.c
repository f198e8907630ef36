#include <math.h>

double f(double x, long n) {
  if (n <= 0) return sin(x);
  return f(cos(x * 0.5), n - 1) * x;
}

// The value, and the derivative of it in `x`: the adjoint of the call is multiplied by `x` on the way back.
static double value_and_derivative(double x, long n, double *derivative) {
  if (n <= 0) {
    *derivative = cos(x);
    return sin(x);
  }
  double inner, value = value_and_derivative(cos(x * 0.5), n - 1, &inner);
  *derivative = value - inner * x * sin(x * 0.5) * 0.5;
  return value * x;
}

double f_grad(double x, long n, double *gradients) { return value_and_derivative(x, n, gradients); }
