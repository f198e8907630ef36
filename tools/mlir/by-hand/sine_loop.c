#include <math.h>
#include <stdlib.h>

double f(double x, long n) {
  double acc = 1.0;
  for (long i = 0; i < n; i++) acc += sin(acc) * x;
  return acc;
}

double f_grad(double x, long n, double *gradients) {
  double *record = (double *)malloc(n * sizeof *record), acc = 1.0;
  for (long i = 0; i < n; i++) {
    record[i] = acc;
    acc += sin(acc) * x;
  }
  double adjoint = 1.0, adjoint_x = 0.0;
  for (long i = n; i-- > 0;) {
    adjoint_x += adjoint * sin(record[i]);
    adjoint += adjoint * x * cos(record[i]);
  }
  free(record);
  gradients[0] = adjoint_x;
  return acc;
}
