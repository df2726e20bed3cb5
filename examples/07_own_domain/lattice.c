/* Flow on a periodic lattice by the lattice Boltzmann method (D2Q9, one relaxation time): vortices that slow down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPEEDS = 9 };
static const int cx[SPEEDS] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[SPEEDS] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double weight[SPEEDS] = {4 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 9., 1 / 36., 1 / 36., 1 / 36., 1 / 36.};

static double equilibrium(double share, double density, double along, double square) {
  return share * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square);
}

/* Each site takes what moves to it in one step, and lets it relax at the rate *omega*. */
static void step(int nx, int ny, double after[SPEEDS][ny][nx], const double before[SPEEDS][ny][nx], double omega) {
#pragma nomp for name("step") annotate("lattice", "x y") annotate("speed", "c")
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++) {
      double f[SPEEDS], density = 0, ux = 0, uy = 0;
      for (int c = 0; c < SPEEDS; c++) {
        int from_x = x - cx[c], from_y = y - cy[c];
        from_x = from_x < 0 ? nx - 1 : from_x == nx ? 0 : from_x;
        from_y = from_y < 0 ? ny - 1 : from_y == ny ? 0 : from_y;
        f[c] = before[c][from_y][from_x];
        density += f[c];
        ux += cx[c] * f[c];
        uy += cy[c] * f[c];
      }
      ux /= density;
      uy /= density;
      for (int c = 0; c < SPEEDS; c++) {
        double rest = equilibrium(weight[c], density, cx[c] * ux + cy[c] * uy, ux * ux + uy * uy);
        after[c][y][x] = f[c] + omega * (rest - f[c]);
      }
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 128, steps = argc > 2 && argv[2][0] != '-' ? atoi(argv[2]) : 100;
  int nx = n, ny = n, sites = nx * ny;
  double(*f)[ny][nx] = malloc(SPEEDS * sizeof *f), (*g)[ny][nx] = malloc(SPEEDS * sizeof *g), turn = 2 * acos(-1.0) / n;
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++) {
      double ux = 0.05 * sin(turn * x) * cos(turn * y), uy = -0.05 * cos(turn * x) * sin(turn * y);
      for (int c = 0; c < SPEEDS; c++)
        f[c][y][x] = equilibrium(weight[c], 1, cx[c] * ux + cy[c] * uy, ux * ux + uy * uy);
    }
  double *a = f[0][0], *b = g[0][0];
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, SPEEDS * sites])
#pragma nomp update(alloc : b[0, SPEEDS * sites])
  for (int k = 0; k < steps; k++) {
    step(nx, ny, (void *)b, (const void *)a, 1.2);
    double *c = a;
    a = b, b = c;
  }
#pragma nomp update(from : a[0, SPEEDS * sites])
#pragma nomp update(free : a[0, SPEEDS * sites], b[0, SPEEDS * sites])
#pragma nomp finalize
  double mass = 0, energy = 0;
  for (int s = 0; s < sites; s++) {
    double density = 0, mx = 0, my = 0;
    for (int c = 0; c < SPEEDS; c++)
      density += a[c * sites + s], mx += cx[c] * a[c * sites + s], my += cy[c] * a[c * sites + s];
    mass += density, energy += 0.5 * (mx * mx + my * my) / density;
  }
  printf("mass %.9f, energy of motion %.9e\n", mass / sites, energy / sites);
  free(f);
  free(g);
  return 0;
}
