"""What the fuzzer found, made small by hand."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import run

FRAME = """#include <stdio.h>
int main(int argc, char **argv) {{
  {declarations}
  {prepare}
#pragma nomp init(argc, argv)
  {region}
#pragma nomp finalize
  printf("exact x:");
  {show}
  printf("\\n");
}}
"""
ARRAY = 'for (int k = 0; k < 40; k++) printf(" %d", (int)a[k]);'
FILL = "for (int k = 0; k < 40; k++) a[k] = k;"
A = "int a[40];"


def _mapped(loop: str) -> str:
    return f"\n#pragma nomp update(to : a)\n{loop}\n#pragma nomp update(from : a)\n"


def _program(declarations: str, region: str, show: str = ARRAY, prepare: str = FILL) -> str:
    return FRAME.format(declarations=declarations, prepare=prepare, region=region, show=show)


WORKING = {
    "offsets beside a cell": _program(
        f"{A} int last = 0;",
        "\n#pragma nomp update(to : a[3, 40])\n#pragma nomp for\n"
        "for (int i = 3; i < 30; i++) { a[i] += 2; last = a[i]; }\n"
        "#pragma nomp update(from : a[3, 40])\n",
        f'printf(" %d", last); {ARRAY}',
    ),
    "offsets beside a reduction": _program(
        f"{A} int s = 1;",
        '\n#pragma nomp update(to : a[3, 40])\n#pragma nomp for reduce("s", "+")\n'
        "for (int i = 3; i < 30; i++) s += a[i];\n",
        'printf(" %d", s);',
    ),
    "run-time step down of a narrow counter": _program(
        f"{A} short n = 20; long st = 3;",
        _mapped("#pragma nomp for\nfor (short i = n; i > 0; i -= st) a[i] = 0;"),
    ),
    "&& that never runs leaves the variable": _program(
        f"{A} int s = 5;",
        _mapped('#pragma nomp for reduce("s", "&&")\nfor (int i = 0; i < 30; i++) if (a[i] > 50) s = s && a[i];'),
        'printf(" %d", s);',
    ),
    "a constant beyond int64 in a comparison": _program(
        f"{A} unsigned long n = 5;",
        _mapped("#pragma nomp for\nfor (int i = 0; i < 30; i++) if (n < ~20ul) a[i] = 0;"),
    ),
    "a jit value with which an inner loop never runs": _program(
        f"{A} int n = 2, m = 4;",
        _mapped(
            "#pragma nomp for jit(n)\n"
            "for (int i = m - 3; i < n; i++) { a[i] = 1; for (int k = 5; k <= m; k++) a[i + 9] = 2; }"
        ),
    ),
    "a do loop and a branch in groups of items": _program(
        f"{A} int n = 20;",
        _mapped(
            '#pragma nomp for transform("schedules", "blocks")\n'
            "for (int i = 0; i < n; i++) { int k = 0; do a[i]++; while (++k < 3); if (a[i] > 4) a[i] = 9; }"
        ),
    ),
    "two nested loops whose bounds depend on a third": _program(
        f"{A} unsigned long n = 9;",
        _mapped(
            "#pragma nomp for\n"
            "for (long i = n; i >= 0; i--)\n"
            "for (unsigned l = i; n != l; l++) for (short k = -2; k <= i; k++) a[k + 2] += l;"
        ),
    ),
    "the size of a local array is an unsigned long": _program(
        f"{A} unsigned long c = 8;",
        _mapped(
            "#pragma nomp for jit(c)\n"
            "for (int i = 0; i < 30; i++) { int t[c]; for (int k = 0; k < 8; k++) t[k] = i; a[i] = t[a[i] % 8]; }"
        ),
    ),
    "a constant comparison inside a while loop": _program(
        A,
        _mapped(
            "#pragma nomp for\n"
            "for (int i = 0; i < 30; i++) { int k = 4; while (k > 0 && 'a' < -4) { k--; a[i] = 1; } }"
        ),
    ),
    "the extent of an array is a size_t": _program(
        f"{A} unsigned long c = 8; int (*b)[c] = (void *)a;",
        _mapped("#pragma nomp for\nfor (int i = 0; i < 5; i++) b[i][a[i] % 8] = 7;"),
    ),
    "two writes of a row that belongs to one iteration": _program(
        "int a[40], b[30][4] = {{1}};",
        "\n#pragma nomp update(to : a, b)\n"
        '#pragma nomp for transform("schedules", "groups")\n'
        "for (int i = 0; i < 30; i++) { b[i][0] = i; b[i][a[i] % 4] = 7; }\n"
        "#pragma nomp update(from : b)\n",
        'for (int k = 0; k < 120; k++) printf(" %d", b[k / 4][k % 4]);',
    ),
    "a transform of a loop that an annotation made": _program(
        A,
        _mapped(
            '#pragma nomp for transform("schedules", "groups", iname="i_outer") annotate("strips", "i")\n'
            "for (int i = 0; i < 30; i++) a[i] += 3 * i;"
        ),
    ),
}  # fmt: skip
REFUSED = {
    "a local array written at the counter of a group": (
        "N320",
        _program(
            A,
            _mapped(
                '#pragma nomp for transform("schedules", "groups")\n'
                "for (int i = 0; i < 30; i++) { int t[30]; t[0] = 1; t[i] = 5; a[i] = t[0]; }"
            ),
        ),
    ),
    "an annotation whose script fails": (
        "N304",
        _program(A, _mapped('#pragma nomp for annotate("groups", "nowhere")\nfor (int i = 0; i < 30; i++) a[i]++;')),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKING)
def test_it_works_now(name: str, pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    verdict, ran = pool.submit(run.attempt, WORKING[name], tmp_path).result()
    assert verdict == "same", ran.errors


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str, pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    code, text = REFUSED[name]
    verdict, ran = pool.submit(run.attempt, text, tmp_path).result()
    assert (verdict, run.refusals(ran.errors)) == ("refused", [code]), ran.errors
