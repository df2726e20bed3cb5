"""The full text of what `pipeline` refuses of schedules: what cannot be compiled, races, what is not proven."""

from __future__ import annotations

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


@pytest.mark.slow
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


@pytest.mark.slow
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
