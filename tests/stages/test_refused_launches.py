"""What launches refuse: memory that is not mapped or that overlaps, and values that a loop cannot count with."""

from __future__ import annotations

import os
from pathlib import Path

import commands
import pytest

from nomp.frontend import clang
from nomp.runtime import ranges


@pytest.mark.slow
def test_a_bound_that_overlaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """#include <stdio.h>
void f(int n, int *a, int *b, const int *bound) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < bound[i]; j++)
      a[j] = b[j];
}
int main(void) {
  int a[9] = {0}, b[9] = {0}, bound[9] = {3, 2, 1};
#pragma nomp init(0, 0)
#pragma nomp update(to : a, b, bound)
  f(3, a, a + 1, bound);
  puts("fine");
  f(3, bound, b, bound);
  return 0;
}
"""
    monkeypatch.chdir(tmp_path)
    Path("bound.c").write_text(text)
    commands.succeed(*commands.NOMP_CC, "bound.c", "-o", "bound")
    done = commands.run("./bound")
    assert (done.returncode, done.stdout) == (1, "fine\n")
    assert done.stderr.replace(f"{tmp_path}/", "").splitlines()[:2] == [
        "bound.c:5:5: error: arrays of kernel '_nomp_kernel_l3' may overlap in this launch, and the bound of loop 'j' "
        "may change in it [N402]",
        "    5 |     for (int j = 0; j < bound[i]; j++)",
    ]


@pytest.mark.slow
def test_what_lies_behind_a_mapped_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array or a table right behind a mapped one is not taken for a part of it."""
    monkeypatch.chdir(tmp_path)
    Path("behind.c").write_text("""#include <stdio.h>
static const struct { int first[4], second[4]; } table = {{1, 2, 3, 4}, {5, 6, 7, 8}};
static void back(int *end) {
#pragma nomp for
  for (int i = -4; i < 0; i++)
    end[i] += table.second[-1 - i];
}
static void any(int *p, const int *k) {
#pragma nomp for
  for (int i = 0; i < 4; i++)
    p[k[i]] += i;
}
int main(void) {
  struct { int v[4], o[4]; } g = {{1, 2, 3, 4}, {0}};
  int k[4] = {3, 2, 1, 0};
#pragma nomp init(0, 0)
#pragma nomp update(to : g.v, k, table.first)
  back(g.o);
#pragma nomp update(from : g.v)
  printf("%d %d\\n", g.v[0], g.v[3]);
  fflush(stdout);
  any(g.o, k);
  return 0;
}
""")
    commands.succeed(*commands.NOMP_CC, "behind.c", "-o", "behind")
    done = commands.run("./behind")
    assert (done.returncode, done.stdout) == (1, "9 9\n"), done.stderr
    assert "behind.c:11:5: error: Map pointer" in done.stderr and "[N607]" in done.stderr


@pytest.mark.slow
def test_between_two_mapped_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pointer to where one array ends and another begins means the one that the subscripts reach."""
    monkeypatch.chdir(tmp_path)
    Path("between.c").write_text("""#include <stdio.h>
typedef struct { int v[4], o[4], w[4]; } all;
static void show(all *g) {
#pragma nomp update(from : g->v, g->o, g->w)
  for (int i = 0; i < 4; i++)
    printf("%d %d %d\\n", g->v[i], g->o[i], g->w[i]);
}
int main(void) {
  all g = {{1, 2, 3, 4}, {3, 1, 2, 0}, {5, 6, 7, 8}};
  int *o = g.v + 4, *w = g.w, rows[4] = {0, 2, 3, 4}, off = -4;
  int (*m)[2] = (int (*)[2])g.w;
#pragma nomp init(0, 0)
#pragma nomp update(to : g.v, g.o, g.w, rows)
#pragma nomp for
  for (int i = 0; i < 4; i++) o[g.o[i] - 4] += 10 * i; // v, by o's elements
  show(&g);
#pragma nomp for
  for (int i = 0; i < 4; i++) { int j = g.o[i]; w[j] += 100 * i; } // w
  show(&g);
#pragma nomp for
  for (int i = 0; i < 3; i++)
    for (int j = rows[i]; j < rows[i + 1]; j++) w[(j + i) % 4 + off] += 1000 * i + j; // o
  show(&g);
#pragma nomp for
  for (int i = 0; i < 4; i++) m[i < 2 ? -1 : -2][i % 2] = i; // o, by rows
  show(&g);
  fflush(stdout);
#pragma nomp for
  for (int i = 0; i < 4; i++) { w[rows[i] - 4] = i; rows[i] -= 4; } // o
  show(&g);
#pragma nomp update(free : g.w)
  for (int i = 0; i < 4; i++) g.w[i] = -i;
#pragma nomp update(to : g.w)
#pragma nomp for
  for (int i = 0; i < 4; i++) { o[rows[i]] += 7; w[rows[i]] += g.v[i] + g.o[i]; } // v, o
  show(&g);
  return 0;
}
""")
    commands.succeed("gcc", "-Wno-unknown-pragmas", "between.c", "-o", "plain")
    commands.succeed(*commands.NOMP_CC, "between.c", "-o", "ours")
    done = commands.run("./ours")
    assert (done.returncode, done.stdout) == (0, commands.succeed("./plain").stdout), done.stderr
    done = commands.run("./ours", env=os.environ | {"NOMP_VERIFY": "1"})
    assert (done.returncode, done.stdout) == (0, commands.succeed("./plain").stdout), done.stderr


