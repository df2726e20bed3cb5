/*
 * The heat equation in three dimensions, with one slab of the grid on the device of each MPI rank.
 *
 *   nomp cc --cc mpicc -O2 heat.c -o heat -lm
 *   mpirun -n 2 ./heat            compare with the serial answer, then time 1, 2, ... ranks
 *   mpirun -n 2 ./heat check      compare only
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if __has_include(<nomp.h>)
#include <nomp.h>
#endif

typedef struct {
  int planes, rows, columns;
} Shape;

static const double K = 0.1, HALF_PI = 1.57079632679489661923;

/* One step in time of the planes from first up to last; rows and columns count those at the edges, too. */
static void advance(int rows, int columns, double u[][rows][columns], double new[][rows][columns], int first, int last) {
#pragma nomp for
  for (int i = first; i < last; i++)
    for (int j = 1; j < rows - 1; j++)
      for (int k = 1; k < columns - 1; k++)
        new[i][j][k] = u[i][j][k] + K * (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k] + u[i][j + 1][k] +
                                         u[i][j][k - 1] + u[i][j][k + 1] - 6 * u[i][j][k]);
}

/* Whether MPI takes addresses of the device's memory; GPU_AWARE=0 or 1 decides if it is set. */
static int gpu_aware(void) {
  const char *given = getenv("GPU_AWARE");
  if (given)
    return atoi(given);
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support())
    return 1;
#endif
#if defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  if (MPIX_Query_rocm_support())
    return 1;
#endif
  return 0;
}

/* Where the device has what is at address; NULL where MPI cannot have it from there. */
static void *on_device(void *address) {
  void *found = NULL;
  if (gpu_aware() && address) {
#ifdef NOMP_H
    nomp_mapped(address, &found);
#endif
  }
  return found;
}

static int from_device = 0; /* whether messages came from there */

/* One step of all planes but 0 and planes + 1, which are, or will be, the neighbours'. */
static void step(MPI_Comm comm, int planes, int rows, int columns, double u[][rows][columns],
                 double new[][rows][columns]) {
  int rank, size, points = rows * columns, last = planes;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;

  advance(rows, columns, u, new, 1, 2); /* what the neighbours wait for */
  advance(rows, columns, u, new, last > 2 ? last : 2, last + 1);
  double(*sent)[rows][columns] = on_device(new);
  from_device = sent != NULL;
  if (from_device) {
#pragma nomp sync
  }
  advance(rows, columns, u, new, 2, last); /* goes on while planes are copied, and messages travel */
  if (!from_device) {
    sent = new;
    if (below != MPI_PROC_NULL) {
#pragma nomp update(from : new[1, 2])
    }
    if (above != MPI_PROC_NULL) {
#pragma nomp update(from : new[last, last + 1])
    }
  }
  MPI_Request requests[4];
  MPI_Irecv(sent[0], points, MPI_DOUBLE, below, 0, comm, &requests[0]);
  MPI_Irecv(sent[last + 1], points, MPI_DOUBLE, above, 0, comm, &requests[1]);
  MPI_Isend(sent[1], points, MPI_DOUBLE, below, 0, comm, &requests[2]);
  MPI_Isend(sent[last], points, MPI_DOUBLE, above, 0, comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (!from_device && below != MPI_PROC_NULL) {
#pragma nomp update(to : new[0, 1])
  }
  if (!from_device && above != MPI_PROC_NULL) {
#pragma nomp update(to : new[last + 1, last + 2])
  }
}

/* The value at the start: hot in the middle, 0 at the edges. */
static double start(int points, int i) {
  return i == 0 || i == points + 1 ? 0 : cos(HALF_PI * fabs(2.0 * i / (points + 1) - 1));
}

/* Planes first to last + 1 of the grid at the start, in memory of its own. */
static double *grid(Shape s, int first, int last) {
  double *u = malloc(sizeof(double) * (last - first + 2) * (s.rows + 2) * (s.columns + 2)), *next = u;
  if (!u)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = first; i < last + 2; i++)
    for (int j = 0; j < s.rows + 2; j++)
      for (int k = 0; k < s.columns + 2; k++)
        *next++ = start(s.planes, i) * start(s.rows, j) * start(s.columns, k);
  return u;
}

/* Which planes of a grid are this rank's: from *first up to *last. */
static void slab(MPI_Comm comm, Shape s, int *first, int *last) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  *first = (int)((long)s.planes * rank / size);
  *last = (int)((long)s.planes * (rank + 1) / size);
}

