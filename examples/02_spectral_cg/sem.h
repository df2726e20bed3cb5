/* Spectral elements on a deformed unit cube: what the files of this example share. */
#ifndef SEM_H
#define SEM_H

typedef double scalar;

/* Every element holds its own copy of its nodes ("local" numbering): node (i, j, k) of element e is
   ((e * nx + k) * nx + j) * nx + i.  Copies of one point are kept equal by `assemble`. */
struct mesh {
  int nx;               /* nodes a direction in an element: polynomial order + 1 */
  int nelt;             /* elements */
  int nlocal;           /* local nodes: nelt * nx^3 */
  int nshared;          /* points that belong to more than one element ... */
  int *shared_start;    /* [nshared + 1] ... whose copies are shared_node[shared_start[s]] up to, */
  int *shared_node;     /* [shared_start[nshared]] but not including, shared_node[shared_start[s + 1]] */
  int nboundary;        /* local nodes on the boundary of the domain */
  int *boundary;        /* [nboundary] */
  scalar *derivative;   /* [nx][nx] derivative[i][l]: of Lagrange polynomial l at node i */
  scalar *factors;      /* [nelt][6][nx][nx][nx] metric, Jacobian and quadrature weight: rr rs rt ss st tt */
  scalar *mass;         /* [nlocal] Jacobian times quadrature weight */
  scalar *weight;       /* [nlocal] 1 / number of copies of the point: counts each point once in sums */
  scalar *energy;       /* [nelt][nx][nx] for `apply_laplacian` */
  scalar *x, *y, *z;    /* [nlocal] coordinates */
};

#ifndef __cplusplus /* which has no arrays of such sizes */
/* basis.c */
void gauss_lobatto_legendre(int nx, scalar node[nx], scalar weight[nx], scalar derivative[nx][nx]);
#endif

/* mesh.c */
struct mesh *mesh_new(int order, int elements);
void mesh_free(struct mesh *mesh);
void mesh_to_device(struct mesh *mesh);
void mesh_off_device(struct mesh *mesh);
scalar *new_scalars(int n);

/* operator.c */
scalar apply_laplacian(struct mesh *mesh, scalar *w, scalar *u);
void assemble(struct mesh *mesh, scalar *w);
void mask_boundary(struct mesh *mesh, scalar *w);

/* vector.c */
scalar total(int n, const scalar *a);
scalar weighted_dot(int n, const scalar *a, const scalar *b, const scalar *weight);
void step_and_turn(int n, scalar *u, scalar a, scalar *p, scalar b, const scalar *r);
scalar reduce_residual(int n, scalar *r, scalar a, const scalar *w, const scalar *weight);

/* cg.c */
void conjugate_gradients(struct mesh *mesh, scalar *u, scalar *r, int iterations);

#endif
