"""Heat in a rod: plain Python; under `nomp run`, the two marked loops are kernels."""

import sys

import numpy as np


def step(u, new, k):
    #pragma nomp for
    for i in range(1, len(u) - 1):
        new[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])


def heat(n, steps):
    u = np.zeros(n)
    u[n // 2] = 1000.0
    new = u.copy()
    #pragma nomp update(to : u, new)
    for _ in range(steps):
        step(u, new, 0.25)
        u, new = new, u
    #pragma nomp update(from : u)
    #pragma nomp update(free : u, new)
    return u


u = heat(int(sys.argv[1]), 100)
warm, hottest = 0, 0.0
#pragma nomp for
for i in range(len(u)):
    if u[i] > 1:
        warm += 1
    hottest = max(hottest, u[i])
print(f"{warm} of {len(u)} points are warm, the hottest has {hottest:.3f}")
