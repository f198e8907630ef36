#include <math.h>
#include <stdlib.h>

double f(double x) {
  double y = x;
  while (fabs(y * y - x) > 1e-12) y = (y + x / y) * 0.5;
  return y;
}

double f_grad(double x, double *gradients) {
  long room = 16, count = 0;
  double *record = (double *)malloc(room * sizeof *record), y = x;
  while (fabs(y * y - x) > 1e-12) {
    if (count == room) record = (double *)realloc(record, (room *= 2) * sizeof *record);
    record[count++] = y;
    y = (y + x / y) * 0.5;
  }
  double adjoint = 1.0, adjoint_x = 0.0;
  while (count-- > 0) {
    double half = adjoint * 0.5, before = record[count];
    adjoint_x += half / before;
    adjoint = half - half * x / (before * before);
  }
  free(record);
  gradients[0] = adjoint_x + adjoint;
  return y;
}
