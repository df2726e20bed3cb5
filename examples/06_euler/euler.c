/* The Euler equations of gas dynamics in a periodic box: a pulse of pressure spreads.  Finite volumes, Rusanov's flux,
   Euler's method in time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 5 }; /* density, momentum in x, y and z, energy */

static double pressure(double density, double mx, double my, double mz, double energy) {
  return 0.4 * (energy - 0.5 * (mx * mx + my * my + mz * mz) / density);
}

/* The new state *v* of each cell after a step of *ratio* = time / width; *u* is the old one.  The outermost cells are
   copies of those on the other side. */
static void advance(int nx, int ny, int nz, double v[VARIABLES][nz][ny][nx], double u[VARIABLES][nz][ny][nx],
                    double ratio) {
#pragma nomp for name("advance") annotate("stencil", "x y z")
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        double w[7][VARIABLES], p[7], fast[7], change[VARIABLES];
        for (int c = 0; c < VARIABLES; c++) {
          w[0][c] = u[c][z][y][x];
          w[1][c] = u[c][z][y][x - 1], w[2][c] = u[c][z][y][x + 1];
          w[3][c] = u[c][z][y - 1][x], w[4][c] = u[c][z][y + 1][x];
          w[5][c] = u[c][z - 1][y][x], w[6][c] = u[c][z + 1][y][x];
          change[c] = 0;
        }
        for (int s = 0; s < 7; s++) {
          p[s] = pressure(w[s][0], w[s][1], w[s][2], w[s][3], w[s][4]);
          double speed = fmax(fabs(w[s][1]), fmax(fabs(w[s][2]), fabs(w[s][3]))) / w[s][0];
          fast[s] = speed + sqrt(1.4 * p[s] / w[s][0]);
        }
        for (int d = 0; d < 3; d++) {
          double left = fmax(fast[0], fast[2 * d + 1]), right = fmax(fast[0], fast[2 * d + 2]);
          double vl = w[2 * d + 1][1 + d] / w[2 * d + 1][0], vr = w[2 * d + 2][1 + d] / w[2 * d + 2][0];
          for (int c = 0; c < VARIABLES; c++) {
            double before = w[2 * d + 1][c], after = w[2 * d + 2][c];
            double flux = after * vr - before * vl;
            if (c == 1 + d)
              flux += p[2 * d + 2] - p[2 * d + 1];
            if (c == 4)
              flux += p[2 * d + 2] * vr - p[2 * d + 1] * vl;
            change[c] += 0.5 * (flux - right * (after - w[0][c]) + left * (w[0][c] - before));
          }
        }
        for (int c = 0; c < VARIABLES; c++)
          v[c][z][y][x] = w[0][c] - ratio * change[c];
      }
}

/* Copy the planes inside to the outermost ones on the other side, one direction after the other. */
static void wrap(int nx, int ny, int nz, double u[VARIABLES][nz][ny][nx]) {
#pragma nomp for name("wrap_x")
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int c = 0; c < VARIABLES; c++) {
        u[c][z][y][0] = u[c][z][y][nx - 2];
        u[c][z][y][nx - 1] = u[c][z][y][1];
      }
#pragma nomp for name("wrap_y")
  for (int z = 0; z < nz; z++)
    for (int x = 0; x < nx; x++)
      for (int c = 0; c < VARIABLES; c++) {
        u[c][z][0][x] = u[c][z][ny - 2][x];
        u[c][z][ny - 1][x] = u[c][z][1][x];
      }
#pragma nomp for name("wrap_z")
  for (int y = 0; y < ny; y++)
    for (int x = 0; x < nx; x++)
      for (int c = 0; c < VARIABLES; c++) {
        u[c][0][y][x] = u[c][nz - 2][y][x];
        u[c][nz - 1][y][x] = u[c][1][y][x];
      }
}

static void start(int nx, int ny, int nz, double u[VARIABLES][nz][ny][nx]) {
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        double dx = (x - 0.5 * nx) / nx, dy = (y - 0.5 * ny) / ny, dz = (z - 0.5 * nz) / nz;
        double p = 1 + 0.5 * exp(-40 * (dx * dx + dy * dy + dz * dz));
        u[0][z][y][x] = 1;
        u[1][z][y][x] = 0.1, u[2][z][y][x] = 0, u[3][z][y][x] = 0;
        u[4][z][y][x] = p / 0.4 + 0.5 * 0.1 * 0.1;
      }
}

int main(int argc, char **argv) {
  int n = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 32, steps = argc > 2 && argv[2][0] != '-' ? atoi(argv[2]) : 20;
  int nx = n + 2, ny = n + 2, nz = n + 2, cells = nx * ny * nz;
  double *u = calloc(VARIABLES * cells, sizeof *u), *v = calloc(VARIABLES * cells, sizeof *v);
  start(nx, ny, nz, (void *)u);
  memcpy(v, u, VARIABLES * sizeof *u * cells);
#pragma nomp init(argc, argv)
#pragma nomp update(to : u[0, VARIABLES * cells], v[0, VARIABLES * cells])
  for (int step = 0; step < steps; step++) {
    wrap(nx, ny, nz, (void *)u);
    advance(nx, ny, nz, (void *)v, (void *)u, 0.1);
    double *w = u;
    u = v, v = w;
  }
#pragma nomp update(from : u[0, VARIABLES * cells])
#pragma nomp update(free : u[0, VARIABLES * cells], v[0, VARIABLES * cells])
#pragma nomp finalize
  double mass = 0, energy = 0, most = 0;
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        const double *cell = u + (z * ny + y) * nx + x;
        mass += cell[0], energy += cell[4 * cells];
        most = fmax(most, fabs(cell[0] - 1));
      }
  printf("mass %.10f energy %.10f largest change of density %.8f\n", mass / n / n / n, energy / n / n / n, most);
  free(u);
  free(v);
  return 0;
}
