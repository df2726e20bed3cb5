/* Names that mean something to a device's language, though not to C. */
#include "show.h"
#define N 8

static int global = 11;

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
#pragma nomp update(from : private, this)
#pragma nomp finalize
  SHOW("%d", private, N);
  SHOW("%d", this, N);
  return 0;
}
