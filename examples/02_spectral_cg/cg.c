/* Conjugate gradients, without a preconditioner. */
#include "sem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void report(int iteration, scalar rr) { printf("%9d  %.12e\n", iteration, sqrt(rr)); }

/* Solve A u = r from u = 0.  On entry r holds the assembled and masked right-hand side, afterwards the residual; u is
   written on the host.  Prints the norm of the residual every ten iterations; stops early at rounding level. */
void conjugate_gradients(struct mesh *mesh, scalar *u, scalar *r, int iterations) {
  const int n = mesh->nlocal;
  scalar *p = new_scalars(n), *w = new_scalars(n); /* search direction, A p */
#pragma nomp update(to : u[0, n], r[0, n])
#pragma nomp update(alloc : p[0, n], w[0, n]) // zeros, as on the host
  scalar rr = weighted_dot(n, r, r, mesh->weight), beta = 0;
  const scalar rounding_level = 1e-32 * rr;
  printf("iteration  residual\n");
  report(0, rr);
  for (int iteration = 1; iteration <= iterations && rr > rounding_level; iteration++) {
    scale_and_add(n, p, beta, r);
    apply_laplacian(mesh, w, p);
    scalar alpha = rr / weighted_dot(n, p, w, mesh->weight);
    add_scaled(n, u, alpha, p);
    add_scaled(n, r, -alpha, w);
    scalar rr_before = rr;
    rr = weighted_dot(n, r, r, mesh->weight);
    beta = rr / rr_before;
    if (iteration % 10 == 0)
      report(iteration, rr);
  }
#pragma nomp update(from : u[0, n], r[0, n])
#pragma nomp update(free : u[0, n], r[0, n], p[0, n], w[0, n])
  free(p);
  free(w);
}
