"""Time what measuring adds to launches, and compare the times that it tells with the driver's own events.

    python benchmarks/profiling.py [--agreement] [--rounds 15]

Programs take turns: without a profile, with a table in the end, with a file of all events.  Launches are those that
libnomp.so repeats without Python.  Of each the shortest run counts, in processor time, which other programs disturb
least.  Then kernels are launched in turns by nomp, profiled, and with events of our own, OpenCL's or pycuda's.  The
device is OpenCL's first one, or what NOMP_BACKEND says.
Prints two tables in Markdown.  Exit status 1 if a program fails; times never fail.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from nomp_backends import opencl_driver as cl
from nomp_backends.opencl_timing import moment

import nomp
from nomp.frontend import clang
from nomp.pragma import ForClauses
from nomp.runtime import session
from nomp.runtime.lent import HostArray

HERE = Path(__file__).parent / "runtime"
CASES = {1: 50000, 100_000: 5000, 300_000: 2000, 1_000_000: 500}
"""Elements of the kernel, and how often it is launched."""
GPU_SCALE = 16
"""How many times as large the same is on a GPU."""
WAYS: dict[str, dict[str, str]] = {
    "off": {}, "table": {"NOMP_PROFILE": "1"}, "file": {"NOMP_PROFILE": "1", "NOMP_PROFILE_DIR": "."},
}  # fmt: skip
KERNELS = {
    "axpy": "void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] += 0.5 * b[i]; }",
    "three points": """void f(int n, double *a, double *b) {
        for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1]; }""",
    "square roots": """#include <math.h>
        void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) a[i] = sqrt(b[i]); }""",
}
ELEMENTS, LAUNCHES = 1_000_000, 20
BACKEND = os.environ.get("NOMP_BACKEND", "opencl")
SCALE = 1 if BACKEND == "opencl" else GPU_SCALE


def main(words: list[str] | None = None) -> int:
    """Build, run, print; the exit status."""
    parser = argparse.ArgumentParser(description="Time what measuring adds, and compare its times with OpenCL's.")
    parser.add_argument("--agreement", action="store_true", help="compare times only")
    parser.add_argument("--rounds", type=int, default=15, help="how often each program and kernel runs (default: 15)")
    options = parser.parse_args(words)
    if not options.agreement:
        with tempfile.TemporaryDirectory() as name:
            try:
                print("\n".join(_costs(Path(name), options.rounds)), "\n")
            except subprocess.CalledProcessError as problem:
                print(f"{problem}\n{problem.stderr or ''}", file=sys.stderr)
                return 1
    print("\n".join(_agreement(options.rounds)))
    return 0


def _costs(folder: Path, rounds: int) -> Iterator[str]:
    program = folder / "profiled"
    words = (sys.executable, "-m", "nomp.driver", "cc", "-O2", HERE / "profiled.c", "-o", program)
    subprocess.run(words, check=True, capture_output=True, text=True)
    yield "| elements | off, us | table, us | file, us | table | file | table, elapsed | file, elapsed |"
    yield "|--:|--:|--:|--:|--:|--:|--:|--:|"
    for elements, launches in ((SCALE * count if count > 1 else 1, launches) for count, launches in CASES.items()):
        runs: dict[str, list[Mapping[str, float]]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way, settings in WAYS.items():
                runs[way].append(_run(program, elements, launches, settings, folder))
        best = {way: {name: min(run[name] for run in found) for name in found[0]} for way, found in runs.items()}
        own = " | ".join(f"{best[way]['processors'] * 1e6:.2f}" for way in WAYS)
        more = (f"{100 * (best[way][name] / best['off'][name] - 1):+.1f} %" for name in ("processors", "seconds")
                for way in ("table", "file"))  # fmt: skip
        yield f"| {elements} | {own} | {' | '.join(more)} |"


def _run(program: Path, elements: int, launches: int, settings: Mapping[str, str], folder: Path) -> dict[str, float]:
    environment = os.environ | {"NOMP_BACKEND": BACKEND} | settings
    done = subprocess.run((program, str(elements), str(launches)), env=environment, cwd=folder, check=True,
                          capture_output=True, text=True)  # fmt: skip
    for file in folder.glob("*.jsonl"):
        file.unlink()
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _agreement(rounds: int) -> Iterator[str]:
    """A table of the shortest launches, by nomp's account and by the driver's events; medians of each round's ratio."""
    yield "| kernel | nomp, us | events, us | nomp / events |"
    yield "|---|--:|--:|--:|"
    elements = SCALE * ELEMENTS
    n, a, b = ctypes.c_int(elements), np.ones(elements), np.ones(elements)
    addresses = [ctypes.addressof(n), a.ctypes.data, b.ctypes.data]
    nomp.init(backend=BACKEND)
    nomp.update(to=[a, b])
    by_events = _by_events if session.device().backend == "opencl" else _by_cuda
    for name, text in KERNELS.items():
        kernel = session.declare(clang.parse_function(text, ForClauses(), f"<{name}>"))
        arrays = [HostArray("a", 0, 0, True, True, a), HostArray("b", 0, 0, True, False, b)]
        launched = session.launch(kernel, addresses, arrays)
        mine, theirs = [], []
        for _ in range(rounds):
            with nomp.profile() as measured:
                for _ in range(LAUNCHES):
                    session.run(kernel, addresses)
            mine.append(measured.kernels[0].times.least)
            theirs.append(by_events(launched))
        ratio = median(one / other for one, other in zip(mine, theirs, strict=True))
        yield f"| {name}, {elements} doubles | {min(mine) * 1e6:.1f} | {min(theirs) * 1e6:.1f} | {ratio:.3f} |"
    nomp.finalize()


def _by_events(launched: Any) -> float:
    """Seconds of the shortest launch, by events of a queue of our own."""
    device = launched.context.device
    queue = cl.make("measuring", "clCreateCommandQueue", device._context, device._device, cl.PROFILING)
    (ready,) = launched.launches
    total = cl.sizes([groups * items for groups, items in zip(ready.grid, ready.block, strict=True)])
    events = [ctypes.c_void_p() for _ in range(LAUNCHES)]
    for event in events:
        cl.call("measuring", "clEnqueueNDRangeKernel", queue, ready.kernel.handle, len(ready.grid), None, total,
                cl.sizes(ready.block), 0, None, ctypes.byref(event))  # fmt: skip
    cl.call("measuring", "clFinish", queue)
    lasted = [moment(event, cl.END) - moment(event, cl.START) for event in events]
    for event in events:
        cl.call("measuring", "clReleaseEvent", event)
    cl.call("measuring", "clReleaseCommandQueue", queue)
    return min(lasted) / 1e9


def _by_cuda(launched: Any) -> float:
    """The same by pycuda's events."""
    import pycuda.driver as cuda

    device = launched.context.device
    with device.current("measuring"):
        pairs = [(cuda.Event(), cuda.Event()) for _ in range(LAUNCHES)]
        for first, last in pairs:
            first.record(device.stream)
            launched.launches[0].enqueue()
            last.record(device.stream)
        pairs[-1][1].synchronize()
        return min(first.time_till(last) for first, last in pairs) / 1e3


if __name__ == "__main__":
    sys.exit(main())
