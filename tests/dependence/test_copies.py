"""What scripts copy for the statements of a kernel: each in a right and in a wrong way."""

from __future__ import annotations

from pathlib import Path

import loopy as lp
import pytest
from loopy.kernel.data import AddressSpace
from schedules import SCALARS, Script, combined, judged, region_of, said, without_waiting

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
