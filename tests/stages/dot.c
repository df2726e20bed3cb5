float dot(unsigned n, const float *x, const float *y) {
  float sum = 0;
#pragma nomp for reduce("sum", "+")
  for (unsigned i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}
