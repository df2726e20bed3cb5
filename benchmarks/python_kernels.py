"""The loops that `benchmarks/python.py` times; Numba gets them with ``prange`` where that is right."""

import nomp


@nomp.jit
def axpy(a, x, y):
    """y += a x."""
    #pragma nomp for
    for i in range(len(x)):
        y[i] = y[i] + a * x[i]


@nomp.jit
def matmul(a, b, c):
    """c = a b."""
    #pragma nomp for
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@nomp.jit
def jacobi(a, b):
    """One step of Jacobi's method in two dimensions."""
    #pragma nomp for
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@nomp.jit
def mandelbrot(counts, limit):
    """How many steps each point stays inside."""
    #pragma nomp for
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            re = -2.0 + 3.0 * j / counts.shape[1]
            im = -1.0 + 2.0 * i / counts.shape[0]
            x = 0.0
            y = 0.0
            steps = 0
            while steps < limit and x * x + y * y < 4.0:
                t = x * x - y * y + re
                y = 2.0 * x * y + im
                x = t
                steps += 1
            counts[i, j] = steps


@nomp.jit
def nbody(pos, mass, acc):
    """The accelerations of bodies that attract each other."""
    #pragma nomp for
    for i in range(pos.shape[0]):
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(pos.shape[0]):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = mass[j] / (r2 * r2 ** 0.5)
            ax += f * dx
            ay += f * dy
            az += f * dz
        acc[i, 0] = ax
        acc[i, 1] = ay
        acc[i, 2] = az


@nomp.jit
def spmv(start, columns, values, x, y):
    """y = A x for a matrix of compressed rows."""
    #pragma nomp for
    for i in range(len(y)):
        s = 0.0
        for k in range(start[i], start[i + 1]):
            s += values[k] * x[columns[k]]
        y[i] = s


@nomp.jit
def histogram(data, bins):
    """How often each value occurs."""
    #pragma nomp for
    for i in range(len(data)):
        bins[data[i]] += 1


@nomp.jit
def prefix(a):
    """Sums of all elements before, in order."""
    #pragma nomp for
    for i in range(1, len(a)):
        a[i] += a[i - 1]


@nomp.jit
def four(a, b, c, d):
    """Almost nothing with four arrays."""
    #pragma nomp for
    for i in range(len(a)):
        a[i] = b[i] + c[i] * d[i]
