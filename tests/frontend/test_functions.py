"""The C API's functions: parameters in their order, reductions that overwrite, and what `nomp_jit` refuses."""

from __future__ import annotations

from collections.abc import Callable

import dump
import pytest

from nomp.diagnostics import NompError, Span
from nomp.frontend.clang import parse_function
from nomp.pragma import ForClauses, Name, Reduce

HERE = Span("<nomp_jit>", 1)


def clauses(reduce: tuple[str, str] | None = None, jit: tuple[str, ...] = (), name: str | None = None) -> ForClauses:
    reductions = (Reduce(*reduce, HERE),) if reduce else ()
    return ForClauses((), (), reductions, tuple(Name(text, HERE) for text in jit), Name(name, HERE) if name else None)


ACCEPTED = {
    "order": (
        """\
void foo(double *a, int unused, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}
""",
        clauses(),
    ),
    "reduction": (
        """\
void sum(float *s, const double *a, long n) {
  for (long i = 0; i < n; i++)
    s[0] += a[i];
}
""",
        clauses(("s", "+"), name="total"),
    ),
    "several-loops": (
        """\
void two(int n, double x, double *a) {
  double half = x / 2; int i;
  for (i = 0; i < n; i++) a[i] = half;
  if (n > 2) a[0] = sqrt(x);
  for (i = 1; i < n; i++) { a[i] += fabsf(a[i - 1]); }
  return;
}
""",
        clauses(),
    ),
    "sizes": (
        """\
#define M 4
typedef double real;
void vla(int m, int n, real w[n][m], bool *b, uint8_t *c, size_t k) {
  for (size_t i = 0; i < k; i++) {
    real t[m][M];
    t[0][1] = w[i][2];
    b[i] = t[0][1] > c[i];
  }
}
""",
        clauses(jit=("m",)),
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_region(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"frontend/functions/{name}.txt", dump.region(parse_function(*ACCEPTED[name])))


REFUSED = {
    "none": (
        """\
int n;
""",
        clauses(),
    ),
    "two": (
        """\
void f(void) {}
void g(void) {}
""",
        clauses(),
    ),
    "syntax": (
        """\
void foo(int *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i
}
""",
        clauses(),
    ),
    "global": (
        """\
int n;
void foo(int *a) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}
""",
        clauses(),
    ),
    "written": (
        """\
void foo(double s, double *a, int n) {
  for (int i = 0; i < n; i++)
    s += a[i];
}
""",
        clauses(("s", "+")),
    ),
    "unknown": (
        """\
void foo(double *s, int n) {
  for (int i = 0; i < n; i++)
    s[0] += i;
}
""",
        clauses(("sum", "+")),
    ),
    "calls": (
        """\
void foo(double *s, int n) {
  for (int i = 0; i < n; i++)
    s[i] = helper(i);
}
""",
        clauses(),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_message(name: str, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(NompError) as caught:
        parse_function(*REFUSED[name])
    golden(f"frontend/errors/function-{name}.txt", str(caught.value))


@pytest.mark.parametrize("op", ["+", "*", "min", "max", "&", "|", "^", "&&", "||"])
def test_operators(op: str) -> None:
    form = {"min": "if (a[i] < *s) *s = a[i]", "max": "*s = *s > a[i] ? *s : a[i]"}.get(op, f"*s = *s {op} a[i]")
    found = parse_function(
        f"void f(int *s, int *a, int n) {{ for (int i = 0; i < n; i++) {form}; }}", clauses(("s", op))
    )
    assert [(r.name, r.op) for r in found.clauses.reductions] == [("s", op)]
    assert found.overwrite
    assert found.param("s").kind == "cell"


@pytest.mark.parametrize(
    ("op", "statement", "fits"),
    [
        ("+", "*s -= a[i];", True),
        ("+", "*s += a[i] * 2, *s += 1;", True),
        ("+", "*s = *s + a[i] - 1;", True),
        ("+", "*s = a[i] + (*s - 1);", True),
        ("+", "if (a[i] > 0) ++*s; else *s -= 2;", True),
        ("+", "for (int j = 0; j < i; j++) *s += j;", True),
        ("+", "*s = a[i] - *s;", False),
        ("+", "*s = *s + *s;", False),
        ("+", "*s = a[i];", False),
        ("+", "if (*s > 0) *s += 1;", False),
        ("+", "*s += a[i]; a[i] = *s;", False),
        ("+", "*s *= 2;", False),
        ("+", "*s = (char)(*s + a[i]);", False),
        ("*", "*s = a[i] * *s * 3;", True),
        ("*", "*s /= 2;", False),
        ("min", "*s = a[i] < *s ? a[i] : *s;", True),
        ("min", "*s = *s <= a[i] ? *s : a[i];", True),
        ("min", "if (*s >= a[i]) { *s = a[i]; }", True),
        ("min", "if (a[i] < *s) *s = a[i]; else a[i] = 0;", False),
        ("min", "if (a[i] < *s) *s = i;", False),
        ("max", "*s = a[i] < *s ? a[i] : *s;", False),
        ("max", "*s = a[i] < *s ? *s : a[i];", True),
    ],
)
def test_what_fits_a_reduction(op: str, statement: str, fits: bool) -> None:
    text = f"void f(int *s, int *a, int n) {{ for (int i = 0; i < n; i++) {{ {statement} }} }}"
    if fits:
        assert parse_function(text, clauses(("s", op))).param("s").kind == "cell"
        return
    with pytest.raises(NompError) as caught:
        parse_function(text, clauses(("s", op)))
    assert caught.value.code == "N215"
