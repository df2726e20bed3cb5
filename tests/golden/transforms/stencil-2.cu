extern "C" __global__ void __launch_bounds__(256) _nomp_kernel_l2(long const ny, long const nx, double *__restrict__ v, double const *__restrict__ u)
{
  /* bulk slab for 'y_outer' */
  if (-1 + 256 * bIdx(x) + tIdx(x) >= 0 && -1 + bIdx(y) >= 0 && -2 + -256 * bIdx(x) - tIdx(x) + nx >= 0 && -4 + -2 * bIdx(y) + ny >= 0)
  {
    v[nx * 2 * bIdx(y) + 256 * bIdx(x) + tIdx(x)] = u[nx * 2 * bIdx(y) + -1 + 256 * bIdx(x) + tIdx(x)] + u[nx * 2 * bIdx(y) + 1 + 256 * bIdx(x) + tIdx(x)] - u[nx * (-1 + 2 * bIdx(y)) + 256 * bIdx(x) + tIdx(x)] - u[nx * (1 + 2 * bIdx(y)) + 256 * bIdx(x) + tIdx(x)];
    v[nx * (2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)] = u[nx * (2 * bIdx(y) + 1) + -1 + 256 * bIdx(x) + tIdx(x)] + u[nx * (2 * bIdx(y) + 1) + 1 + 256 * bIdx(x) + tIdx(x)] - u[nx * (-1 + 2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)] - u[nx * (1 + 2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)];
  }
  /* initial slab for 'y_outer' */
  if (-1 + 256 * bIdx(x) + tIdx(x) >= 0 && -2 + -256 * bIdx(x) - tIdx(x) + nx >= 0 && -3 + ny >= 0 && bIdx(y) == 0)
    v[nx + 256 * bIdx(x) + tIdx(x)] = u[nx + -1 + 256 * bIdx(x) + tIdx(x)] + u[nx + 1 + 256 * bIdx(x) + tIdx(x)] - u[256 * bIdx(x) + tIdx(x)] - u[nx * 2 + 256 * bIdx(x) + tIdx(x)];
  /* final slab for 'y_outer' */
  if (-1 + 256 * bIdx(x) + tIdx(x) >= 0 && -1 + bIdx(y) >= 0 && -2 + -256 * bIdx(x) - tIdx(x) + nx >= 0 && 3 + 2 * bIdx(y) - ny >= 0)
  {
    v[nx * 2 * bIdx(y) + 256 * bIdx(x) + tIdx(x)] = u[nx * 2 * bIdx(y) + -1 + 256 * bIdx(x) + tIdx(x)] + u[nx * 2 * bIdx(y) + 1 + 256 * bIdx(x) + tIdx(x)] - u[nx * (-1 + 2 * bIdx(y)) + 256 * bIdx(x) + tIdx(x)] - u[nx * (1 + 2 * bIdx(y)) + 256 * bIdx(x) + tIdx(x)];
    if (3 + 2 * bIdx(y) - ny == 0)
      v[nx * (2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)] = u[nx * (2 * bIdx(y) + 1) + -1 + 256 * bIdx(x) + tIdx(x)] + u[nx * (2 * bIdx(y) + 1) + 1 + 256 * bIdx(x) + tIdx(x)] - u[nx * (-1 + 2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)] - u[nx * (1 + 2 * bIdx(y) + 1) + 256 * bIdx(x) + tIdx(x)];
  }
}
