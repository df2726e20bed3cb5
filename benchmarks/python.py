"""Time Python loops under nomp, under Numba and as NumPy expressions, and the cost of a call.

    python benchmarks/python.py [--kernel axpy] [--rounds 7] [--json FILE]

Arrays stay on the device between nomp's calls; "copied" is the time where they do not.  The three take turns; medians
count.  Numba is not installed with nomp: ``pip install 'nomp[bench]'``.  Prints a table in Markdown, with the ratios of
the other times to nomp's: above 1, nomp is faster.  Exit status 1 if results differ.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
import python_kernels as kernels

import nomp
from nomp.runtime import session

SERIAL = ("histogram", "prefix")
"""Loops whose iterations depend on each other: ``prange`` would be wrong."""
WAYS = ("nomp", "numba", "numpy")
rng = np.random.default_rng(0)


def _sparse(rows: int, width: int) -> tuple[Any, ...]:
    start = np.arange(0, rows * width + 1, width)
    columns = rng.integers(0, rows, rows * width)
    return start, columns, rng.random(rows * width), rng.random(rows), np.zeros(rows)


@dataclass(frozen=True)
class Case:
    """How to call a kernel, and what NumPy alone does instead."""

    arguments: Callable[[], tuple[Any, ...]]
    numpy: Callable[..., Any]


def _jacobi(a: Any, b: Any) -> None:
    b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])


def _axpy(a: float, x: Any, y: Any) -> None:
    y += a * x


def _mandelbrot(counts: Any, limit: int) -> None:
    rows, columns = counts.shape
    c = -2.0 + 3.0 * np.arange(columns) / columns + 1j * (-1.0 + 2.0 * np.arange(rows) / rows)[:, None]
    z = np.zeros_like(c)
    counts[:] = 0
    inside = np.ones(counts.shape, bool)
    for _ in range(limit):
        inside &= z.real**2 + z.imag**2 < 4.0
        counts += inside
        z = np.where(inside, z * z + c, z)


def _nbody(pos: Any, mass: Any, acc: Any) -> None:
    d = pos[None, :, :] - pos[:, None, :]
    r2 = (d**2).sum(axis=2) + 0.01
    acc[:] = (mass / (r2 * np.sqrt(r2)))[:, :, None].__mul__(d).sum(axis=1)


def _spmv(start: Any, columns: Any, values: Any, x: Any, y: Any) -> None:
    y[:] = np.add.reduceat(values * x[columns], start[:-1])


def _histogram(data: Any, bins: Any) -> None:
    bins += np.bincount(data, minlength=len(bins))


CASES = {
    "axpy": Case(lambda: (0.5, rng.random(1 << 22), rng.random(1 << 22)), _axpy),
    "matmul": Case(lambda: (rng.random((512, 512)), rng.random((512, 512)), np.zeros((512, 512))),
                   lambda a, b, c: np.matmul(a, b, out=c)),
    "jacobi": Case(lambda: (rng.random((2000, 2000)), np.zeros((2000, 2000))), _jacobi),
    "mandelbrot": Case(lambda: (np.zeros((600, 800), np.int32), 100), _mandelbrot),
    "nbody": Case(lambda: (rng.random((2048, 3)), rng.random(2048), np.zeros((2048, 3))), _nbody),
    "spmv": Case(lambda: _sparse(200_000, 16), _spmv),
    "histogram": Case(lambda: (rng.integers(0, 256, 1 << 22), np.zeros(256, np.int64)), _histogram),
    "prefix": Case(lambda: (rng.random(1 << 22),), lambda a: np.cumsum(a, out=a)),
}  # fmt: skip


def numba_version(name: str) -> Callable[..., Any] | None:
    """The kernel under Numba, None where that is not installed."""
    try:
        import numba
    except ImportError:
        return None
    text = inspect.getsource(getattr(kernels, name).__wrapped__).replace("@nomp.jit\n", "")
    parallel = name not in SERIAL
    if parallel:
        text = text.replace("range(", "prange(", 1)
    space: dict[str, Any] = {"prange": numba.prange}
    exec(compile(text, f"<numba {name}>", "exec"), space)
    return numba.njit(parallel=parallel, fastmath=False)(space[name])  # type: ignore[no-any-return]


def seconds(call: Callable[[], Any]) -> float:
    """How long *call* takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def timed(name: str, rounds: int) -> tuple[dict[str, float], bool]:
    """The medians of each way to run kernel *name* in seconds, first calls too, and whether the results agree."""
    case, ours, numba = CASES[name], getattr(kernels, name), numba_version(name)
    arguments = case.arguments()
    copies = {way: [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for way in WAYS}
    ways: dict[str, Callable[[], Any]] = {"numpy": lambda: case.numpy(*copies["numpy"])}
    if numba is not None:
        ways["numba"] = lambda: numba(*copies["numba"])
    ways["nomp"] = lambda: (ours(*copies["nomp"]), nomp.sync())
    arrays = [a for a in copies["nomp"] if isinstance(a, np.ndarray)]
    nomp.update(to=arrays)
    found = {f"first {way}": seconds(call) for way, call in ways.items()}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, call in ways.items():
            times[way].append(seconds(call))
    nomp.update(from_=arrays, free=arrays)
    others = copies["numba" if numba else "numpy"]
    same = all(np.allclose(a, b, rtol=1e-9) for a, b in zip(copies["nomp"], others, strict=True))
    found |= {way: median(values) for way, values in times.items()}
    ways["nomp"]()
    found["copied"] = median(seconds(ways["nomp"]) for _ in range(rounds))
    return found, same


def imports(ways: Iterable[str]) -> str:
    """How long the imports before a first call take: seconds of a process that has NumPy already, of each of *ways*."""
    clock = "import time, numpy; begin = time.perf_counter(); from {} import {}; print(time.perf_counter() - begin)"
    found = []
    for way, what in (("nomp", "jit"), ("numba", "njit")):
        if way in ways:
            command = [sys.executable, "-c", clock.format(way, what)]
            times = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(3)]
            found.append(f"{way} {median(times):.2f} s")
    return ", ".join(found)


