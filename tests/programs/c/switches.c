/* switch: fallthrough, default in the middle, ranges, declarations, loops and continue inside, other integer types. */
#include "show.h"
#define N 16

enum colour { RED, GREEN = 3, BLUE };

static int kind(int x) {
  switch (x % 5) {
  case 0:
    return 10;
  case 1:
  case 2:
    x++;
  /* fallthrough */
  case 3:
    return x;
  default:
    break;
  }
  return -1;
}

int main(int argc, char **argv) {
  int k[N], m[N];
  long long wide[N];
  enum colour colours[N];
  for (int i = 0; i < N; i++)
    k[i] = 7 * i % 11 - 2, m[i] = 0, wide[i] = (i % 3) * 5000000000LL, colours[i] = i % 5;
#pragma nomp init(argc, argv)
#pragma nomp update(to : k, m, wide, colours)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    switch (k[i]) {
      int shared;
    case -2 ... 0:
      shared = 5;
      m[i] = shared;
      break;
    default:
      m[i] = -1;
      /* fallthrough */
    case 1: {
      int own = 2 * i;
      m[i] += own;
    } break;
    case 2:
    case 3:
      shared = i;
      for (int j = 0; j < 9; j++) {
        if (j == 4)
          break;
        shared += j;
      }
      m[i] = shared;
      break;
    case 4:
      if (i > 7)
        break;
      m[i] = 44;
      continue;
    }
    switch (wide[i]) {
    case 5000000000LL:
      m[i] += 1000;
      break;
    case 10000000000LL:
      m[i] += 2000;
    }
    switch ((unsigned char)k[i])
    case 254:
      m[i] += 10000;
    switch (colours[i]) {
    case RED:
      m[i]++;
      break;
    case GREEN:
    case BLUE:
      switch (i % 2) {
      case 0:
        m[i] *= 2;
        break;
      default:
        m[i] *= 3;
      }
      break;
    default:;
    }
    m[i] = 100 * m[i] + kind(i);
  }
#pragma nomp update(from : m)
#pragma nomp finalize
  SHOW("%d", m, N);
  return 0;
}
