/* Independent iterations, which are divided among work items: contiguous, descending, by a word of the program. */
void shared(double *a, const double *b, const int *list, long n) {
#pragma nomp for
  for (long i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma nomp for
  for (int i = 2 * n; i > 1; i -= 2)
    for (int j = 0; j < 3; j++)
      a[3 * i + j] = b[j];
#pragma nomp for annotate("independent", "i")
  for (unsigned i = 0; i < n; i++)
    a[list[i]] = b[i];
}
