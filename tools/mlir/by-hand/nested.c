#include <math.h>
#include <stdlib.h>

double f(double x, long n) {
  double a = 1.0;
  for (long i = 0; i < n; i++) {
    double b = a;
    for (long j = 0; j < i; j++) b += tanh(b) * x;
    a *= b;
  }
  return a;
}

double f_grad(double x, long n, double *gradients) {
  // The inner loops execute 0 + 1 + … + (n - 1) iterations.
  double *tanhs = (double *)malloc((n * (n - 1) / 2 + 1) * sizeof *tanhs), *tops = (double *)malloc(n * sizeof *tops), *outer = (double *)malloc(n * sizeof *outer);
  double a = 1.0;
  long at = 0;
  for (long i = 0; i < n; i++) {
    double b = outer[i] = a;
    for (long j = 0; j < i; j++) b += (tanhs[at++] = tanh(b)) * x;
    tops[i] = b;
    a *= b;
  }
  double adjoint = 1.0, adjoint_x = 0.0;
  for (long i = n; i-- > 0;) {
    double adjoint_b = adjoint * outer[i];
    adjoint *= tops[i];
    for (long j = i; j-- > 0;) {
      double t = tanhs[--at];
      adjoint_x += adjoint_b * t;
      adjoint_b += adjoint_b * x * (1.0 - t * t);
    }
    adjoint += adjoint_b;
  }
  free(tanhs);
  free(tops);
  free(outer);
  gradients[0] = adjoint_x;
  return a;
}
