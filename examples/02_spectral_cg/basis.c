/* The Gauss-Lobatto-Legendre basis on [-1, 1]: nodes, quadrature weights, derivative matrix. */
#include "sem.h"
#include <math.h>

/* The Legendre polynomials P_n and P_(n-1) at x, by the three-term recurrence. */
static void legendre(int n, scalar x, scalar *p, scalar *p_before) {
  *p_before = 1, *p = x;
  for (int m = 2; m <= n; m++) {
    scalar next = ((2 * m - 1) * x * *p - (m - 1) * *p_before) / m;
    *p_before = *p, *p = next;
  }
}

/* A zero of q(x) = (1 - x^2) P_n'(x) = n (P_(n-1) - x P_n) near x, by Newton: q'(x) = -n (n + 1) P_n. */
static scalar lobatto_node(int n, scalar x) {
  for (int step = 0; step < 50; step++) {
    scalar p, p_before;
    legendre(n, x, &p, &p_before);
    scalar change = (p_before - x * p) / ((n + 1) * p);
    x += change;
    if (fabs(change) < 1e-15)
      break;
  }
  return x;
}

void gauss_lobatto_legendre(int nx, scalar node[nx], scalar weight[nx], scalar derivative[nx][nx]) {
  const int n = nx - 1;
  const scalar pi = acos(-1.0);
  scalar p[nx], p_before;
  for (int i = 0; i < nx; i++) {
    node[i] = lobatto_node(n, -cos(pi * i / n)); /* the Chebyshev nodes are close */
    legendre(n, node[i], &p[i], &p_before);
    weight[i] = 2 / (n * (n + 1) * p[i] * p[i]);
  }
  for (int i = 0; i < nx; i++)
    for (int l = 0; l < nx; l++)
      derivative[i][l] = i == l ? 0 : p[i] / (p[l] * (node[i] - node[l]));
  derivative[0][0] = -n * (n + 1) / 4.0;
  derivative[n][n] = n * (n + 1) / 4.0;
}
