/* The discrete operator: the Laplacian of each element, the sum over elements, the Dirichlet condition. */
#include "sem.h"

/* w = D^T G D u in each element: derivatives in the reference directions, metric terms, transposed derivatives.
   energy[e] gets the products of u and w, added up along the third direction. */
static void element_laplacian(int nelt, int nx, scalar w[nelt][nx][nx][nx], scalar u[nelt][nx][nx][nx],
                              scalar g[nelt][6][nx][nx][nx], scalar d[nx][nx], scalar energy[nelt][nx][nx]) {
#pragma nomp for name("laplacian") annotate("loop", "element") annotate("dof", "i j k") jit(nx)
  for (int e = 0; e < nelt; e++) {
    scalar ur[nx][nx][nx], us[nx][nx][nx], ut[nx][nx][nx];
    for (int k = 0; k < nx; k++)
      for (int j = 0; j < nx; j++)
        for (int i = 0; i < nx; i++) {
          scalar r = 0, s = 0, t = 0;
          for (int l = 0; l < nx; l++) {
            r += d[i][l] * u[e][k][j][l];
            s += d[j][l] * u[e][k][l][i];
            t += d[k][l] * u[e][l][j][i];
          }
          ur[k][j][i] = g[e][0][k][j][i] * r + g[e][1][k][j][i] * s + g[e][2][k][j][i] * t;
          us[k][j][i] = g[e][1][k][j][i] * r + g[e][3][k][j][i] * s + g[e][4][k][j][i] * t;
          ut[k][j][i] = g[e][2][k][j][i] * r + g[e][4][k][j][i] * s + g[e][5][k][j][i] * t;
        }
    for (int j = 0; j < nx; j++)
      for (int i = 0; i < nx; i++)
        energy[e][j][i] = 0;
    for (int k = 0; k < nx; k++)
      for (int j = 0; j < nx; j++)
        for (int i = 0; i < nx; i++) {
          scalar sum = 0;
          for (int l = 0; l < nx; l++)
            sum += d[l][i] * ur[k][j][l] + d[l][j] * us[k][l][i] + d[l][k] * ut[l][j][i];
          w[e][k][j][i] = sum;
          energy[e][j][i] += u[e][k][j][i] * sum;
        }
  }
}

/* Replace the copies of each shared point by their sum (direct stiffness summation). */
static void sum_copies(int nshared, const int *start, const int *node, scalar *w) {
#pragma nomp for name("sum_copies") annotate("loop", "node") annotate("independent", "p")
  for (int p = 0; p < nshared; p++) {
    scalar sum = 0;
    for (int c = start[p]; c < start[p + 1]; c++)
      sum += w[node[c]];
    for (int c = start[p]; c < start[p + 1]; c++)
      w[node[c]] = sum;
  }
}

static void set_zero(int n, const int *node, scalar *w) {
#pragma nomp for name("set_zero") annotate("loop", "node") annotate("independent", "p")
  for (int p = 0; p < n; p++)
    w[node[p]] = 0;
}

void assemble(struct mesh *mesh, scalar *w) { sum_copies(mesh->nshared, mesh->shared_start, mesh->shared_node, w); }

void mask_boundary(struct mesh *mesh, scalar *w) { set_zero(mesh->nboundary, mesh->boundary, w); }

/* w = A u, for u whose copies are equal and which is zero on the boundary; returns u . A u, the sum of the elements'
   energies: no copy of a node counts twice before copies are summed. */
scalar apply_laplacian(struct mesh *mesh, scalar *w, scalar *u) {
  element_laplacian(mesh->nelt, mesh->nx, (void *)w, (void *)u, (void *)mesh->factors, (void *)mesh->derivative,
                    (void *)mesh->energy);
  assemble(mesh, w);
  mask_boundary(mesh, w);
  return total(mesh->nelt * mesh->nx * mesh->nx, mesh->energy);
}
