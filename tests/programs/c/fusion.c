/* Loops that scripts put into one. */
#include "show.h"
#define N 24
#define M 8

static double a[N][M], b[N][M], c[N][M], d[N][M];

static void fill(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = i * 0.5 + j, b[i][j] = i - j, c[i][j] = 3 * j, d[i][j] = 1;
}

static double sum(void) {
  double total = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      total = total * 0.75 + b[i][j] + 2 * c[i][j] - d[i][j];
  return total;
}

static void producers(int n) {
#pragma nomp for transform("fusions", "one", into = "j", loops = "k")
  for (int i = 0; i < n; i++) {
    for (int j = 1; j < M; j++)
      b[i][j] = a[i][j] * 2;
    for (int k = 1; k < M; k++)
      c[i][k] = b[i][k] + b[i][k - 1];
  }
}

static void three(int n) {
#pragma nomp for transform("fusions", "blocks", into = "j", loops = "k l", size = 4)
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < M; j++)
      b[i][j] = a[i][j] + 1;
    for (int k = 0; k <= M - 1; k++)
      c[i][k] = b[i][k] * 3;
    for (int l = 0; l < M; l++)
      d[i][l] += c[i][l] - b[i][l];
  }
}

static void interchanged(int n) {
#pragma nomp for transform("fusions", "inside_out", into = "j", loops = "k", order = "j, i")
  for (int i = 1; i < n; i++) {
    for (int j = 0; j < M; j++)
      b[i][j] = b[i - 1][j] + a[i][j];
    for (int k = 0; k < M; k++)
      c[i][k] = b[i][k] - c[i - 1][k];
  }
}

static void nests(int n) {
#pragma nomp for transform("fusions", "one", into = "j k", loops = "l m")
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < N; j++)
      for (int k = 0; k < M; k++)
        b[j][k] += a[j][k] * i;
    for (int l = 0; l < N; l++)
      for (int m = 0; m < M; m++)
        c[l][m] += b[l][m];
  }
}

static void in_parallel(int n) {
#pragma nomp for transform("fusions", "in_groups", into = "j", loops = "k", groups = "i", items = "j")
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < M; j++)
      b[i][j] = a[i][j] * a[i][j];
    for (int k = 0; k < M; k++)
      c[i][k] = b[i][k] + d[i][k];
  }
}

static void kept_in_a_register(int n) {
#pragma nomp for transform("fusions", "without_array", into = "j", loops = "k", array = "row")
  for (int i = 0; i < n; i++) {
    double row[M];
    for (int j = 0; j < M; j++)
      row[j] = a[i][j] - d[i][j];
    for (int k = 0; k < M; k++)
      c[i][k] = row[k] * row[k];
  }
}

static void backwards(int n) {
#pragma nomp for transform("fusions", "one", into = "j", loops = "k")
  for (int i = 0; i < n; i++) {
    for (int j = M - 2; j >= 0; j -= 2)
      b[i][j] = a[i][j] / 2;
    for (int k = M - 2; k >= 0; k -= 2)
      c[i][k] = b[i][k] + b[i][k + 1];
  }
}

int main(int argc, char **argv) {
  void (*functions[])(int) = {producers, three, interchanged, nests, in_parallel, kept_in_a_register, backwards};
#pragma nomp init(argc, argv)
  for (int f = 0; f < 7; f++) {
    fill();
#pragma nomp update(to : a, b, c, d)
    functions[f](N);
#pragma nomp update(from : b, c, d)
#pragma nomp update(free : a, b, c, d)
    printf("%d: %.10g\n", f, sum());
  }
#pragma nomp finalize
  return 0;
}
