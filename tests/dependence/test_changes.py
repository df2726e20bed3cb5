"""What scripts must not change besides when and where iterations run: arguments, locals, what is carried as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import islpy as isl
import loopy as lp
import numpy as np
import pytest
import reading
from loopy.kernel.array import FixedStrideArrayDimTag
from loopy.kernel.function_interface import ScalarCallable
from loopy.types import NumpyType
from pymbolic import var
from schedules import SCALARS, Script, judged, region_of, said, without_waiting


def entry(kernel: lp.TranslationUnit, **changes: Any) -> lp.TranslationUnit:
    return kernel.with_kernel(kernel.default_entrypoint.copy(**changes))


def with_domains(*domains: str) -> Script:
    """A script that puts *domains* in the place of the kernel's."""
    return lambda kernel: entry(kernel, domains=[isl.BasicSet(domain) for domain in domains])


# ---------------------------------------------------------------------------------------------- iterations that vanish

COPY = "for (int i = 0; i < n; i++) b[i] = a[i];"
NEST = "for (int i = 0; i < n; i++) { b[i] = a[i]; for (int j = 0; j < m; j++) q[i][j] = 1; }"
OUTER = "[n] -> { [i] : 0 <= i < n }"


@pytest.mark.parametrize(
    ("loop", "domains", "scalars", "code"),
    [
        (COPY, ("[n] -> { [i] : 0 <= i < n and i < 0 }",), {}, "N405"),
        (COPY, ("[n] -> { [i] : 1 = 0 }",), {}, "N405"),
        (COPY, ("[n] -> { [i] : 1 = 0 }",), {"n": 0}, None),
        (COPY, ("[n] -> { [i] : 0 <= i < n and n < 5 }",), {}, "N405"),
        (COPY, ("[n] -> { [i] : 0 <= i < n and n < 5 }",), {"n": 4}, None),
        (COPY, ("[n] -> { [i] : 0 < i < n }",), {}, "N405"),
        (NEST, (OUTER, "[m] -> { [j] : 0 <= j < m and j < 0 }"), {}, "N405"),
        (NEST, (OUTER, "[m] -> { [j] : 0 <= j < m and j < 0 }"), {"m": 0}, None),
        (NEST, ("[n] -> { [i] : 1 = 0 }", "[m] -> { [j] : 0 <= j < m }"), {}, "N405"),
        ("for (int i = 0; i < 0; i++) b[i] = a[i];", ("{ [i] : 1 = 0 }",), {}, None),
        ("for (int i = 0; i < n; i++) b[k[i]] = a[i];", ("[n] -> { [i] : 1 = 0 }",), {}, "N405"),
    ],
)
def test_iterations_that_vanish(
    loop: str, domains: tuple[str, ...], scalars: dict[str, int], code: str | None, tmp_path: Path
) -> None:
    assert said(tmp_path, loop, with_domains(*domains), SCALARS | scalars) == code


@pytest.mark.parametrize(("end", "code"), [(64, None), (32, "N405"), (128, "N405")])
def test_terms_of_a_sum_that_vanish(end: int, code: str | None, tmp_path: Path) -> None:
    clauses = 'transform("m", "f") reduce("a[0]", "+")'
    region = region_of(tmp_path, "for (int i = 0; i < 64; i++) a[0] += b[i];", clauses)
    shorter = with_domains(f"{{ [i] : 0 <= i < {end} }}")
    found = judged(region, lambda kernel: lp.tag_inames(shorter(kernel), "i:l.0"), SCALARS)
    assert (found and found.code) == code


# -------------------------------------------------------------------------------------------- statements that are text

TEXT = """for (int i = 0; i < 8; i++) {
  double t[2], s = a[i]; int z = 0; t[0] = 1; t[1] = i;
  while (z < 3) { s += t[z & 1]; z++; }
  b[i] = s;
}"""


def privatized(*names: str) -> Script:
    return lambda kernel: lp.privatize_temporaries_with_inames(kernel, "i", only_var_names=frozenset(names))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (lambda kernel: lp.tag_inames(kernel, "i:g.0"), None),
        (lambda kernel: lp.tag_inames(kernel, "i:unr"), None),
        (lambda kernel: lp.split_iname(kernel, "i", 4, outer_tag="g.0"), None),
        (lambda kernel: lp.tag_inames(kernel, "i:ilp.seq"), "N320"),
        (lambda kernel: lp.tag_inames(kernel, "i:ilp.unr"), "N320"),
        (lambda kernel: lp.tag_inames(kernel, "i:vec"), "N320"),
        (privatized("s"), "N320"),
        (privatized("t"), "N320"),
        (privatized("z"), "N320"),
        (privatized("s", "t", "z"), "N320"),
    ],
)
def test_locals_of_statements_that_are_carried_as_text(script: Script, code: str | None, tmp_path: Path) -> None:
    assert said(tmp_path, TEXT, script) == code


