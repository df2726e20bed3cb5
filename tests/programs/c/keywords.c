/* Names that mean something to a device's language, though not to C. */
#include "show.h"
#define N 8

static int global = 11;

struct pair {
  int x, y;
};

static int sum_of(int half) {
  int local[3], constant = 2;
  for (int lid = 0; lid < 3; lid++)
    local[lid] = half + constant * lid;
  return local[0] + local[1] + local[2];
}

int main(int argc, char **argv) {
  int kernel[N], private[N], this[N];
  int constant = 3, half = 4, uint = 5, threadIdx = 6, class = 7, new = 8;
  for (int i = 0; i < N; i++)
    kernel[i] = i, private[i] = 0, this[i] = 2 * i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : kernel, private, this)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int local[2], barrier = kernel[i], float4 = 1, get_global_id = 2;
    local[0] = barrier * constant + half;
    local[1] = global + uint + float4 + get_global_id;
    for (int lid = 0; lid < 2; lid++)
      if (i != half || private[i] > uint)
        private[i] += local[lid] + threadIdx * class - new;
  }
#pragma nomp for
  for (int global_id = 0; global_id < N; global_id++) {
    int template = this[global_id], gid = 2, lid = 3;
    this[global_id] = template * gid + lid;
  }
#pragma nomp for
  for (int double2 = 0; double2 < N; double2++)
    this[double2] += double2;
  int atom_energy = 1, length = N - 1, limit = 3;
  unsigned long convert_all = 18446744073709551615u;
#pragma nomp for reduce("atom_energy", "+")
  for (int i = 0; i < N; i++)
    atom_energy += sum_of(this[i]);
#pragma nomp for transform("schedules", "staged")
  for (int i = 0; i < length; i++)
    private[i] = this[i] + 1;
#pragma nomp for jit("convert_all")
  for (int i = 0; i < N; i++)
    this[i] += convert_all >> 60;
  /* The loop over j is read twice, because its bound changes in it: the member's name must not be given twice. */
  struct pair p[N];
  for (int i = 0; i < N; i++)
    p[i].x = i % 3, p[i].y = 0;
#pragma nomp update(to : p)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int most = limit;
    for (int j = 0; j < most; j++) {
      this[i] += p[j].x;
      if (this[i] > 30)
        most = 2;
    }
    int p_x = 2;
    this[i] *= p_x;
  }
#pragma nomp update(from : private, this)
#pragma nomp finalize
  printf("%d\n", atom_energy);
  SHOW("%d", private, N);
  SHOW("%d", this, N);
  return 0;
}