/* This rank's planes after an even number of steps, and how many seconds the slowest rank took. */
static double *solve(MPI_Comm comm, Shape s, int steps, double *seconds) {
  int first, last;
  slab(comm, s, &first, &last);
  int planes = last - first, rows = s.rows + 2, columns = s.columns + 2;
  double(*u)[rows][columns] = (void *)grid(s, first, last), (*new)[rows][columns] = (void *)grid(s, first, last);
  double begin = 0;
#pragma nomp update(to : u[0, planes + 2], new[0, planes + 2])
  for (int n = 0; n < steps; n += 2) {
    if (n == 2) { /* kernels are compiled by now */
#pragma nomp sync
      MPI_Barrier(comm);
      begin = MPI_Wtime();
    }
    step(comm, planes, rows, columns, u, new);
    step(comm, planes, rows, columns, new, u);
  }
#pragma nomp sync
  double took = MPI_Wtime() - begin;
  MPI_Allreduce(&took, seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
#pragma nomp update(from : u[0, planes + 2])
#pragma nomp update(free : u[0, planes + 2], new[0, planes + 2])
  free(new);
  return (double *)u;
}

/* The whole grid after an even number of steps, without nomp. */
static double *serial(Shape s, int steps) {
  int rows = s.rows + 2, columns = s.columns + 2;
  double *a = grid(s, 0, s.planes), *b = grid(s, 0, s.planes);
  for (int n = 0; n < steps; n++) {
    for (int i = 1; i <= s.planes; i++)
      for (int j = 1; j <= s.rows; j++)
        for (int k = 1; k <= s.columns; k++) {
          int at = (i * rows + j) * columns + k;
          double around = a[at - rows * columns] + a[at + rows * columns] + a[at - columns] + a[at + columns];
          b[at] = a[at] + K * (around + a[at - 1] + a[at + 1] - 6 * a[at]);
        }
    double *swap = a;
    a = b;
    b = swap;
  }
  free(b);
  return a;
}

/* Whether all ranks have what one has without nomp; sums may differ in the last bits. */
static int check(MPI_Comm comm, Shape s, int steps) {
  int first, last, plane = (s.rows + 2) * (s.columns + 2);
  double seconds, largest = 0, difference;
  slab(comm, s, &first, &last);
  double *u = solve(comm, s, steps, &seconds), *wanted = serial(s, steps);
  for (int i = 0; i < (last - first + 2) * plane; i++)
    largest = fmax(largest, fabs(u[i] - wanted[first * plane + i]));
  MPI_Allreduce(&largest, &difference, 1, MPI_DOUBLE, MPI_MAX, comm);
  free(u);
  free(wanted);
  return difference < 1e-12;
}

/* Print how long 1, 2, 4 ... ranks take for one grid together (strong), and for one grid each (weak). */
static void scaling(int points, int steps) {
  int rank, size;
  double alone = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    printf("%d^3 points, %d steps, in seconds; efficiency is that per rank, against one rank\n", points, steps);
    printf("ranks    strong  efficiency      weak  efficiency\n");
  }
  for (int count = 1; count <= size; count = count < size && 2 * count > size ? size : 2 * count) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm != MPI_COMM_NULL) {
      double strong, weak;
      free(solve(comm, (Shape){points, points, points}, steps, &strong));
      free(solve(comm, (Shape){points * count, points, points}, steps, &weak));
      if (count == 1)
        alone = strong;
      if (rank == 0)
        printf("%5d %9.3f %11.2f %9.3f %11.2f\n", count, strong, alone / strong / count, weak, alone / weak);
      fflush(stdout);
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  setenv("NOMP_DEVICE", "local", 0); /* each rank of a machine takes another device, as long as there are some */
#pragma nomp init(argc, argv)
  int same = check(MPI_COMM_WORLD, (Shape){23, 18, 20}, 30);
  if (rank == 0)
    printf("%d ranks: %s the serial answer%s\n", size, same ? "the same as" : "NOT",
           from_device ? ", messages from the device's memory" : "");
  fflush(stdout);
  if (same && !(argc > 1 && !strcmp(argv[1], "check")))
    scaling(argc > 2 ? atoi(argv[1]) : 192, argc > 2 ? atoi(argv[2]) : 100);
#pragma nomp finalize
  MPI_Finalize();
  return !same;
}
