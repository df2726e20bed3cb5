/* Conjugate gradients, without a preconditioner. */
#include "sem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void report(int iteration, scalar rr) { printf("%9d  %.12e\n", iteration, sqrt(rr)); }

/* Solve A u = r from u = 0.  On entry r holds the assembled and masked right-hand side, afterwards the residual; u is
   written on the host, where it is zero on entry.  Prints the norm of the residual every ten iterations; stops early at
   rounding level.  A step is made together with the next direction, which reads the same vector. */
void conjugate_gradients(struct mesh *mesh, scalar *u, scalar *r, int iterations) {
  const int n = mesh->nlocal;
  scalar *p = new_scalars(n), *w = new_scalars(n); /* search direction, A p */
#pragma nomp update(to : r[0, n])
#pragma nomp update(alloc : u[0, n], p[0, n], w[0, n]) // zeros, as on the host
  scalar rr = weighted_dot(n, r, r, mesh->weight), alpha = 0, beta = 0;
  const scalar rounding_level = 1e-32 * rr;
  printf("iteration  residual\n");
  report(0, rr);
  for (int iteration = 1; iteration <= iterations && rr > rounding_level; iteration++) {
    step_and_turn(n, u, alpha, p, beta, r);
    alpha = rr / apply_laplacian(mesh, w, p);
    scalar rr_before = rr;
    rr = reduce_residual(n, r, alpha, w, mesh->weight);
    beta = rr / rr_before;
    if (iteration % 10 == 0)
      report(iteration, rr);
  }
  step_and_turn(n, u, alpha, p, beta, r); /* the last step */
#pragma nomp update(from : u[0, n], r[0, n])
#pragma nomp update(free : u[0, n], r[0, n], p[0, n], w[0, n])
  free(p);
  free(w);
}
