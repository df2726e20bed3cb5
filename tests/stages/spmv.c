void spmv(int rows, const int *start, const int *column, const double *value, const double *x, double *y) {
#pragma nomp for
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    if (sum > 0)
      y[i] = sum;
    else
      y[i] = -sum;
  }
}
