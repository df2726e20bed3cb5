/* Subscripts in unsigned and narrow types: those that wrap around to nothing, into arrays with offsets and rows. */
#include "show.h"
#define N 16

int main(int argc, char **argv)
{
  int a[N], m[N][3];
  unsigned u[N], back = -3;
  unsigned char c[N];
  short down = -2;
  for (int i = 0; i < N; i++) {
    a[i] = i, u[i] = 5 * i % N, c[i] = 17 * i;
    for (int j = 0; j < 3; j++)
      m[i][j] = i * j;
  }
  int *p = a + 3;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, u, c, m)
#pragma nomp for
  for (int i = 3; i < N - 3; i++)
    p[i + back] += 10 * i;
#pragma nomp for
  for (unsigned i = 4; i < 10; i++)
    p[i - 3 - 3 + 2] += p[i + back];
#pragma nomp for
  for (short i = 2; i < 10; i++)
    p[(short)(i + down)] += p[u[i] - u[i]];
#pragma nomp for
  for (int i = 0; i < N; i++)
    m[u[i]][(unsigned char)(c[i] - c[i] + 257)] += m[(unsigned char)(u[i] + 254) % N][u[i] % 3u];
#pragma nomp for
  for (int i = 1; i < N; i++)
    m[u[i] - u[i] + c[i] / 17][1] += m[u[i - 1] + back + 3][u[i] % 3];
#pragma nomp update(from : a, m)
#pragma nomp finalize
  SHOW("%d", a, N);
  for (int i = 0; i < N; i++)
    SHOW("%d", m[i], 3);
  return 0;
}
