"""The full text of what `pipeline` refuses: schedules that cannot be compiled, races, arrays that overlap."""

from __future__ import annotations

import os
from pathlib import Path

import commands
import pytest
from nomp_backends.opencl import OpenCLBackend

from nomp import pipeline
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic, NompError
from nomp.frontend import clang
from nomp.region import Assign, Call, Const, Load, Param, Region, Var
from nomp.runtime import ranges

SCRIPT = """import loopy as lp
def spread(knl, context):
    return lp.tag_inames(knl, {"i": "g.0"})
def strips(knl, context):
    return lp.split_iname(knl, "i", 4)
def renamed(knl, context):
    return lp.tag_inames(lp.rename_iname(knl, "i", "row"), {"row": "g.0"})
def doubled(knl, context):
    entry = knl.default_entrypoint
    return knl.with_kernel(entry.copy(instructions=[i.copy(expression=2 * i.expression) for i in entry.instructions]))
def twice(knl, context):
    return lp.tag_inames(knl, {"i": "l.0", "j": "l.0"})
"""


USUAL = Variant(no_wrap=True)


def compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, variant: Variant = USUAL
) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    """The region of the C file *name* that holds *text*, compiled for the first OpenCL device."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    Path("script.py").write_text(SCRIPT)
    (file,) = clang.parse(name, [])
    region = file.directives[0].region
    assert region is not None
    (info, *_), *_ = OpenCLBackend().devices()
    return pipeline.compile(region, info, {}, variant, Settings())


def test_a_kernel_that_loopy_cannot_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """void f(int n, double *a) {
#pragma nomp for transform("script", "twice")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      a[4 * i + j] = 0;
}
"""
    with pytest.raises(NompError) as caught:
        compiled(tmp_path, monkeypatch, "kernel.c", text)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("kernel.c:2:18: error: the kernel that 'script.twice' made cannot be compiled: ")
    assert first.endswith(" [N320]")
    assert rest == [
        '    2 | #pragma nomp for transform("script", "twice")',
        "      |                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~",
        "help: see what the script gets with 'nomp cc --emit loopy'",
    ]


def test_a_loop_of_which_loopy_would_run_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split by 4, the iterations -1 and 0 are o = -1, i = 3 and o = 0, i = 0; loopy's loops run i = 1 and i = 2 too."""
    text = """void f(double *a) {
#pragma nomp for transform("script", "strips")
  for (int i = -1; i < 1; i++)
    a[i + 1] += 1;
}
"""
    with pytest.raises(NompError) as caught:
        compiled(tmp_path, monkeypatch, "few.c", text)
    assert "'i_outer' and 'i_inner' belong to a loop of too few iterations to be split [N320]" in str(caught.value)
    fine = text.replace("i < 1", "i < 2")
    assert compiled(tmp_path, monkeypatch, "enough.c", fine)[1] == ()


def test_a_variable_that_every_iteration_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """double f(int n, const double *a) {
  double sum = 0;
#pragma nomp for transform("script", "spread") reduce("sum", "+")
  for (int i = 0; i < n; i++) {
    if (a[i] > 0)
      sum += a[i];
  }
  return sum;
}
"""
    with pytest.raises(NompError) as caught:
        compiled(tmp_path, monkeypatch, "sum.c", text)
    assert str(caught.value) == (
        "sum.c:6:7: error: loop 'i' cannot run in parallel: every iteration writes 'sum' [N401]\n"
        "    6 |       sum += a[i];\n"
        "      |       ^~~\n"
        "sum.c:3:18: note: 'script.spread' made it parallel\n"
        '    3 | #pragma nomp for transform("script", "spread") reduce("sum", "+")\n'
        "      |                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: leave 'i' sequential, or name 'sum' in a reduce clause and leave the reduction unmapped"
    )


