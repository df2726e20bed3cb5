/* The product of matrices of kernels.c and libraries.c. */
static void product(int n, double c[n][n], const double a[n][n], const double b[n][n]) {
#pragma omp parallel for
#pragma nomp for name("product") transform("tile", "tile", loops = "j i", over = "k")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
#pragma nomp sync
}
