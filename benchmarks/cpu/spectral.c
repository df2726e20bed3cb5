/* w = D^T G D u in spectral elements of order 7: small dense products along each direction, and metric terms between */
#include "bench.h"

enum { N = 8 };

static void spectral(int elements, double w[restrict elements][N][N][N], double u[restrict elements][N][N][N],
                     double g[restrict elements][6][N][N][N], double d[restrict N][N]) {
#pragma omp parallel for
#pragma nomp for annotate("loop", "element") annotate("dof", "i j k")
  for (int e = 0; e < elements; e++) {
    double ur[N][N][N], us[N][N][N], ut[N][N][N];
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
          double r = 0, s = 0, t = 0;
          for (int l = 0; l < N; l++) {
            r += d[i][l] * u[e][k][j][l];
            s += d[j][l] * u[e][k][l][i];
            t += d[k][l] * u[e][l][j][i];
          }
          ur[k][j][i] = g[e][0][k][j][i] * r + g[e][1][k][j][i] * s + g[e][2][k][j][i] * t;
          us[k][j][i] = g[e][1][k][j][i] * r + g[e][3][k][j][i] * s + g[e][4][k][j][i] * t;
          ut[k][j][i] = g[e][2][k][j][i] * r + g[e][4][k][j][i] * s + g[e][5][k][j][i] * t;
        }
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
          double sum = 0;
          for (int l = 0; l < N; l++)
            sum += d[l][i] * ur[k][j][l] + d[l][j] * us[k][l][i] + d[l][k] * ut[l][j][i];
          w[e][k][j][i] = sum;
        }
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 8, 512, 4096);
  double(*w)[N][N][N] = bench_data(n * N * N * N), (*u)[N][N][N] = bench_data(n * N * N * N);
  double(*g)[6][N][N][N] = bench_data(n * 6 * N * N * N), (*d)[N] = bench_data(N * N);
#pragma nomp init(argc, argv)
#pragma nomp update(to : w[0, n], u[0, n], g[0, n], d[0, N])
  while (bench_again()) {
    spectral(n, w, u, g, d);
#pragma nomp sync
  }
#pragma nomp update(from : w[0, n])
#pragma nomp update(free : w[0, n], u[0, n], g[0, n], d[0, N])
#pragma nomp finalize
  bench_end("spectral", bench_norm(n * N * N * N, ***w));
  return 0;
}
