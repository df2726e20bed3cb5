/* Calls of functions from a header; pixels in tiles; a binary search; counters that wrap around; shadowed names. */
#include "calls.h"
#include "show.h"
#define N 16

typedef struct {
  float r, g, b;
  unsigned char a;
} Pixel;

typedef struct {
  Pixel pixels[4];
  int used;
} Tile;

static Tile tiles[N];
static int histogram[8];
static int total = 0;

static void put(Tile *tile, int at, Pixel *from) {
  tile->pixels[at].r = from->g;
  tile->used++;
}

static int find(const int *v, int n, int x) {
  int low = 0, high = n - 1, found = -1;
  while (low <= high && found < 0) {
    int middle = (low + high) / 2;
    if (v[middle] == x)
      found = middle;
    else if (v[middle] < x)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return found;
}

static void split(int x, int *quotient, int *rest) {
  *quotient = x / 7;
  *rest = x % 7;
}

int main(int argc, char **argv) {
  int v[N], w[N], m[4][5], out[N];
  Pixel line[N];
  unsigned short narrow[N];
  int seen = 0, first = -1, q, r;
  unsigned char tiny = 250;
  for (int i = 0; i < N; i++) {
    v[i] = 3 * i, w[i] = 5 * i % 17, out[i] = 0, narrow[i] = 65530 + i;
    line[i] = (Pixel){i, 2 * i, 3 * i, i};
    for (int j = 0; j < 4; j++)
      tiles[i].pixels[j] = line[i];
  }
  for (int i = 0; i < 20; i++)
    m[i / 5][i % 5] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : v, w, m, out, line, tiles, narrow, histogram)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    out[i] = find(v, N, w[i] * 3) + staircase(i);
    split(out[i] * 5, &q, &r);
    out[i] += q * 100 + r;
    put(&tiles[i], i & 3, line + (N - 1 - i));
    put(tiles + i, (i + 1) & 3, &tiles[i].pixels[i & 3]);
    histogram[out[i] & 7]++;
    if (out[i] > 50 && !seen) {
      seen = 1;
      first = i;
    }
    tiny += 1;
    for (int k = narrow[i]; k; k &= k - 1)
      out[i] += 1000;
    for (unsigned short u = 65533; u != 2; u++)
      out[i] += u & 1;
    {
      int i = 3;
      out[0] += i;
      for (int i = 0; i < 2; i++)
        out[1] += i;
    }
    for (int k = 0; k < 4; k++) {
      int steps = k;
      while (1) {
        if (steps++ > 4)
          one_more(&steps);
        if (steps > 6)
          break;
        if (k == 2) {
          steps += 2;
          continue;
        }
      }
      out[i] += steps;
    }
    int(*row)[5] = &m[i & 3];
    const int *p = m[i % 4];
    (*row)[1] += p[2];
    row[0][3]--;
    total += tiles[i].used;
  }
#pragma nomp update(from : out, tiles, m, histogram)
#pragma nomp finalize
  SHOW("%d", out, N);
  for (int i = 0; i < 4 * N; i++)
    printf("%d %g %g\n", tiles[i / 4].used, tiles[i / 4].pixels[i % 4].r, tiles[i / 4].pixels[i % 4].g);
  for (int i = 0; i < 4; i++)
    SHOW("%d", m[i], 5);
  SHOW("%d", histogram, 8);
  printf("%d %d %d %d %d %d\n", seen, first, q, r, tiny, total);
  return 0;
}
