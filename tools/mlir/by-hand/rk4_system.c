#include <stdlib.h>

static void rhs(double u, double v, double mu, double *du, double *dv) {
  *du = v;
  *dv = mu * (1.0 - u * u) * v - u;
}

static const double h = 0.05, half = 0.025, sixth = 0.008333333333333333;

double f(double mu, double u0, long n) {
  double u = u0, v = 0.0;
  for (long i = 0; i < n; i++) {
    double k1, l1, k2, l2, k3, l3, k4, l4;
    rhs(u, v, mu, &k1, &l1);
    rhs(half * k1 + u, half * l1 + v, mu, &k2, &l2);
    rhs(half * k2 + u, half * l2 + v, mu, &k3, &l3);
    rhs(h * k3 + u, h * l3 + v, mu, &k4, &l4);
    u += sixth * (2.0 * (k2 + k3) + k1 + k4);
    v += sixth * (2.0 * (l2 + l3) + l1 + l4);
  }
  return u * v;
}

// The adjoint of `rhs`: adds to the adjoints of its operands.
static void back(double u, double v, double mu, double to_du, double to_dv, double *to_u, double *to_v, double *to_mu) {
  *to_v += to_du + to_dv * mu * (1.0 - u * u);
  *to_u -= to_dv * (1.0 + 2.0 * mu * u * v);
  *to_mu += to_dv * (1.0 - u * u) * v;
}

double f_grad(double mu, double u0, long n, double *gradients) {
  double (*record)[2] = (double (*)[2])malloc(n * sizeof *record), u = u0, v = 0.0;
  for (long i = 0; i < n; i++) {
    double k1, l1, k2, l2, k3, l3, k4, l4;
    record[i][0] = u;
    record[i][1] = v;
    rhs(u, v, mu, &k1, &l1);
    rhs(half * k1 + u, half * l1 + v, mu, &k2, &l2);
    rhs(half * k2 + u, half * l2 + v, mu, &k3, &l3);
    rhs(h * k3 + u, h * l3 + v, mu, &k4, &l4);
    u += sixth * (2.0 * (k2 + k3) + k1 + k4);
    v += sixth * (2.0 * (l2 + l3) + l1 + l4);
  }
  double to_u = v, to_v = u, to_mu = 0.0, value = u * v;
  for (long i = n; i-- > 0;) {
    double u = record[i][0], v = record[i][1], k1, l1, k2, l2, k3, l3;
    rhs(u, v, mu, &k1, &l1);
    double u2 = half * k1 + u, v2 = half * l1 + v;
    rhs(u2, v2, mu, &k2, &l2);
    double u3 = half * k2 + u, v3 = half * l2 + v;
    rhs(u3, v3, mu, &k3, &l3);
    double u4 = h * k3 + u, v4 = h * l3 + v;
    double once = sixth * to_u, once_v = sixth * to_v, at[2];
    double to_k3 = 2.0 * once, to_l3 = 2.0 * once_v, to_k2 = to_k3, to_l2 = to_l3, to_k1 = once, to_l1 = once_v;
    at[0] = at[1] = 0.0;
    back(u4, v4, mu, once, once_v, &at[0], &at[1], &to_mu);
    to_u += at[0], to_v += at[1], to_k3 += h * at[0], to_l3 += h * at[1];
    at[0] = at[1] = 0.0;
    back(u3, v3, mu, to_k3, to_l3, &at[0], &at[1], &to_mu);
    to_u += at[0], to_v += at[1], to_k2 += half * at[0], to_l2 += half * at[1];
    at[0] = at[1] = 0.0;
    back(u2, v2, mu, to_k2, to_l2, &at[0], &at[1], &to_mu);
    to_u += at[0], to_v += at[1], to_k1 += half * at[0], to_l1 += half * at[1];
    back(u, v, mu, to_k1, to_l1, &to_u, &to_v, &to_mu);
  }
  free(record);
  gradients[0] = to_mu;
  gradients[1] = to_u;
  return value;
}