SINGLES = """struct sim { int n, m; int v[8]; };
int one = 5;
void sum(int n, int *s, const int *x) {
#pragma nomp for reduce("s[0]", "+")
  for (int i = 0; i < n; i++) s[0] += x[i];
}
void both(int n, int *s, int *t, const int *x) {
#pragma nomp for reduce("s[0]", "+") reduce("t[0]", "+")
  for (int i = 0; i < n; i++) { s[0] += x[i]; t[0] += 2 * x[i]; }
}
void set(int n, int *p, int *q, const int *k) {
#pragma nomp for
  for (int i = 0; i < n; i++) { p[0] = i; q[k[i]] = one; }
}
void member(int n, struct sim *s, int *p, const int *k) {
#pragma nomp for
  for (int i = 0; i < n; i++) { p[0] = i; s->v[k[i]] = s->n; }
}
void counted(int n, int *p) {
#pragma nomp for
  for (one = 0; one < n; one++) p[one] = one;
}
int main(void) {
  int x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, q[8] = {0}, local = 0, *p = &local;
  struct sim s = {1, 2, {0}};
  struct sim *r = &s;
#pragma nomp init(0, 0)
#pragma nomp update(to : x, q, p[0, 1], r[0, 1])
  p = &one;
#pragma nomp update(to : p[0, 1])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fine", "wrong", "names"),
    [
        ("sum(7, &x[7], x);", "sum(8, &x[7], x);", "'s' and 'x'"),
        ("both(8, &local, &s.n, x);", "both(8, &local, &local, x);", "'s' and 't'"),
        ("set(8, &s.m, q, x);", "set(8, &one, q, x);", "'one' and 'p'"),
        ("member(8, &s, &s.m, x);", "member(8, &s, &s.n, x);", "'s->n' and 'p'"),
        ("counted(8, q);", "counted(1, &one);", "'one' and 'p'"),
    ],
)
def test_a_variable_that_overlaps(
    fine: str, wrong: str, names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a kernel has a copy of is refused where it is also something that the kernel writes, and nowhere else."""
    monkeypatch.chdir(tmp_path)
    Path("single.c").write_text(f'#include <stdio.h>\n{SINGLES}  {fine}\n  puts("fine");\n  {wrong}\n}}\n')
    commands.succeed(*commands.NOMP_CC, "single.c", "-o", "single")
    done = commands.run("./single")
    assert (done.returncode, done.stdout) == (1, "fine\n"), done.stderr
    assert f"error: {names} may be the same memory in this launch of kernel '_nomp_kernel_l" in done.stderr
    assert "[N402]" in done.stderr


@pytest.mark.parametrize(
    ("header", "values", "fits"),
    [
        ("unsigned i = 0; i < n; i += s", (10, 3), True),
        ("unsigned i = 0; i < n; i += s", (10, -1), False),
        ("unsigned i = 0; i < n; i += s", (0, -1), True),
        ("unsigned char i = 250; i < n; i += s", (255, 5), True),
        ("unsigned char i = 250; i < n; i += s", (255, 2), False),
        ("signed char i = n; i >= 19; i += s", (126, 2), False),
        ("int i = n; i >= 0; i -= s", (10, 3), True),
        ("unsigned i = n; i >= 1; i -= s", (9, 3), True),
        ("unsigned i = n; i >= 1; i -= s", (9, 2), False),
        ("long i = 0; i != n; i += s", (9, 3), True),
        ("long i = 0; i != n; i += s", (9, 2), False),
    ],
)
def test_a_counter_that_leaves_its_type(header: str, values: tuple[int, int], fits: bool, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(f"void f(int n, int s, int *a) {{\n#pragma nomp for\n  for ({header}) a[i] = 0;\n}}\n")
    (source,) = clang.parse(str(file), [])
    region = source.directives[0].region
    assert region is not None
    assert (ranges.wrapping(region, dict(zip("ns", values, strict=True))) is None) is fits
