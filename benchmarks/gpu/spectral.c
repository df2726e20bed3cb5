/* examples/02_spectral_cg, timed: spectral ORDER ELEMENTS-PER-DIRECTION ITERATIONS.  Built with that example's files and
   nomp, or with cg.cu in the place of its cg.c. */
#include "sem.h"
#include "timing.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s ORDER ELEMENTS-PER-DIRECTION ITERATIONS [--nomp-OPTION VALUE ...]\n", argv[0]);
    return 2;
  }
  int order = atoi(argv[1]), elements = atoi(argv[2]), iterations = atoi(argv[3]);
#pragma nomp init(argc, argv)
  struct mesh *mesh = mesh_new(order, elements);
  const int n = mesh->nlocal;
  scalar *u = new_scalars(n), *r = new_scalars(n), *start = new_scalars(n);
  mesh_to_device(mesh);
  for (int p = 0; p < n; p++)
    start[p] = mesh->mass[p] * (1 + sin(3 * mesh->x[p]) * mesh->y[p]);
#pragma nomp update(to : start[0, n])
  assemble(mesh, start);
  mask_boundary(mesh, start);
#pragma nomp update(from : start[0, n])
#pragma nomp update(free : start[0, n])
  int out = dup(1); /* the solver's own report is not wanted */
  if (!freopen("/dev/null", "w", stdout))
    return 1;
  double times[5];
  for (int run = -1; run < 5; run++) {
    memcpy(r, start, n * sizeof *r);
    memset(u, 0, n * sizeof *u);
    double begin = seconds();
    conjugate_gradients(mesh, u, r, iterations);
    if (run >= 0)
      times[run] = seconds() - begin;
  }
  fflush(stdout);
  dup2(out, 1);
  double sum = 0;
  for (int p = 0; p < n; p++)
    sum += u[p] * u[p];
  mesh_off_device(mesh);
#pragma nomp finalize
  show("cg", times, 5, sqrt(sum));
  return 0;
}
