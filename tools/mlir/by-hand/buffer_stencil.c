#include <math.h>
#include <stdlib.h>
#include <string.h>

double f(double x, double y, long n) {
  double a[8], b[8];
  for (long i = 0; i < 8; i++) {
    a[i] = cos(x * (double)i);
    b[i] = y;
  }
  for (long t = 0; t < n; t++) {
    for (long i = 1; i < 7; i++) b[i] = (a[i - 1] * a[i + 1] + a[i]) * 0.5;
    memcpy(a, b, sizeof a);
  }
  return a[1] * a[7] + a[1];
}

double f_grad(double x, double y, long n, double *gradients) {
  double a[8], b[8], (*record)[8] = (double (*)[8])malloc(n * sizeof *record);
  for (long i = 0; i < 8; i++) {
    a[i] = cos(x * (double)i);
    b[i] = y;
  }
  for (long t = 0; t < n; t++) {
    memcpy(record[t], a, sizeof a);
    for (long i = 1; i < 7; i++) b[i] = (a[i - 1] * a[i + 1] + a[i]) * 0.5;
    memcpy(a, b, sizeof a);
  }
  double adjoint[8] = {0}, edges[2] = {0}, adjoint_x = 0.0;
  adjoint[1] = a[7] + 1.0;
  adjoint[7] = a[1];
  for (long t = n; t-- > 0;) {
    double before[8] = {0};
    edges[0] += adjoint[0];
    edges[1] += adjoint[7];
    for (long i = 1; i < 7; i++) {
      double half = adjoint[i] * 0.5;
      before[i - 1] += half * record[t][i + 1];
      before[i + 1] += half * record[t][i - 1];
      before[i] += half;
    }
    memcpy(adjoint, before, sizeof adjoint);
  }
  for (long i = 0; i < 8; i++) adjoint_x -= adjoint[i] * sin(x * (double)i) * (double)i;
  free(record);
  gradients[0] = adjoint_x;
  gradients[1] = edges[0] + edges[1];
  return a[1] * a[7] + a[1];
}
