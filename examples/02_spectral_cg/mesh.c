/* The mesh: a unit cube of elements^3 spectral elements, smoothly deformed inside, so that no metric term is zero. */
#include "sem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

scalar *new_scalars(int n) { return allocate(n, sizeof(scalar)); }

/* Move point (x, y, z) of the undeformed cube; the boundary stays where it is. */
static void deform(scalar *x, scalar *y, scalar *z) {
  const scalar pi = acos(-1.0);
  scalar bump = sin(pi * *x) * sin(pi * *y) * sin(pi * *z);
  *x += 0.05 * bump, *y -= 0.04 * bump, *z += 0.03 * bump;
}

static void set_coordinates(struct mesh *mesh, int elements, const scalar *node) {
  const int nx = mesh->nx;
  int p = 0;
  for (int e = 0; e < mesh->nelt; e++) {
    int ex = e % elements, ey = e / elements % elements, ez = e / (elements * elements);
    for (int k = 0; k < nx; k++)
      for (int j = 0; j < nx; j++)
        for (int i = 0; i < nx; i++, p++) {
          mesh->x[p] = (ex + (1 + node[i]) / 2) / elements;
          mesh->y[p] = (ey + (1 + node[j]) / 2) / elements;
          mesh->z[p] = (ez + (1 + node[k]) / 2) / elements;
          deform(&mesh->x[p], &mesh->y[p], &mesh->z[p]);
        }
  }
}

/* The derivatives of u in the element's own directions r, s, t at node (i, j, k). */
static void reference_gradient(int nx, const scalar *derivative, const scalar *u, int i, int j, int k,
                               scalar gradient[3]) {
  gradient[0] = gradient[1] = gradient[2] = 0;
  for (int l = 0; l < nx; l++) {
    gradient[0] += derivative[i * nx + l] * u[(k * nx + j) * nx + l];
    gradient[1] += derivative[j * nx + l] * u[(k * nx + l) * nx + i];
    gradient[2] += derivative[k * nx + l] * u[(l * nx + j) * nx + i];
  }
}

