/* a small matrix applied to each line of an element, with a local array that a jit value sizes */
void apply(int elements, int nx, double w[elements][nx][nx], const double u[elements][nx][nx], const double d[nx][nx]) {
#pragma nomp for jit(nx) transform("schedules", "elements")
  for (int e = 0; e < elements; e++) {
    double t[nx][nx];
    for (int j = 0; j < nx; j++)
      for (int i = 0; i < nx; i++) {
        t[j][i] = 0;
        for (int k = 0; k < nx; k++)
          t[j][i] += d[i][k] * u[e][j][k];
      }
    for (int j = 0; j < nx; j++)
      for (int i = nx - 1; i >= 0; i--)
        w[e][j][i] = t[i][j];
  }
}