# ------------------------------------------------------------------------------------------------------------ arguments

ARGUMENTS = "for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) q[i][j] = r[i][7 - j] + a[i + off];"
FLOAT, LONG = NumpyType(np.dtype(np.float32)), NumpyType(np.dtype(np.int64))


def argument(name: str, **changes: Any) -> Script:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        args = kernel.default_entrypoint.args
        return entry(kernel, args=[arg.copy(**changes) if arg.name == name else arg for arg in args])

    return script


def one_more(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    return entry(kernel, args=[*kernel.default_entrypoint.args, lp.ValueArg("more", np.int32)])


COLUMNS = [FixedStrideArrayDimTag(1), FixedStrideArrayDimTag(8)]


@pytest.mark.parametrize(
    ("script", "name"),
    [
        (lambda kernel: kernel, None),
        (lambda kernel: lp.set_array_axis_names(kernel, "q", "x,y"), None),
        (lambda kernel: lp.set_argument_order(kernel, "a,q,r,n,off"), None),
        (argument("q", dim_tags=COLUMNS), "q"),
        (argument("r", dim_tags=COLUMNS), "r"),
        (argument("a", dtype=FLOAT), "a"),
        (argument("a", dtype=LONG), "a"),
        (argument("a", offset=1), "a"),
        (argument("a", address_space=lp.AddressSpace.LOCAL), "a"),
        (argument("off", dtype=FLOAT), "off"),
        (argument("n", dtype=FLOAT), "n"),
        (lambda kernel: lp.split_array_dim(kernel, ("q", 1), 4), "q"),
        (lambda kernel: lp.change_arg_to_image(kernel, "r"), "r"),
        (lambda kernel: lp.rename_argument(kernel, "q", "other"), "other"),
        (one_more, "more"),
    ],
)
def test_arguments(script: Script, name: str | None, tmp_path: Path) -> None:
    found = judged(region_of(tmp_path, ARGUMENTS), script, SCALARS)
    wanted = name and f"the script changes what is passed to the kernel: '{name}'"
    assert (found and (found.code, found.message)) == (wanted and ("N310", wanted))


# --------------------------------------------------------------------------------------------------------------- locals

LOCALS = "for (int i = 0; i < n; i++) { double t = a[i] * 1e9 + 0.5; b[i] = t; double u = b[i]; c[i] = u; }"


def locals_(**changes: Any) -> Script:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        temporaries = kernel.default_entrypoint.temporary_variables
        changed = {name: t.copy(**changes) if name in "tu" else t for name, t in temporaries.items()}
        return entry(kernel, temporary_variables=changed)

    return script


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (locals_(address_space=lp.AddressSpace.PRIVATE), None),
        (locals_(dtype=FLOAT), "N404"),
        (locals_(base_storage="one", address_space=lp.AddressSpace.PRIVATE), "N320"),
        (lambda kernel: entry(kernel, index_dtype=NumpyType(np.dtype(np.int8))), "N404"),
        (lambda kernel: entry(kernel, preambles=(("0", "#define t u"),)), "N404"),
    ],
)
def test_locals(script: Script, code: str | None, tmp_path: Path) -> None:
    assert said(tmp_path, LOCALS, script) == code


@pytest.mark.parametrize(
    ("strides", "stored", "code"),
    [
        ((8, 1), None, None),
        ((9, 1), None, "N404"),
        ((9, 1), (4, 9), None),
        ((9, 1), (5, 7), None),
        ((9, 1), (4, 8), "N404"),
        ((1, 4), None, None),
        ((1, 1), None, "N404"),
    ],
)
def test_the_layout_of_a_local(
    strides: tuple[int, int], stored: tuple[int, int] | None, code: str | None, tmp_path: Path
) -> None:
    loop = """for (int i = 0; i < n; i++) {
  double s[4][8];
  for (int j = 0; j < 4; j++) for (int l = 0; l < 8; l++) s[j][l] = a[j] + b[l];
  c[i] = s[1][2] + s[2][1];
}"""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        local = kernel.default_entrypoint.temporary_variables["s"]
        tags = [FixedStrideArrayDimTag(stride) for stride in strides]
        return entry(kernel, temporary_variables={"s": local.copy(dim_tags=tags, storage_shape=stored)})

    assert said(tmp_path, loop, script) == code


