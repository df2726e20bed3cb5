void axpy(int n, double a, const double *x, double *y) {
#pragma nomp for transform("schedules", "blocks") name("axpy")
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}
