"""Verdicts on loops: typical ones from C, random nests against the truth, polynomials against C's arithmetic."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import nests
import pytest
import reading
from hypothesis import given
from hypothesis import strategies as st

from nomp.arithmetic import evaluate
from nomp.dependence import verdicts
from nomp.polynomial import Polynomial, polynomial
from nomp.region import Binary, Const, Expr, Region, Unary, Var

PARAMETERS = """int n, int m, int off, double *a, double *b, double *c, const int *col, double q[n][m], double (*t)[64],
    struct pair *p, unsigned u, unsigned char k"""
LOOPS = [
    # one loop, independent iterations
    ("for (int i = 0; i < n; i++) a[i] = b[i] + b[i + 1];", "i yes"),
    ("for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1];", "i yes"),
    ("for (int i = 0; i < n; i += 2) a[i] = a[i + 1];", "i yes"),
    ("for (int i = n - 1; i >= 0; i -= 3) { a[i] = 1; a[i - 1] = a[i - 2]; }", "i yes"),
    ("for (int i = 0; i < n; i++) if (i < 4) a[i] = a[i + 4]; else a[i + 4] = 0;", "i yes"),
    ("for (int i = 0; i < n; i++) { int k = 2 * i; a[k] = a[k + 1]; }", "i yes"),
    ("for (unsigned i = 0; i < u; i++) a[i + 1] = a[i + 1] * 2;", "i yes"),
    ("for (unsigned i = 1; i < u; i++) a[i] = a[i + 4294967295u];", "i no {'i': 1} {'i': 2} {'u': 3}"),
    ("for (int i = 0; i < n; i++) a[(unsigned char)i] = 0;", "i unknown"),
    ("for (unsigned i = 0; i < u; i++) if (i - 5 > 3) a[i] = 1; else a[i + 5] = 2;", "i unknown"),
    ("for (unsigned i = 0; i < u; i++) { unsigned k = i - 5; if (k > 3) a[i] = 1; else a[i + 5] = 2; }", "i unknown"),
    ("for (int i = 0; i < n; i++) if (i - 5 > 3) a[i] = 1; else a[i + 9] = 2;", "i no"),
    ("for (int i = 0; i < n; i++) if (i - 5 > 3) a[i] = 1; else a[i - 9] = 2;", "i yes"),
    ("for (int i = 0; i < n; i++) { double x[2]; x[i % 2] = b[i]; x[1 - i % 2] = 0; a[i] = x[0]; }", "i yes"),
    ("for (int i = 0; i < n; i++) p[i].x = p[i].y + p[i + 1].y;", "i yes"),
    ("for (int i = 0; i < n; i++) { int w = i; while (w > 3) w -= 2; a[i] = w; }", "i yes"),
    ("for (int i = 0; i < n; i++) { double last = b[i]; a[i] = last; }", "i yes"),
    # one loop, dependent ones
    ("for (int i = 1; i < n; i++) a[i] = a[i - 1];", "i no {'i': 1} {'i': 2} {'n': 3}"),
    ("for (int i = n - 2; i >= 0; i--) a[i] = a[i + 1];", "i no {'i': 1} {'i': 0} {'n': 3}"),
    ("for (int i = 0; i < n; i++) a[i] = a[n - 1 - i];", "i no {'i': 0} {'i': 1} {'n': 2}"),
    ("for (int i = 0; i < n; i++) a[5] = b[i];", "i no {'i': 0} {'i': 1} {'n': 2}"),
    ("for (int i = 0; i < n; i++) a[i] = a[i + off];", "i no {'i': 0} {'i': 1} {'n': 2, 'off': 1}"),
    ("for (int i = 0; i < n; i++) { if (i < 5) a[i] = 1; else a[i - 5] = 2; }", "i no {'i': 0} {'i': 5} {'n': 6}"),
    ("for (int i = 0; i < n; i++) p[i].x = p[i + 1].x;", "i no {'i': 0} {'i': 1} {'n': 2}"),
    # data decide
    ("for (int i = 0; i < n; i++) a[col[i]] = b[i];", "i unknown"),
    ("for (int i = 0; i < n; i++) a[i] = b[col[i]];", "i yes"),
    ("for (int i = 0; i < n; i++) a[i] = a[col[i]];", "i unknown"),
    ("for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = a[i + 1];", "i unknown"),
    ("for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 2;", "i yes"),
    ("for (int i = 0; i < n; i++) { for (int j = col[i]; j < col[i + 1]; j++) a[i] = b[j]; }", "i yes, j unknown"),
    ("for (int i = 0; i < n; i++) { int w = i; while (w > 3) { w -= 2; a[w] = 1; } }", "i unknown"),
    ("for (int i = 0; i < n; i++) { switch (i) { case 1: a[i] = a[i + 1]; } }", "i unknown"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { if (q[i][j] < 0) break; q[i][j] = 0; }",
     "i yes, j unknown"),
    # variables that each iteration sets anew, and those whose last value data decide
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { off = j; q[i][j] = off; }", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < i; l++) { off = j; q[i][l] += off; }",
     "i no, j reduction, l yes"),
    ("for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) off = j; a[i] = off; }", "i no, j yes"),
    ("for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) off = j; if (b[i] > 0) off = 0; }", "i no, j yes"),
    ("for (int i = 0; i < n; i++) { if (b[i] < 0) continue; off = i; a[i] = off; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { off = i; if (b[i] < 0) continue; a[i] = off; }", "i yes"),
    ("for (int i = 0; i < n; i++) { off = 2 * i; a[off] = a[off + 1]; }", "i yes"),
    ("for (int i = 0; i < n; i++) { off = i + 1; a[i] = a[off]; }", "i no {'i': 0} {'i': 1} {'n': 2}"),
    ("for (int i = 0; i < n; i++) { off = i * m; for (int j = 0; j < m; j++) a[off + j] = 0; }", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) { off = j; q[i][j] = 0; } a[i] = b[off]; }",
     "i no, j yes"),
    ("for (int i = 0; i < n; i++) { off = i; if (b[i] > 0) off = 0; a[off] = 0; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { if (b[i] > 0) continue; off = i; a[off] = 0; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { off = col[i]; a[off] = 0; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { u = i - 5; if (u > 3) a[i] = 1; else a[i + 5] = 2; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { k = i; a[k] = 0; }", "i unknown"),
    # accumulations
    ("for (int i = 0; i < n; i++) a[3] += b[i];", "i reduction"),
    ("for (int i = 0; i < n; i++) a[col[i]] += b[i];", "i reduction"),
    ("for (int i = 0; i < n; i++) if (b[i] < a[0]) a[0] = b[i];", "i reduction"),
    ("for (int i = 0; i < n; i++) { a[0] += b[i]; a[1] = a[1] + 2 * b[i]; }", "i reduction"),
    ("for (int i = 0; i < n; i++) { a[0] += b[i]; a[0] *= 2; }", "i no"),
    ("for (int i = 0; i < n; i++) { a[0] += b[i]; c[i] = a[0]; }", "i no"),
    ("for (int i = 0; i < n; i++) a[0] = b[i] - a[0];", "i no"),
    # nests
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) q[i][j] = a[i] * b[j];", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = b[j * n + i];", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j <= m; j++) a[i * m + j] = 0;", "i unknown, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] += q[i][j] * b[j];", "i yes, j reduction"),
    ("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) q[i][j] = q[i][j - 1];",
     "i yes, j no {'i': 0, 'j': 1} {'i': 0, 'j': 2} {'n': 1, 'm': 3}"),
    ("for (int i = 1; i < n; i++) for (int j = 0; j < m - 1; j++) q[i][j] = q[i - 1][j + 1];", "i no, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) t[i][j] = t[j][i];", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[j] = i;", "i no, j yes"),
    ("for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) q[i][j] = 0;"
     " for (int k = 1; k < m; k++) a[i] += q[i][k]; }", "i yes, j yes, k reduction"),
    # bounds that are the smaller or larger of two numbers, as of tiles
    ("for (int i = 0; i < n; i++) for (int j = 16 * i; j < (16 * i + 16 < m ? 16 * i + 16 : m); j++) a[j] = i;",
     "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = i > 2 ? i : 2; j <= i; j++) a[j] = i;", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = i > 2 ? i : 2; j <= i + 1; j++) a[j] = i;",
     "i no {'i': 1, 'j': 2} {'i': 2, 'j': 2} {'n': 3}, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 16 * i; j <= (16 * i + 16 > m ? m : 16 * i + 16); j++) a[j] = i;",
     "i no {'i': 0, 'j': 16} {'i': 1, 'j': 16} {'n': 2, 'm': 16}, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 4 * i + 3; j >= (i * 4 < 2 ? 2 : i * 4); j--) a[j] = i;",
     "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 4 * i; j < (col[i] < 4 * i + 4 ? col[i] : 4 * i + 4); j++) a[j] = i;",
     "i yes, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 4 * i; j < (col[i] < 4 * i + 5 ? col[i] : 4 * i + 5); j++) a[j] = i;",
     "i unknown, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = 4 * i; j < (4 * i + 4 < m ? m : 4 * i + 4); j++) a[j] = i;",
     "i unknown, j yes"),
    ("for (int i = 0; i < n; i++) for (int j = i > 2 ? i : 2; j <= 8; j += 2) a[j] = i;", "i unknown, j yes"),
    # matrices that pointers step through from row to row
    ("for (int i = 64; i < n; i++) (&t[0][0])[i] = (&t[0][0])[i - 64];", "i no {'i': 64} {'i': 128} {'n': 129}"),
    ("for (int i = 0; i < n; i++) { double *r = t[i]; r[64] = r[0]; }", "i no {'i': 0} {'i': 1} {'n': 2}"),
    ("for (int i = 0; i < n; i++) { double *r = &t[i][0]; *(r + 70) = t[i][6]; }", "i no {'i': 0} {'i': 1} {'n': 2}"),
    ("for (int i = 0; i < n; i++) { double *r = q[i]; r[m] = r[0]; }", "i unknown"),
    ("for (int i = 0; i < n; i++) { double *r = q[i]; for (int j = 0; j < m; j++) r[j] = a[j]; }", "i yes, j yes"),
    ("for (int i = 0; i < n; i++) { double *r = t[i]; for (int j = 0; j < 64; j++) r[j] = a[j]; }", "i yes, j yes"),
]  # fmt: skip


def region(folder: Path, loop: str) -> Region:
    text = f"struct pair {{ double x, y; }};\nvoid f({PARAMETERS})\n{{\n#pragma nomp for\n{loop}\n}}\n"
    return reading.region(folder, text)


@pytest.mark.parametrize(("loop", "expected"), LOOPS)
def test_verdicts(loop: str, expected: str, tmp_path: Path) -> None:
    found = verdicts(region(tmp_path, loop))
    shown = [f"{v.loop.iname} {v.parallel}" for v in found]
    full = [f"{s} {v.witness.source} {v.witness.sink} {v.witness.parameters}" if v.witness else s
            for s, v in zip(shown, found, strict=True)]  # fmt: skip
    assert expected in (", ".join(shown), ", ".join(full))


@pytest.mark.slow
def test_random_nests_against_enumeration() -> None:
    answers: Counter[str] = Counter()
    for seed in range(150):
        nest = nests.nest(seed)
        truth = nests.all_conflicts(nest)
        for verdict in verdicts(nest):
            assert nests.fault(nest, verdict, truth.get(verdict.loop.iname, {})) == "", f"seed {seed}"
            answers[verdict.parallel] += 1
    assert answers["yes"] > 200 and answers["no"] > 80 and answers["unknown"] < 0.1 * answers.total()


@pytest.mark.slow
def test_enumeration_notices_a_wrong_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nomp.dependence._later", lambda loop, depth: f"x{depth} + 1 < y{depth}")
    wrong = 0
    for seed in range(40):
        nest = nests.nest(seed)
        truth = nests.all_conflicts(nest)
        wrong += any(nests.fault(nest, v, truth.get(v.loop.iname, {})) for v in verdicts(nest))
    assert wrong > 5


# ------------------------------------------------------------------------------------------------------- polynomials

NAMES = ("i", "j", "n")


def expressions() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        st.integers(-9, 9).map(lambda value: Const(value, "int64")),
        st.sampled_from(NAMES).map(lambda name: Var(name, "int64")),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(lambda op, left, right: Binary(op, left, right, "int64"), st.sampled_from("+-*"), inner, inner),
            inner.map(lambda operand: Unary("-", operand, "int64")),
        ),
        max_leaves=8,
    )


@given(expressions(), st.tuples(*[st.integers(-20, 20)] * 3))
def test_a_polynomial_has_the_value_of_its_expression(expr: Expr, numbers: tuple[int, int, int]) -> None:
    env = dict(zip(NAMES, numbers, strict=True))
    found = polynomial(expr, {name: Polynomial({(name,): 1}) for name in NAMES})
    assert found is not None
    total = 0
    for monomial, coefficient in found.terms.items():
        for name in monomial:
            coefficient *= env[name]
        total += coefficient
    assert total == evaluate(expr, env)