def test_a_local_that_is_written_inside_and_outside_of_a_loop_side_by_side(tmp_path: Path) -> None:
    """Whether loopy gives it copies would be chance."""
    loop = "for (int e = 0; e < n; e++) { double s = 0; for (int i = 0; i < 4; i++) s += q[e][i]; a[e] = s; }"
    found = judged(region_of(tmp_path, loop), lambda kernel: lp.tag_inames(kernel, "i:ilp.seq"), SCALARS)
    assert found is not None and found.code == "N320"
    assert "'s' is also written outside of loop 'i', whose iterations run side by side" in found.message
    assert said(tmp_path, loop, lambda kernel: lp.tag_inames(kernel, "i:unr")) is None


def other_call(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    (insn,) = kernel.default_entrypoint.instructions
    return entry(kernel, instructions=[insn.copy(expression=var("fabs")(insn.expression.parameters[0]))])


def other_function(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    return lp.register_callable(kernel, "sqrt", ScalarCallable("sqrt", name_in_target="fabs"))


@pytest.mark.parametrize(
    ("script", "code"), [(lambda kernel: kernel, None), (other_call, "N404"), (other_function, "N404")]
)
def test_other_functions(script: Script, code: str | None, tmp_path: Path) -> None:
    region = reading.region(tmp_path, """double sqrt(double);
void f(int n, double *a, double *b) {
#pragma nomp for transform("m", "f")
for (int i = 0; i < n; i++) b[i] = sqrt(a[i]);
}
""")
    found = judged(region, script, SCALARS)
    assert (found and found.code) == code


@pytest.mark.parametrize(("shape", "code"), [((8,), None), ((16,), None), ((7,), "N404"), ((2,), "N404")])
def test_the_size_of_a_local(shape: tuple[int, ...], code: str | None, tmp_path: Path) -> None:
    loop = """for (int i = 0; i < n; i++) {
  double s[8];
  for (int j = 0; j < 8; j++) s[j] = a[j] + i;
  for (int l = 0; l < 8; l++) q[i][l] = s[7 - l];
}"""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        local = kernel.default_entrypoint.temporary_variables["s"]
        return entry(kernel, temporary_variables={"s": local.copy(shape=shape)})

    assert said(tmp_path, loop, script) == code


# ---------------------------------------------------------------------------------------------------- more instructions


def added(insn: Any) -> Script:
    """A script that adds *insn* at the end of loop i."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        instructions = kernel.default_entrypoint.instructions
        last = insn.copy(id="more", within_inames=frozenset("i"), depends_on=frozenset(i.id for i in instructions))
        return entry(kernel, instructions=[*instructions, last])

    return script


@pytest.mark.parametrize(
    ("insn", "code"),
    [
        (lp.NoOpInstruction(), None),
        (lp.Assignment(var("b")[0], 7.0), "N404"),
        (lp.CInstruction((), "b[0] = 7;"), "N404"),
        (lp.CInstruction((), "break;"), "N404"),
    ],
)
def test_more_instructions(insn: Any, code: str | None, tmp_path: Path) -> None:
    assert said(tmp_path, COPY, added(insn)) == code


def test_other_parameters(tmp_path: Path) -> None:
    """Two parameters trade their names: another number of iterations, and other values."""
    loop = "for (int i = 0; i < n; i++) b[i] = off;"

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        for old, new in (("n", "x"), ("off", "n"), ("x", "off")):
            kernel = lp.rename_argument(kernel, old, new)
        return kernel

    assert said(tmp_path, loop, script, SCALARS | {"off": 3}) == "N405"
    assert said(tmp_path, loop, script, SCALARS | {"off": 9}) == "N404"


# ------------------------------------------------------------------------------------------- bounds that data decide

ROWS = "for (int i = 0; i < 16; i++) for (int j = k[i] % 4; j < k[i] % 4 + 3; j++) c[i] += a[j] * b[j];"


def in_memory(kind: str, tag: str) -> Script:
    return lambda kernel: without_waiting(
        lp.set_temporary_address_space(lp.tag_inames(kernel, {"i": tag}), "j_lb,j_ub", kind)
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (lambda kernel: lp.tag_inames(kernel, "i:g.0"), None),
        (lambda kernel: lp.split_iname(kernel, "j", 2), None),
        (lambda kernel: lp.split_iname(kernel, "i", 4, outer_tag="g.0", inner_tag="unr"), None),
        (in_memory("private", "l.0"), None),
        (in_memory("local", "l.0"), "N404"),
        (in_memory("global", "g.0"), "N404"),
        (lambda kernel: lp.duplicate_inames(kernel, "i", within="id:c_0"), "N404"),
        (lambda kernel: lp.tag_inames(kernel, "i:ilp.seq"), "N320"),
        (lambda kernel: lp.privatize_temporaries_with_inames(kernel, "i"), "N320"),
    ],
)
def test_locals_that_bounds_depend_on(script: Script, code: str | None, tmp_path: Path) -> None:
    """The loop reads them, whatever its statements mention: they must not be another iteration's."""
    assert said(tmp_path, ROWS, script) == code
