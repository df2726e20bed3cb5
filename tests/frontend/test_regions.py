"""What regions the front end makes of C: golden files for whole programs, and the finer points one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dump
import pytest
from reading import region, regions

from nomp import region_json

SOURCES = Path(__file__).parent / "sources"


@pytest.mark.parametrize("name", sorted(file.stem for file in SOURCES.glob("*.c")))
def test_golden(name: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    text = (SOURCES / f"{name}.c").read_text(encoding="utf-8")
    found = regions(tmp_path, text, "-I", str(SOURCES))
    assert found == [region_json.loads(region_json.dumps(r)) for r in found]
    golden(f"frontend/{name}.txt", "\n\n".join(dump.region(r) for r in found))


def body(folder: Path, loop: str, declarations: str = "") -> str:
    """The dumped body of the region of *loop*, after its header."""
    head = f"void f(int n, unsigned u, long l, double *a, float *x, int *k, char *c) {{ {declarations}"
    return "\n".join(dump.block(region(folder, f"{head}\n#pragma nomp for\n{loop}\n}}").body))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("int i = 0; i < n; i++", "i32 i = 0i32; < n; += 1i32"),
        ("int i = 0; n > i; ++i", "i32 i = 0i32; < n; += 1i32"),
        ("int i = 1; i <= n; i += 2", "i32 i = 1i32; <= n; += 2i32"),
        ("int i = n; i >= 0; i--", "i32 i = n; >= 0i32; += -1i32"),
        ("int i = n - 1; 0 < i; i -= 3", "i32 i = (n -i32 1i32); > 0i32; += -3i32"),
        ("int i = 0; i != n; i = i + 1", "i32 i = 0i32; != n; += 1i32"),
        ("int i = 0; i < n; i = 2 + i", "i32 i = 0i32; < n; += 2i32"),
        ("int i = n; n >= (i); (i = (i) - k[0])", "i32 i = n; <= n; += -i32 k[0i32]"),
        ("int i = 0; i < n; i += u", "i32 i = 0i32; < n; += i32(u)"),
        ("unsigned i = n; i > 0; i--", "u32 i = u32(n); > 0u32; += -1i32"),
        ("unsigned i = n; i > 0; i += -2", "u32 i = u32(n); > 0u32; += -2i32"),
        ("unsigned i = n; i > 0; i -= u", "u32 i = u32(n); > 0u32; += -i32 i32(u)"),
        ("unsigned i = 0; i < n; i++", "u32 i = 0u32; < u32(n); += 1u32"),
        ("int i = 0; i < u; i++", "i32 i = 0i32; < u; += 1i32"),
        ("int i = 0; i < l; i++", "i32 i = 0i32; < l; += 1i32"),
        ("long i = 0; i < n; i += u", "i64 i = 0i64; < i64(n); += i64(u)"),
        ("char i = 0; i < n; i++", "i8 i = 0i8; < n; += 1i8"),
        ("short i = 0; i < k[2]; i++", "i16 i = 0i16; < k[2i32]; += 1i16"),
    ],
)
def test_headers(tmp_path: Path, header: str, expected: str) -> None:
    assert body(tmp_path, f"for ({header}) ;") == f"for {expected}"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("c[i] += n;", "c[i] = i8((i32(c[i]) +i32 n))"),
        ("c[i] <<= l;", "c[i] = i8((i32(c[i]) <<i32 i32(l)))"),
        ("k[i] /= u;", "k[i] = i32((u32(k[i]) /u32 u))"),
        ("x[i] *= 0.1;", "x[i] = f32((f64(x[i]) *f64 0.1f64))"),
        ("x[i]++;", "x[i] = (x[i] +f32 1.0f32)"),
        ("--c[i];", "c[i] = i8((i32(c[i]) -i32 1i32))"),
        ("x[i] = c[i] * x[i];", "x[i] = (f32(i32(c[i])) *f32 x[i])"),
        ("k[i] = a[i];", "k[i] = i32(a[i])"),
        ("a[i] = u * n;", "a[i] = f64((u *u32 u32(n)))"),
        ("a[i] = u < n;", "a[i] = f64((u <i32 u32(n)))"),
        ("a[i] = c[i] << l;", "a[i] = f64((i32(c[i]) <<i32 i32(l)))"),
        ("a[i] = !x[i] && ~k[i];", "a[i] = f64((!i32 x[i] &&i32 ~i32 k[i]))"),
        ("a[i] = (short)n + +c[i];", "a[i] = f64((i32(i16(n)) +i32 i32(c[i])))"),
        ("a[i] = n ? x[i] : l;", "a[i] = f64((n ? x[i] : f32(l)))"),
        ("a[i] = i % 2 ? 1 : i ? 2 : 3;", "a[i] = f64(((i %i32 2i32) ? 1i32 : (i ? 2i32 : 3i32)))"),
        ("a[i] = 0.1f;", "a[i] = 0.10000000149011612f64"),
        ("a[i] = 5000000000 + 0x10u + 'a' + 1e-3;", "a[i] = 5000000113.001f64"),
        ("a[i] = sizeof a + sizeof(short) + _Alignof(int);", "a[i] = 14.0f64"),
        ("a[i] = -1 + (1 << 3) + 7 / 2 - 7 % 3;", "a[i] = 9.0f64"),
        ("a[i] = 18446744073709551615u;", "a[i] = 1.8446744073709552e+19f64"),
        ("x[i] = sqrtf(x[i]) + pow(a[i], 2) + fabs(n);",
         "x[i] = f32(((f64(sqrt.f32(x[i])) +f64 pow.f64(a[i], 2.0f64)) +f64 fabs.f64(f64(n))))"),
        ("a[i] = erf(a[i]) + erff(x[i]) + __builtin_fmaxf(x[i], 1);",
         "a[i] = ((erf.f64(a[i]) +f64 f64(erf.f32(x[i]))) +f64 f64(fmax.f32(x[i], 1.0f32)))"),
        ("k[i] = __builtin_popcount(c[i]) + __builtin_clzl(k[i]) + __builtin_popcountll(l);",
         "k[i] = ((i32(popcount.u32(u32(c[i]))) +i32 i32(clz.u64(u64(k[i])))) +i32 i32(popcount.u64(u64(l))))"),
        ("k[i] = __builtin_ctz(u) + __builtin_parity(u);",
         "k[i] = (i32(popcount.u32((~u32 u &u32 (u -u32 1u32)))) +i32 i32((popcount.u32(u) &u32 1u32)))"),
        ("k[i] = __builtin_ffsll(l);",
         "k[i] = i32(((u64(l) ==i32 0u64) ? 0u64 : (popcount.u64((~u64 u64(l) &u64 (u64(l) -u64 1u64))) +u64 1u64)))"),
        ("k[i] = abs(k[i]);", "k[i] = ((k[i] <i32 0i32) ? -i32 k[i] : k[i])"),
        ("a[i] = 0, x[i] = 1;", "a[i] = 0.0f64\n  x[i] = 1.0f32"),
        ("a[i] = __extension__ 3 + __builtin_offsetof(struct { int a, b; }, b);", "a[i] = 7.0f64"),
        ("int v[2][2] = {1, 2, 3};", "i32 v[2i64][2i64]\n  v[0i64, 0i64] = 1i32\n  v[0i64, 1i64] = 2i32\n"
         "  v[1i64, 0i64] = 3i32\n  v[1i64, 1i64] = 0i32"),
        ("double v[2] = {n};", "f64 v[2i64]\n  v[0i64] = f64(n)\n  v[1i64] = 0.0f64"),
        ("_Bool v = n; float w = {0.1};", "b v = b(n)\n  f32 w = 0.10000000149011612f32"),
        ("a[i];", ""),
        ("(void)a[i];", ""),
        (";", ""),
        ("*a = *(a + i) + *(i + a) + i[a];", "a[0i32] = ((a[i] +f64 a[i]) +f64 a[i])"),
        ("(a + i)[n] = (&a[n])[i] + *(&x[i] - 1);", "a[(i64(i) +i64 i64(n))] = (a[(i64(n) +i64 i64(i))] +f64 "
         "f64(x[(i64(i) +i64 -1i64)]))"),
        ("double *q = a + i, *r = q + n; *r = q[1] + *(q + 2);",
         "a[(i64(i) +i64 i64(n))] = (a[(i64(i) +i64 1i64)] +f64 a[(i64(i) +i64 2i64)])"),
        ("const float *q = &x[i]; float t[2][3], (*r)[3] = t + 1, *s = t[1]; (*r)[2] = *q; s[2] = q[0];",
         "f32 t[2i64][3i64]\n  t[1i32, 2i32] = x[i]\n  t[1i32, 2i32] = x[i]"),
        ("a[c[i]] = ((double *)a)[u];", "a[i32(c[i])] = a[u]"),
        ("if (a[i]) continue; else a[i] = 2;", "if a[i]\n    continue\n  else\n    a[i] = 2.0f64"),
    ],
)  # fmt: skip
def test_statements(tmp_path: Path, statement: str, expected: str) -> None:
    text = "#include <math.h>\n#include <stdlib.h>\n"
    file = f"{text}void f(int n, unsigned u, long l, double *a, float *x, int *k, char *c) {{\n#pragma nomp for\n"
    found = region(tmp_path, f"{file}for (int i = 0; i < n; i++) {{ {statement} }}\n}}")
    lines = "\n".join(dump.block(found.body)).split("\n", 1)
    assert lines[0] == "for i32 i = 0i32; < n; += 1i32"
    assert (lines[1][2:] if len(lines) > 1 else "") == expected
