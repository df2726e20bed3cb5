/* A region in a header, with a macro of the file that includes it; the host's data in a struct and a static array. */
#define TYPE float
#include "kernels.h"
#include "show.h"
#define N 9

static float table[N];

int main(int argc, char **argv) {
  struct {
    int count;
    float *values, inside[N];
  } box = {N, table, {0}};
#pragma nomp init(argc, argv)
#pragma nomp update(alloc : box.values[0, box.count], box.inside[0 : N])
  fill(box.values, N, 1.5f);
  fill(box.inside, N, -2);
#pragma nomp update(from : box.values[0, N])
#pragma nomp update(from : box.inside)
#pragma nomp update(free : box.values[0, N], box.inside)
#pragma nomp finalize
  SHOW("%g", table, N);
  SHOW("%g", box.inside, N);
  printf("%s %d\n", __FILE__ + sizeof(__FILE__) - sizeof("headers.c"), __LINE__);
  return 0;
}
