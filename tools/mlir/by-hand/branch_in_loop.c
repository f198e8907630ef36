#include <math.h>
#include <stdlib.h>

double f(double x, long n) {
  double a = 1.0;
  for (long i = 0; i < n; i++) a = a > 2.0 ? sqrt(a) * x : exp(x) * a;
  return a;
}

double f_grad(double x, long n, double *gradients) {
  double *record = (double *)malloc(n * sizeof *record), a = 1.0, power = exp(x);
  for (long i = 0; i < n; i++) {
    record[i] = a;
    a = a > 2.0 ? sqrt(a) * x : power * a;
  }
  double adjoint = 1.0, adjoint_x = 0.0, adjoint_power = 0.0;
  for (long i = n; i-- > 0;) {
    double before = record[i];
    if (before > 2.0) {
      double root = sqrt(before);
      adjoint_x += adjoint * root;
      adjoint = adjoint * x * 0.5 / root;
    } else {
      adjoint_power += adjoint * before;
      adjoint *= power;
    }
  }
  free(record);
  gradients[0] = adjoint_x + adjoint_power * power;
  return a;
}