def test_arrays_that_may_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """void f(int n, double *to, const double *from) {
#pragma nomp for transform("script", "spread")
  for (int i = 0; i < n; i++)
    to[i] = from[i];
}
"""
    source, (warning,) = compiled(tmp_path, monkeypatch, "shift.c", text, Variant(no_wrap=True, aliased=True))
    assert "gid(0)]" not in source.text
    assert warning.render() == (
        "shift.c:3:3: warning: arrays of kernel '_nomp_kernel_l2' may overlap in this launch: its script is not used "
        "[N402]\n"
        "    3 |   for (int i = 0; i < n; i++)\n"
        "      |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: give the kernel arrays that are apart; it runs in the order of the source, in one work item, until then"
    )


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


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('lp.assume(knl, "n mod 4 = 0")', "the script assumes '(n) mod 4 = 0' in kernel '_nomp_kernel_l3', which is "
         "launched with n = 6 [N309]"),
        ("lp.fix_parameters(knl, n=8)", "the script makes a constant of 'n', which may have another value [N309]"),
    ],
)  # fmt: skip
def test_what_a_script_takes_for_granted(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("granted.py").write_text(f"import loopy as lp\ndef f(knl, context):\n    return {script}\n")
    Path("granted.c").write_text("""#include <stdio.h>
static void twice(int *a, int n) {
#pragma nomp for transform("granted", "f")
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}
int main(void) {
  int a[9] = {0};
#pragma nomp init(0, 0)
#pragma nomp update(to : a)
  twice(a, 8);
  puts("fine");
  fflush(stdout);
  twice(a, 6);
  return 0;
}
""")
    commands.succeed(*commands.NOMP_CC, "granted.c", "-o", "granted")
    done = commands.run("./granted")
    assert done.returncode == 1 and f"granted.c:3:18: error: {message}" in done.stderr
    assert done.stdout == ("fine\n" if "assume" in script else "")


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


INDIRECT = """void f(int n, double *to, const int *where) {
#pragma nomp for transform("script", "spread")
  for (int i = 0; i < n; i++)
    to[where[i]] = i;
}
"""


def test_a_schedule_that_is_not_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, (warning,) = compiled(tmp_path, monkeypatch, "scatter.c", INDIRECT)
    assert warning.render() == (
        "scatter.c:2:18: warning: cannot prove that iterations of kernel '_nomp_kernel_l2' touch different elements of "
        "'to' [N404]\n"
        '    2 | #pragma nomp for transform("script", "spread")\n'
        "      |                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "scatter.c:4:5: note: written here\n"
        "    4 |     to[where[i]] = i;\n"
        "      |     ^~~~~~~~~~~~\n"
        f"{tmp_path}/script.py:3:5: note: last changed by this line of the script\n"
        '    3 |     return lp.tag_inames(knl, {"i": "g.0"})\n'
        "      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        'help: if they do touch different elements, say so: annotate("independent", "i") for the loop over i'
    )


def test_loops_that_a_script_changed_beyond_recognition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = INDIRECT.replace("spread", "renamed").replace("to[where[i]]", "to[i]")
    assert compiled(tmp_path, monkeypatch, "renamed.c", text)[1] == ()
    text = text.replace("renamed", "doubled")
    _, (warning,) = compiled(tmp_path, monkeypatch, "doubled.c", text)
    assert warning.message == (
        "cannot tell what the script has made of the statements of kernel '_nomp_kernel_l2'"
    )
    assert warning.help == 'if all its loops are independent, say so: annotate("independent", "i") for each'
    vouched = text.replace('"doubled")', '"doubled") annotate("independent", "i")')
    assert compiled(tmp_path, monkeypatch, "vouched.c", vouched)[1] == ()


def test_a_schedule_that_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """#include <stdio.h>
void f(int n, int by, double *a) {
#pragma nomp for transform("script", "spread")
  for (int i = 0; i < n; i++)
    a[i] = a[i + by] / 2;
}
int main(int argc, char **argv) {
  double a[40] = {1, 2, 3, 4};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
  f(20, 20, a);
  puts("fine");
  f(20, 3, a);
#pragma nomp finalize
  return 0;
}
"""
    monkeypatch.chdir(tmp_path)
    Path("wrong.c").write_text(text)
    Path("script.py").write_text(SCRIPT)
    commands.succeed(*commands.NOMP_CC, "wrong.c", "-o", "wrong")
    message = (
        "wrong.c:3:18: {}: iterations i = 0 and i = 3 of kernel '_nomp_kernel_l3' run at the same time, and both touch "
        "one element of 'a' (where n = 20, by = 3) [N403]\n"
        '    3 | #pragma nomp for transform("script", "spread")\n'
        "      |                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "wrong.c:5:12: note: read here\n"
        "    5 |     a[i] = a[i + by] / 2;\n"
        "      |            ^~~~~~~~~\n"
        "wrong.c:5:5: note: written here\n"
        "    5 |     a[i] = a[i + by] / 2;\n"
        "      |     ^~~~\n"
        "script.py:3:5: note: last changed by this line of the script\n"
        '    3 |     return lp.tag_inames(knl, {{"i": "g.0"}})\n'
        "      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: leave a loop sequential that carries this dependence; 'nomp check' says which may run in parallel\n"
    )
    refused = commands.run("./wrong")
    stderr = refused.stderr.replace(f"{tmp_path}/", "")
    assert (refused.returncode, refused.stdout, stderr) == (1, "fine\n", message.format("error"))
    warned = commands.run("./wrong", "--nomp-legality", "warn")
    assert (warned.returncode, warned.stderr.replace(f"{tmp_path}/", "")) == (0, message.format("warning"))
    assert commands.run("./wrong", "--nomp-legality", "off").stderr == ""


def test_a_region_that_loopy_cannot_compile() -> None:
    """A function that no table knows: front ends refuse it before."""
    cell = Load("a", (Const(0, "int64"),), "float64")
    body = (Assign(cell, Call("mystery", (Var("x", "float64"),), "float64")),)
    params = (Param("x", "float64"), Param("a", "float64", "array", shape=(None,)))
    (info, *_), *_ = OpenCLBackend().devices()
    with pytest.raises(NompError) as caught:
        pipeline.compile(Region("odd", "none.c", 7, params, body), info, {}, Variant(), Settings())
    message = str(caught.value)
    assert message.startswith("none.c:7:1: error: no code can be generated for kernel 'odd': ")
    assert message.splitlines()[0].endswith(" [N520]")