def repeat(call: Callable[[], Any], times: int) -> None:
    """Do *call* so many times."""
    for _ in range(times):
        call()


def overhead(calls: int = 2000) -> dict[str, float]:
    """Seconds for a call with four arrays of one element, and for the enqueueing of its kernel alone."""
    arrays = [np.ones(1) for _ in range(4)]
    nomp.update(to=arrays)
    for _ in range(100):
        kernels.four(*arrays)
    nomp.sync()
    (loop,) = (loop for loop in kernels.__nomp__.loops.values() if loop.loop.arguments[-1] == "d")
    (special,) = (special for variants in loop._special.values() for special in variants.values())
    (plan,) = session._session._kernels[special.kernel]._plans.values()
    ready = plan.launches
    found = {}
    for name, call in (("call", lambda: kernels.four(*arrays)), ("enqueue", lambda: [r.enqueue() for r in ready])):
        times = []
        for _ in range(calls // 100):
            times.append(seconds(partial(repeat, call, 100)) / 100)
            nomp.sync()
        found[name] = median(times)
    nomp.update(free=arrays)
    return found


def main(words: list[str] | None = None) -> int:
    """Run it; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", choices=CASES, help="time this one only (may be repeated)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the times there")
    options = parser.parse_args(words)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # else Numba's threads still spin when it is nomp's turn
    nomp.init()
    results, wrong = {}, []
    print("| kernel | nomp ms | copied ms | Numba/nomp | NumPy/nomp | first nomp s | first Numba s |")
    print("|---|---|---|---|---|---|---|")
    for name in options.kernel or CASES:
        found, same = timed(name, options.rounds)
        results[name] = found
        wrong += [] if same else [name]
        ratios = [f"{found[way] / found['nomp']:.2f}" if way in found else "-" for way in ("numba", "numpy")]
        first = f"{found['first numba']:.2f}" if "first numba" in found else "-"
        print(f"| {name} | {found['nomp'] * 1e3:.3f} | {found['copied'] * 1e3:.3f} | {' | '.join(ratios)} "
              f"| {found['first nomp']:.2f} | {first} |", flush=True)  # fmt: skip
    compared = [found["numba"] / found["nomp"] for found in results.values() if "numba" in found]
    if compared:
        print(f"\nGeometric mean of Numba/nomp: {geometric_mean(compared):.2f}")
    print(f"Before first calls, imports: {imports({way for found in results.values() for way in found})}")
    results["overhead"] = overhead()
    call, enqueue = results["overhead"]["call"], results["overhead"]["enqueue"]
    print(f"A call with four arrays: {call * 1e6:.1f} us, {(call - enqueue) * 1e6:.1f} us more than the enqueue alone")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    for name in wrong:
        print(f"{name}: results differ", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
