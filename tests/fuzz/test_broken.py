"""Broken sources: whatever stands in a file, it is read or refused with a code; no traceback, no hang."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from mutate import mutated

from nomp import pipeline, region_json
from nomp.diagnostics import NompError
from nomp.frontend import clang

SOURCES = [
    b"""#define N 8
struct box { int n; double x[N]; };
static int argc_;
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
    b"""typedef unsigned char byte;
enum { LOW = -2, HIGH = 9 };
struct inner { short k; byte b; double w[2][3]; };
struct cell { int n; struct inner in; float f; };
struct odd { byte bits : 3; union { int i; float f; } u; struct cell *c; };
static const short table[4] = {1, 2, 3, 4};
static struct cell cells[16];
static int argc_;
double sqrt(double), fmax(double, double);
static int clip(int x, const int most) {
  for (int k = 0; k < 3; k++)
    if (x < k) return k;
  return x < most ? x : most;
}
static double mix(double x, float y) { return clip(x, 4) + y * HIGH; }
double g(int n, int m, double (*a)[m], long *restrict c, struct cell *p, double *const d, struct odd *o) {
  long hits = 0; double top = -1e30; int i, e; _Bool any = 0;
  struct cell one = cells[3];
#pragma nomp for reduce(+ : hits) reduce("top", "max") reduce("any", "||")
  for (i = 0; i < n; ++i) {
    double best = a[i][0];
    int k = 0;
    while (k < m && a[i][k] > 0) {
      if (best < a[i][k]) best = a[i][k];
      k++;
    }
    do {
      hits += c[i] & 3;
      if (k == 2) break;
    } while (--k > 0);
    top = fmax(top, best);
    any = any || k > HIGH;
  }
#pragma nomp for transform("schedules", "tiles", size=4, part=0.5) jit(m, n) annotate("field", "a")
  for (short r = 0; r < n; r += 2) {
    double t[m];
    struct inner v = p[r].in;
    for (e = 0; e < m; e++)
      t[e] = a[r][e] - v.w[1][e % 3];
    switch (table[r & 3] + v.k) {
    case LOW: a[r][0] = sqrt(t[0]); break;
    case 1:
    case 2: v.w[0][1] *= 2;
    default: a[r][m - 1] = mix(t[m - 1], p->f);
    }
    p[r].in = v;
    p[r].n = p[r].in.b + clip(r, (byte)n);
  }
_Pragma("nomp for name(\\"last\\")")
  for (unsigned long q = n; q >= 1; q--) {
    cells[q] = one;
    *(d + q) = ~c[q] ^ (long)d[q - 1] << 2;
    if (q == 7) continue;
    cells[q].in.w[q % 2][0] += -d[q] / 3, d[q] = 1;
  }
  return hits + top + i + e + o->u.f;
}
int main(int argc, char **argv) {
  double a[12][5] = {{1}}, d[16] = {0}; long c[16] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, c[0:16], d[1, 16], cells)
  struct odd odd = {1};
  g(12, 5, a, c, cells, d, &odd);
#pragma nomp update(from : a[2, 12], d[1, 16]) // rows
#pragma nomp update(free : c, cells)
#pragma nomp finalize
}
""",
]
COUNT = int(os.environ.get("NOMP_FUZZ_SOURCES", "600"))
BATCHES = 5
SECONDS, MEMORY = 20, 4 << 30
"""What reading one source may take."""


@contextmanager
def _limits() -> Iterator[None]:
    """A block that ends with a TimeoutError or MemoryError before the machine is at its end."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {SECONDS} s")

    handler, memory = signal.signal(signal.SIGALRM, stop), resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, memory[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, memory)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


def _read(path: Path) -> set[str]:
    """The codes that ``nomp cc --emit region`` refuses a file with; errors must render, too."""
    try:
        for file in clang.parse(str(path), ["-std=gnu11"]):
            for directive in file.directives:
                if directive.region is not None:
                    pipeline.check(directive.region)
                    region_json.dumps(directive.region)
    except NompError as problem:
        assert problem.diagnostics
        for diagnostic in problem.diagnostics:
            assert diagnostic.code in str(problem)
        return {diagnostic.code for diagnostic in problem.diagnostics}
    return set()


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_the_sources_are_whole(source: bytes, tmp_path: Path) -> None:
    (tmp_path / "whole.c").write_bytes(source)
    assert _read(tmp_path / "whole.c") == set()


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_broken_source_is_read_or_refused(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "broken.c"
    found = []
    for seed in range(batch * COUNT // BATCHES, (batch + 1) * COUNT // BATCHES):
        random = Random(seed)
        path.write_bytes(mutated(random.choice(SOURCES), random))
        with _limits():
            try:
                found.append(_read(path))
            except Exception as failure:
                pytest.fail(f"seed {seed}: {type(failure).__name__}: {failure}\n{path.read_bytes()!r}")
    if len(found) >= 100:  # N201 is clang's: it tells nothing of nomp
        assert sum("N201" not in codes for codes in found) > 0.45 * len(found), found
        assert sum(not codes for codes in found) > 0.1 * len(found), found
        assert len(set[str]().union(*found)) >= 12, found
