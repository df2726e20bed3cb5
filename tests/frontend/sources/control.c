/* What becomes of loops that cannot be counted, of switch, of functions and of structs. */
struct vec {
  double x, y;
  int t[2];
};
static const double table[3] = {1, 2, 3};
static const int width = 3;

static int steps(int x) {
  int n;
  for (n = 0; x > 1; n++) {
    if (x & 1)
      continue;
    x /= 2;
  }
  return n;
}
static double dot(const double *a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i] * table[i];
  return s;
}
static double first(const double *a) { return a[0]; }

void f(int n, double *a, int *k, struct vec *p) {
  int j;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    for (j = k[i]; j < k[i + 1]; j++)
      if (a[j] > 0)
        break;
    for (int x = 1, y = 9; x < y; x *= 2, y--) {
      if (x == 4)
        continue;
      a[i] += first(a + x);
    }
    while (k[i]-- > 0)
      a[i] = dot(&a[3 * i], width);
    do
      k[i] += steps(i);
    while (k[i] < 9);
    switch (k[i]) {
    case 1 ... 2:
    case 7:
      k[i]++;
    default: {
      int z = k[j];
      k[i] = z;
      break;
    }
    }
    struct vec v = p[i];
    v.t[1] = k[i]++;
    p[n - i] = v;
  }
}
