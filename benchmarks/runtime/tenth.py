"""Prints how much processor time nomp takes over the tenth kernel of a process, without the device's compiler."""

from __future__ import annotations

import time

from nomp import pipeline
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.frontend import clang

LOOPS = [
    "y[i] += a * x[i];", "y[i] = x[i] * x[i];", "y[i] = i < 5 ? x[i] : a;", "y[i] = x[i] + x[i + 1];",
    "for (int j = 0; j < 8; j++) y[8 * i + j] = x[i];", "y[2 * i] = a; y[2 * i + 1] = x[i];",
    "double t = x[i]; y[i] = t * t + a;", "y[i] = sqrt(x[i]);", "if (x[i] > a) y[i] = a;",
    "y[i] = a * y[i] + x[i] / 3;",
]  # fmt: skip
CPU = DeviceInfo("opencl", "opencl", "", "", "", "", "cpu", "x86_64", 64, 1 << 15, 1 << 30, 2, 1)

for number, body in enumerate(LOOPS):
    text = f"void f(int n, double a, double *x, double *y) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    region = clang.parse_function(text, clang.ForClauses(), f"<{number}>")
    start = time.process_time()
    pipeline.compile(region, CPU, {}, Variant(no_wrap=True, apart=True), Settings())
    seconds = time.process_time() - start
print(f"{seconds:.4f}")
