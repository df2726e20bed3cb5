/* Names: captures keep theirs, each later declaration of a taken name gets `_`. */
void names(int n, int j, double *a, struct s { double *a; int n; } *s, double *s_a) {
  int t = 1;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    double t = 0, u;
    for (int j = 0; j < n; j++)
      t += a[j];
    for (int i = 0; i < 3; i++) {
      int t = i;
      a[t] = s->a[t] + s_a[t] + s->n;
    }
    for (int k = 0; k < j; k++)
      a[k] = t;
    for (int k = 0; k < 2; k++) {
      double u = 1;
      a[k] = u;
    }
    u = a[i];
    a[i] = u;
  }
  (void)t;
}