static void cross(const scalar a[3], const scalar b[3], scalar c[3]) {
  for (int d = 0; d < 3; d++)
    c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static scalar dot3(const scalar a[3], const scalar b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Weight times Jacobian times the six products (grad r . grad r), (grad r . grad s), ... at one node; returns the
   Jacobian.  *tangent*[d] holds the derivatives of x, y, z in reference direction d. */
static scalar metric(scalar tangent[3][3], scalar weight, scalar factor[6]) {
  scalar normal[3][3]; /* Jacobian times grad r, grad s, grad t */
  for (int d = 0; d < 3; d++)
    cross(tangent[(d + 1) % 3], tangent[(d + 2) % 3], normal[d]);
  scalar jacobian = dot3(tangent[0], normal[0]);
  for (int a = 0, f = 0; a < 3; a++)
    for (int b = a; b < 3; b++)
      factor[f++] = weight * dot3(normal[a], normal[b]) / jacobian;
  return jacobian;
}

static void set_factors(struct mesh *mesh, const scalar *weight) {
  const int nx = mesh->nx, nodes = nx * nx * nx;
  const scalar *coordinate[3] = {mesh->x, mesh->y, mesh->z};
  for (int e = 0; e < mesh->nelt; e++)
    for (int p = 0; p < nodes; p++) {
      int i = p % nx, j = p / nx % nx, k = p / (nx * nx);
      scalar tangent[3][3], gradient[3], factor[6], quadrature = weight[i] * weight[j] * weight[k];
      for (int c = 0; c < 3; c++) {
        reference_gradient(nx, mesh->derivative, coordinate[c] + e * nodes, i, j, k, gradient);
        for (int d = 0; d < 3; d++)
          tangent[d][c] = gradient[d];
      }
      mesh->mass[e * nodes + p] = quadrature * metric(tangent, quadrature, factor);
      for (int f = 0; f < 6; f++)
        mesh->factors[(e * 6 + f) * nodes + p] = factor[f];
    }
}

/* Point numbers of the local nodes, the same for all copies of a point; *points* is how many a direction has. */
static int *number_points(const struct mesh *mesh, int elements, int points) {
  const int nx = mesh->nx;
  int *point = allocate(mesh->nlocal, sizeof(int)), p = 0;
  for (int e = 0; e < mesh->nelt; e++) {
    int ex = e % elements, ey = e / elements % elements, ez = e / (elements * elements);
    for (int k = 0; k < nx; k++)
      for (int j = 0; j < nx; j++)
        for (int i = 0; i < nx; i++)
          point[p++] = ((ez * (nx - 1) + k) * points + ey * (nx - 1) + j) * points + ex * (nx - 1) + i;
  }
  return point;
}

/* The lists of `assemble`: the shared points in order, and for each the local nodes that are its copies. */
static void set_shared(struct mesh *mesh, const int *point, int npoints) {
  int *copies = allocate(npoints, sizeof(int)), *place = allocate(npoints, sizeof(int)), total = 0;
  for (int p = 0; p < mesh->nlocal; p++)
    copies[point[p]]++;
  mesh->shared_start = allocate(npoints + 1, sizeof(int));
  for (int q = 0; q < npoints; q++)
    if (copies[q] > 1) {
      place[q] = total;
      mesh->shared_start[mesh->nshared++] = total;
      total += copies[q];
    }
  mesh->shared_start[mesh->nshared] = total;
  mesh->shared_node = allocate(total, sizeof(int));
  for (int p = 0; p < mesh->nlocal; p++) {
    mesh->weight[p] = 1.0 / copies[point[p]];
    if (copies[point[p]] > 1)
      mesh->shared_node[place[point[p]]++] = p;
  }
  free(copies);
  free(place);
}

static void set_boundary(struct mesh *mesh, const int *point, int points) {
  mesh->boundary = allocate(mesh->nlocal, sizeof(int));
  for (int p = 0; p < mesh->nlocal; p++) {
    int x = point[p] % points, y = point[p] / points % points, z = point[p] / (points * points), last = points - 1;
    if (x == 0 || x == last || y == 0 || y == last || z == 0 || z == last)
      mesh->boundary[mesh->nboundary++] = p;
  }
}

struct mesh *mesh_new(int order, int elements) {
  struct mesh *mesh = allocate(1, sizeof(struct mesh));
  const int nx = order + 1, points = elements * order + 1;
  mesh->nx = nx, mesh->nelt = elements * elements * elements, mesh->nlocal = mesh->nelt * nx * nx * nx;
  mesh->derivative = new_scalars(nx * nx), mesh->factors = new_scalars(6 * mesh->nlocal);
  mesh->mass = new_scalars(mesh->nlocal), mesh->weight = new_scalars(mesh->nlocal);
  mesh->energy = new_scalars(mesh->nelt * nx * nx);
  mesh->x = new_scalars(mesh->nlocal), mesh->y = new_scalars(mesh->nlocal), mesh->z = new_scalars(mesh->nlocal);

  scalar node[nx], weight[nx];
  gauss_lobatto_legendre(nx, node, weight, (void *)mesh->derivative);
  set_coordinates(mesh, elements, node);
  set_factors(mesh, weight);

  int *point = number_points(mesh, elements, points);
  set_shared(mesh, point, points * points * points);
  set_boundary(mesh, point, points);
  free(point);
  return mesh;
}

void mesh_free(struct mesh *mesh) {
  void *parts[] = {mesh->shared_start, mesh->shared_node, mesh->boundary, mesh->derivative, mesh->factors,
                   mesh->mass, mesh->weight, mesh->energy, mesh->x, mesh->y, mesh->z, mesh};
  for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
    free(parts[part]);
}

/* What the kernels read; x, y, z and the mass stay on the host. */
void mesh_to_device(struct mesh *mesh) {
#pragma nomp update(to : mesh->derivative[0, mesh->nx * mesh->nx], mesh->factors[0, 6 * mesh->nlocal])
#pragma nomp update(to : mesh->shared_start[0, mesh->nshared + 1], mesh->weight[0, mesh->nlocal])
#pragma nomp update(to : mesh->shared_node[0, mesh->shared_start[mesh->nshared]], mesh->boundary[0, mesh->nboundary])
#pragma nomp update(alloc : mesh->energy[0, mesh->nelt * mesh->nx * mesh->nx])
}

void mesh_off_device(struct mesh *mesh) {
#pragma nomp update(free : mesh->derivative[0, mesh->nx * mesh->nx], mesh->factors[0, 6 * mesh->nlocal])
#pragma nomp update(free : mesh->shared_start[0, mesh->nshared + 1], mesh->weight[0, mesh->nlocal])
#pragma nomp update(free : mesh->shared_node[0, mesh->shared_start[mesh->nshared]], mesh->boundary[0, mesh->nboundary])
#pragma nomp update(free : mesh->energy[0, mesh->nelt * mesh->nx * mesh->nx])
}
