"""Broken sources: whatever stands in a file, it is read or refused with a code; no traceback, no hang."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from mutate import mutated

from nomp import pipeline
from nomp.diagnostics import NompError
from nomp.frontend import clang

SOURCES = [
    b"""#define N 8
struct box { int n; double x[N]; };
static double f(int n, double a[n], const float *b, struct box *p, const int *start) {
  double s = 0; int last, j;
#pragma nomp for reduce("s", "+") jit("n") name("sum")
  for (int i = 0; i < n; i++)
    s += a[i] * p->n;
#pragma nomp for transform("tile", "rows", b=32, c="x") annotate("k", "v")
  for (unsigned i = n; i > 0; i -= 2) {
    float t[3] = {1, 2.5f, 'c'};
    for (j = start[i]; j <= start[i + 1]; ++j) {
      if (b[j] < t[1] || !(j & 1)) continue;
      a[i] += b[j] ? t[j % 3] / 2 : (int)a[j] >> 1;
    }
  }
#pragma nomp for
  for (long k = 3; k != 0; k--) { last = k * sizeof(int); p->x[k] -= last; }
  return s + last;
}
int main(int argc, char **argv) {
  double a[N]; float b[N] = {0}; struct box box = {1}; int start[N + 1] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b, box.x[0:N]) \\
  /* and */
#pragma nomp update(alloc : start[0, N + 1])
  f(N, a, b, &box, start);
#pragma nomp sync // wait
#pragma nomp update(from : a)
#pragma nomp finalize
}
""",
]
COUNT = int(os.environ.get("NOMP_FUZZ_SOURCES", "600"))


@contextmanager
def _limit(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _read(path: Path) -> None:
    """What ``nomp cc --emit region`` does; errors must render, too."""
    try:
        for file in clang.parse(str(path), ["-std=gnu11"]):
            for directive in file.directives:
                if directive.region is not None:
                    pipeline.check(directive.region)
                    directive.region.to_json()
    except NompError as problem:
        assert problem.diagnostics
        for diagnostic in problem.diagnostics:
            assert diagnostic.code in str(problem)


@pytest.mark.parametrize("batch", range(5))
def test_a_broken_source_is_read_or_refused(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "broken.c"
    for seed in range(batch * COUNT // 5, (batch + 1) * COUNT // 5):
        random = Random(seed)
        path.write_bytes(mutated(random.choice(SOURCES), random))
        with _limit(20):
            try:
                _read(path)
            except Exception as failure:
                pytest.fail(f"seed {seed}: {type(failure).__name__}: {failure}\n{path.read_bytes()!r}")
