"""What scripts copy for the statements of a kernel: each in a right and in a wrong way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import loopy as lp
import numpy as np
import pytest
from loopy.kernel.data import AddressSpace
from loopy.types import NumpyType
from pymbolic import primitives as p
from pymbolic import var
from schedules import SCALARS, Script, combined, judged, region_of, said, without_order, without_waiting

TABLE = "for (int e = 0; e < 9; e++) for (int j = 0; j < 8; j++) "


def prefetched(array: str, sweep: str, outer: str, tags: str = "", *, free: bool = False, wait: bool = True) -> Script:
    """A script that prefetches; *free*: before anything is written, as far as loopy knows."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = combined(kernel)
        kernel = lp.tag_inames(kernel, tags) if tags else kernel
        local = {"default_tag": "l.auto", "temporary_address_space": AddressSpace.LOCAL}
        where = local if tags else {"default_tag": None}
        kernel = lp.add_prefetch(kernel, array, sweep_inames=list(sweep), fetch_outer_inames=frozenset(outer), **where)
        if not free:
            return kernel if wait else without_waiting(kernel)
        entry = kernel.default_entrypoint
        others = frozenset((insn.id, "any") for insn in entry.instructions)
        first = {"depends_on": frozenset(), "depends_on_is_final": True, "no_sync_with": others}
        instructions = [insn.copy(**(first if "fetch" in insn.id else {})) for insn in entry.instructions]
        return kernel.with_kernel(entry.copy(instructions=instructions))

    return script


@pytest.mark.parametrize(
    ("statement", "sweep", "outer", "tags", "code"),
    [
        ("a[e] += q[e][j] * b[j];", "j", "e", "", None),
        ("a[e] += q[e][j] * b[j];", "j", "e", "e:g.0", None),
        ("q[e][j] = r[e][7 - j];", "j", "e", "e:g.0, j:l.0", None),
        ("q[e][j] = q[e][j] + 1;", "j", "e", "", None),
        ("q[e][j] = q[e][j] + 1;", "ej", "", "", None),
        ("q[e][j] = q[e][7 - j] + 1;", "j", "e", "", "N403"),
        ("q[e][j] = q[e][7 - j] + 1;", "j", "e", "e:g.0, j:l.0", "N403"),
        ("q[e][j] = q[0][j] + 1;", "j", "e", "", None),
        ("q[e][j] = q[0][j] + 1;", "j", "", "", "N403"),
        ("q[e][j] = q[8][j] + 1;", "j", "", "", None),
    ],
)
def test_prefetches(statement: str, sweep: str, outer: str, tags: str, code: str | None, tmp_path: Path) -> None:
    array = "r" if "r[" in statement else "q"
    assert said(tmp_path, TABLE + statement, prefetched(array, sweep, outer, tags, free=True)) == code


def test_a_prefetch_without_a_barrier(tmp_path: Path) -> None:
    loop = TABLE + "q[e][j] = r[e][7 - j];"
    assert said(tmp_path, loop, prefetched("r", "j", "e", "e:g.0, j:l.0")) is None
    wrong = judged(region_of(tmp_path, loop), prefetched("r", "j", "e", "e:g.0, j:l.0", wait=False), SCALARS)
    assert wrong is not None and wrong.code == "N403"
    assert wrong.message == (
        "work items of kernel '_nomp_kernel_l2' do not wait for each other before they use 'r_fetch'"
    )


def test_loopy_refuses_what_it_cannot_order(tmp_path: Path) -> None:
    """A copy of what the same loop writes: loopy wants it before and after the writing."""
    assert said(tmp_path, TABLE + "q[e][j] = q[e][j] + 1;", prefetched("q", "j", "e")) == "N320"


