/* -laplace(u) = f on a deformed cube, u = 0 on its boundary, with f such that u = sin(pi x) sin(pi y) sin(pi z). */
#include "sem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static scalar solution(scalar x, scalar y, scalar z) {
  const scalar pi = acos(-1.0);
  return sin(pi * x) * sin(pi * y) * sin(pi * z);
}

/* The integrals of f times each basis function, by quadrature; f = 3 pi^2 u. */
static void set_right_hand_side(struct mesh *mesh, scalar *r) {
  const scalar pi = acos(-1.0);
  for (int p = 0; p < mesh->nlocal; p++)
    r[p] = mesh->mass[p] * 3 * pi * pi * solution(mesh->x[p], mesh->y[p], mesh->z[p]);
#pragma nomp update(to : r[0, mesh->nlocal])
  assemble(mesh, r);
  mask_boundary(mesh, r);
#pragma nomp update(from : r[0, mesh->nlocal])
}

static scalar largest_error(const struct mesh *mesh, const scalar *u) {
  scalar largest = 0;
  for (int p = 0; p < mesh->nlocal; p++)
    largest = fmax(largest, fabs(u[p] - solution(mesh->x[p], mesh->y[p], mesh->z[p])));
  return largest;
}

/* The command line's number at *position*, or *otherwise*; the numbers come before any --nomp-* option. */
static int argument(int argc, char **argv, int position, int otherwise) {
  for (int a = 1; a < argc && a <= position; a++)
    if (argv[a][0] == '-')
      return otherwise;
  return position < argc ? atoi(argv[position]) : otherwise;
}

int main(int argc, char **argv) {
  int order = argument(argc, argv, 1, 7), elements = argument(argc, argv, 2, 8);
  int iterations = argument(argc, argv, 3, 100);
  if (order < 1 || elements < 1 || iterations < 0) {
    fprintf(stderr, "usage: %s [order [elements-per-direction [iterations]]] [--nomp-OPTION VALUE ...]\n", argv[0]);
    return 2;
  }
#pragma nomp init(argc, argv)
  struct mesh *mesh = mesh_new(order, elements);
  scalar *u = new_scalars(mesh->nlocal), *r = new_scalars(mesh->nlocal);
  printf("order %d, %d elements, %d nodes\n", order, mesh->nelt, mesh->nlocal);
  mesh_to_device(mesh);
  set_right_hand_side(mesh, r);
  conjugate_gradients(mesh, u, r, iterations);
  printf("error %.6e\n", largest_error(mesh, u));
  mesh_off_device(mesh);
#pragma nomp finalize
  free(u);
  free(r);
  mesh_free(mesh);
  return 0;
}
