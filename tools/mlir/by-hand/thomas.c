#include <math.h>
#include <stdlib.h>

double f(double a, double b, long n) {
  double *c = (double *)malloc(n * sizeof *c), *d = (double *)malloc(n * sizeof *d), diagonal = a * a + 4.0, sum = 0.0;
  c[0] = b / diagonal;
  d[0] = 1.0 / diagonal;
  for (long i = 1; i < n; i++) {
    double m = diagonal - a * c[i - 1];
    c[i] = b / m;
    d[i] = (cos((double)(int)i) - a * d[i - 1]) / m;
  }
  for (long i = n - 2; i >= 0; i--) d[i] -= c[i] * d[i + 1];
  for (long i = 0; i < n; i++) sum += d[i] * d[i];
  free(c);
  free(d);
  return sum;
}

double f_grad(double a, double b, long n, double *gradients) {
  // `e` is `d` before it is overwritten, `m` the pivots.
  double *c = (double *)malloc(n * sizeof *c), *d = (double *)malloc(n * sizeof *d), *e = (double *)malloc(n * sizeof *e), *m = (double *)malloc(n * sizeof *m);
  double *to_c = (double *)malloc(n * sizeof *to_c), *to_d = (double *)malloc(n * sizeof *to_d), diagonal = a * a + 4.0, sum = 0.0;
  m[0] = diagonal;
  c[0] = b / diagonal;
  e[0] = 1.0 / diagonal;
  for (long i = 1; i < n; i++) {
    m[i] = diagonal - a * c[i - 1];
    c[i] = b / m[i];
    e[i] = (cos((double)(int)i) - a * e[i - 1]) / m[i];
  }
  d[n - 1] = e[n - 1];
  for (long i = n - 2; i >= 0; i--) d[i] = e[i] - c[i] * d[i + 1];
  for (long i = 0; i < n; i++) sum += d[i] * d[i];
  double to_a = 0.0, to_b = 0.0, to_diagonal = 0.0, carried = 0.0;
  for (long i = 0; i < n; i++) {
    to_d[i] = 2.0 * d[i] + carried;
    to_c[i] = i < n - 1 ? -to_d[i] * d[i + 1] : 0.0;
    carried = -to_d[i] * c[i];
  }
  for (long i = n - 1; i >= 0; i--) {
    double to_m = -(to_d[i] * e[i] + to_c[i] * c[i]) / m[i];
    to_b += to_c[i] / m[i];
    to_diagonal += to_m;
    if (i > 0) {
      double to_rest = to_d[i] / m[i];
      to_a -= to_m * c[i - 1] + to_rest * e[i - 1];
      to_c[i - 1] -= to_m * a;
      to_d[i - 1] -= to_rest * a;
    }
  }
  double *all[] = {c, d, e, m, to_c, to_d};
  for (int i = 0; i < 6; i++) free(all[i]);
  gradients[0] = to_a + to_diagonal * 2.0 * a;
  gradients[1] = to_b;
  return sum;
}