def test_a_buffer_is_not_followed(tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        return lp.buffer_array(combined(kernel), "q", buffer_inames=["j"])

    assert said(tmp_path, TABLE + "q[e][j] = r[e][j];", script) == "N404"


# ---------------------------------------------------------------------------------------------- what copies stand for

TURNED = TABLE + "q[e][j] = r[e][7 - j] * a[e];"


def after_prefetch(change: Callable[[Any], Any], tags: str = "") -> Script:
    """A script that prefetches rows of r, and then *changes* the instruction that does that."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = prefetched("r", "j", "e", tags)(kernel)
        entry = kernel.default_entrypoint
        instructions = [change(insn) if "fetch" in insn.id else insn for insn in entry.instructions]
        return kernel.with_kernel(entry.copy(instructions=instructions))

    return script


def element(*index: Any) -> p.Subscript:
    return p.Subscript(var("r"), index)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda insn: insn, None),
        (lambda insn: insn.copy(expression=2 * insn.expression), "N404"),
        (lambda insn: insn.copy(expression=0.0), "N404"),
        (lambda insn: insn.copy(expression=element(0, insn.expression.index_tuple[1])), "N404"),
        (lambda insn: insn.copy(expression=element(var("e"), 7 - insn.expression.index_tuple[1])), "N404"),
        (lambda insn: insn.copy(predicates=frozenset([p.Comparison(var("e"), "<", 3)])), "N404"),
    ],
)
@pytest.mark.parametrize("tags", ["", "e:g.0, j:l.0"])
def test_copies_of_something_else(change: Callable[[Any], Any], code: str | None, tags: str, tmp_path: Path) -> None:
    assert said(tmp_path, TURNED, after_prefetch(change, tags)) == code


@pytest.mark.parametrize(("tags", "code"), [("", "N404"), ("e:g.0, j:l.0", "N403")])
def test_copies_of_a_row_into_one_element(tags: str, code: str, tmp_path: Path) -> None:
    def change(insn: Any) -> Any:
        return insn.copy(assignee=p.Subscript(insn.assignee.aggregate, (0,)))

    assert said(tmp_path, TURNED, after_prefetch(change, tags)) == code


@pytest.mark.parametrize(("dtype", "code"), [("float64", None), ("float32", "N404"), ("int32", "N404")])
def test_the_type_of_a_copy(dtype: str, code: str | None, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        entry = prefetched("r", "j", "e")(kernel).default_entrypoint
        typed = {name: t.copy(dtype=NumpyType(np.dtype(dtype))) for name, t in entry.temporary_variables.items()}
        return kernel.with_kernel(entry.copy(temporary_variables=typed))

    assert said(tmp_path, TURNED, script) == code


def test_a_copy_that_the_next_one_overwrites(tmp_path: Path) -> None:
    """All rows are copied before the first one is used: the buffer has the last one."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        return lp.duplicate_inames(prefetched("r", "j", "e")(kernel), "e", within="id:q_0")

    assert said(tmp_path, TURNED, script) == "N404"


def test_a_copy_that_comes_too_late(tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        entry = without_order(prefetched("r", "j", "e")(kernel)).default_entrypoint
        (use, fetch) = sorted(entry.instructions, key=lambda insn: "fetch" in insn.id)
        late = fetch.copy(depends_on=frozenset({use.id}), depends_on_is_final=True)
        return kernel.with_kernel(entry.copy(instructions=[use, late]))

    assert said(tmp_path, TURNED, script) == "N404"


def test_a_copy_of_an_item_that_another_one_reads(tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        entry = prefetched("r", "j", "e", "e:g.0, j:l.0")(kernel).default_entrypoint
        own = {name: t.copy(address_space=AddressSpace.PRIVATE) for name, t in entry.temporary_variables.items()}
        return kernel.with_kernel(entry.copy(temporary_variables=own))

    assert said(tmp_path, TURNED, script) == "N404"
    assert said(tmp_path, TURNED.replace("7 - j", "j"), script) is None


# --------------------------------------------------------------------------------------------------- when they are read

ROWS = (
    "for (int e = 0; e < 9; e++) {{ for (int j = 0; j < 8; j++) q[e][j] = {}; "
    "for (int i = 0; i < 8; i++) r[e][i] = b[i]; }}"
)


@pytest.mark.parametrize(
    ("value", "fetched", "code"),
    [
        ("r[e][j]", False, None),
        ("r[e][7 - j]", False, "N403"),
        ("r[e][7 - j]", True, None),
        ("r[e][7 - j] + r[e][j]", True, None),
        ("r[e][j] * a[j]", True, None),
    ],
)
def test_what_is_copied_is_read_when_it_is_copied(value: str, fetched: bool, code: str | None, tmp_path: Path) -> None:
    """Of two loops made one, the second overwrites what the first has copied before."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        if fetched:
            kernel = prefetched("r", "j", "e", free=True)(kernel)
        return without_order_of("r_0", lp.rename_iname(kernel, "i", "j", existing_ok=True))

    assert said(tmp_path, ROWS.format(value), script) == code


def without_order_of(name: str, kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* in which instruction *name* comes last, and waits for nothing else."""
    entry = kernel.default_entrypoint
    others = frozenset(insn.id for insn in entry.instructions) - {name}
    changed = [insn.copy(depends_on=others, depends_on_is_final=True) if insn.id == name else insn
               for insn in entry.instructions]  # fmt: skip
    return kernel.with_kernel(entry.copy(instructions=changed))


# --------------------------------------------------------------------------------------------------- in global memory

SCALAR = "for (int i = 0; i < 200; i++) { double t = a[i]; b[i] = t; }"


@pytest.mark.parametrize(
    ("tags", "own", "code"),
    [
        ({}, False, None),
        ({"i": "g.0"}, False, "N403"),
        ({"i": "g.0"}, True, None),
        ({"i_outer": "g.0", "i_inner": "l.0"}, False, "N403"),
        ({"i_outer": "g.0"}, False, "N403"),
    ],
)
def test_a_local_in_global_memory(tags: dict[str, str], own: bool, code: str | None, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = lp.set_temporary_address_space(kernel, "t", "global")
        kernel = lp.split_iname(kernel, "i", 64) if "i_outer" in tags else kernel
        kernel = lp.privatize_temporaries_with_inames(kernel, "i") if own else kernel
        return without_waiting(lp.tag_inames(kernel, tags) if tags else kernel)

    assert said(tmp_path, SCALAR, script) == code


@pytest.mark.parametrize(("tags", "code"), [("", "N320"), ("e:g.0", "N403"), ("j:l.0", "N320")])
def test_a_copy_in_global_memory(tags: str, code: str | None, tmp_path: Path) -> None:
    """All groups have one; loopy wants a barrier for all of them, for which it cannot leave a sequential loop."""

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = combined(lp.tag_inames(kernel, tags) if tags else kernel)
        where = {"default_tag": None, "temporary_address_space": AddressSpace.GLOBAL}
        return lp.add_prefetch(kernel, "r", sweep_inames=["j"], fetch_outer_inames=frozenset("e"), **where)

    assert said(tmp_path, TURNED, script) == code
