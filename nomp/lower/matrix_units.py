"""Sums of products that the matrix units of NVIDIA's GPUs make: of doubles, as exact as one item makes them.

In: a kernel in the order of its code, some of whose loops have the tag `ByMatrixUnits`.  Out: the same, in which units
run these loops where they can (`matrix_steps`).  Called by `codegen` for CUDA.  Loops of another form than the one
below are left as they are, which means the same and is slower.

A loop over k adds up, in registers, ``sum[p, q, v] += x[.., u, p, k] * y[k, .., q, 2*t + v]``, where t is on the axis
l.0, which has 4 items, and u on l.1, which has 8: a warp.  A unit makes the sums of a warp for 4 k and 8 rows: the item
(t, u) gives it ``x[u, k + t]`` and ``y[k + t, u]``, and has the sums of row u in the columns 2*t and 2*t + 1.  It adds
one product after the other, in the order of k, and rounds once for each, as `fma` does: just what CUDA's compiler makes
of the loop (an H200 has given the same bits).

All items of a warp must be there.  So those beyond the edge of the result take part as well: they add up what happens
to be in the group's memory, in registers that nothing reads.  Where the loop has not all iterations, items run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import islpy as isl
import loopy as lp
from loopy.kernel.data import Iname, LocalInameTag, UnrollHintTag
from loopy.schedule import EnterLoop, LeaveLoop, RunInstruction
from loopy.symbolic import constraint_to_cond_expr
from pytools.tag import Tag

from nomp.lower.matrix_steps import COLUMN_ITEMS, DEPTH, PAIR, ROW_ITEMS, Step, runnable

_UNITS = r"""
static __device__ __forceinline__ void nomp_add_products(
    double &c0, double &c1, double &c2, double &c3, double a0, double a1, double b)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(c0), "+d"(c1), "+d"(c2), "+d"(c3) : "d"(a0), "d"(a1), "d"(b));
#else
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c0), "+d"(c1) : "d"(a0), "d"(b));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c2), "+d"(c3) : "d"(a1), "d"(b));
#endif
}
"""
"""On sm_90 only the first has the full speed.  Volatile: no compiler may move it to where some items are missing."""


class ByMatrixUnits(UnrollHintTag):  # type: ignore[misc]
    """Of a loop: matrix units may run it.  Items unroll it."""


@dataclass(frozen=True)
class _Runs(Tag):  # type: ignore[misc]
    """Of an instruction: it is the one that was in *loop*, run for all iterations of that."""

    loop: str


def used(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel*, in which units run what they can."""
    entry = kernel.default_entrypoint
    items = entry.get_grid_size_upper_bounds_as_exprs(kernel.callables_table)[1]
    if tuple(items[:2]) != (COLUMN_ITEMS, ROW_ITEMS):
        return kernel
    for iname in sorted(entry.all_inames()):
        if entry.iname_tags_of_type(iname, ByMatrixUnits) and (step := runnable(entry, iname)):
            entry = _with_units(entry, step)
    return kernel.with_kernel(entry)


def loop_of(insn: Any) -> str | None:
    """The loop that *insn* runs as a whole, if units do that."""
    return next((tag.loop for tag in insn.tags_of_type(_Runs)), None)


def _with_units(entry: lp.LoopKernel, step: Step) -> lp.LoopKernel:
    """*entry*, in which units run *step*; the iterations that are left are an instruction behind that."""
    fresh = entry.get_var_name_generator()
    t, u = fresh(f"{step.t}_unit"), fresh(f"{step.u}_unit")
    warp = isl.BasicSet(f"{{ [{t}, {u}] : 0 <= {t} < {COLUMN_ITEMS} and 0 <= {u} < {ROW_ITEMS} }}")
    axes = {name: Iname(name, frozenset([LocalInameTag(axis)])) for axis, name in enumerate((t, u))}
    alone = {step.k: entry.inames[step.k].copy(tags=frozenset([UnrollHintTag(1)]))}
    units, rest = _run(step, t, u, fresh), list(_rest(entry, step))
    return entry.copy(
        domains=[*entry.domains, warp], inames={**entry.inames, **axes, **alone},
        instructions=[*(units if other is step.insn else other for other in entry.instructions), *rest],
        linearization=_in_place(entry.linearization, step, rest),
        preambles=(*entry.preambles, ("nomp_matrix_units", _UNITS)),
    )  # fmt: skip


def _rest(entry: lp.LoopKernel, step: Step) -> Iterator[Any]:
    """What of *step* units do not run, if there is anything."""
    for cut in step.whole.to_set().complement().coalesce().get_basic_sets():
        name = entry.get_instruction_id_generator()(f"{step.insn.id}_rest")
        yield step.insn.copy(id=name, predicates=_conditions(cut))


def _conditions(values: isl.BasicSet) -> frozenset[Any]:
    """That parameters have *values*."""
    return frozenset(constraint_to_cond_expr(constraint) for constraint in values.get_constraints())


def _in_place(code: Sequence[Any], step: Step, rest: Sequence[Any]) -> list[Any]:
    """*code* with what units do in the place of the loop of *step*, and behind that the loop for each of *rest*."""
    begin = next(n for n, item in enumerate(code) if isinstance(item, EnterLoop) and item.iname == step.k)
    end = next(n for n, item in enumerate(code) if isinstance(item, LeaveLoop) and item.iname == step.k) + 1
    loops = [RunInstruction(insn.id) if isinstance(item, RunInstruction) else item
             for insn in rest for item in code[begin:end]]  # fmt: skip
    return [*code[:begin], RunInstruction(step.insn.id), *loops, *code[end:]]


def _run(step: Step, t: str, u: str, fresh: Callable[[str], str]) -> Any:
    """The instruction that runs all iterations of *step*, by the items *t* and *u* of a warp."""
    insn, rows, columns = step.insn, step.rows, step.columns
    rows_at, columns_at = fresh(f"{rows.array}_at"), fresh(f"{columns.array}_at")
    places = (
        (rows_at, rows.start(step.inner, {u: rows.at(step.u), t: rows.at(step.k)})),
        (columns_at, columns.start(step.inner, {t: columns.at(step.k), u: columns.at(step.v)})),
    )
    first = insn.assignee.aggregate[(0,) * len(insn.assignee.index_tuple)]
    return lp.CInstruction(
        places, _text(step, rows_at, columns_at, fresh), frozenset({rows.array, columns.array, step.sums.array}),
        (first,), id=insn.id, depends_on=insn.depends_on, depends_on_is_final=True, no_sync_with=insn.no_sync_with,
        within_inames=insn.within_inames - step.inner | {t, u}, within_inames_is_final=True,
        predicates=_conditions(step.whole), tags=insn.tags | {_Runs(step.k)},
    )  # fmt: skip


def _text(step: Step, rows_at: str, columns_at: str, fresh: Callable[[str], str]) -> str:
    """C text for all iterations of *step*."""
    k, x, y, i, j = map(fresh, ("step", "row", "column", "row_block", "column_block"))
    rows, columns, sums = step.rows, step.columns, step.sums
    first = f"{sums.array}[{sums.at(step.p)} * {i} + {sums.at(step.q)} * {j}"
    places = [sums.at(step.p) * block + sums.at(step.v) * pair for block in range(PAIR) for pair in range(PAIR)]
    return f"""
#pragma unroll
for (int {k} = 0; {k} < {step.depth}; {k} += {DEPTH})
{{
  double {x}[{step.blocks[0]}], {y}[{step.blocks[1]}];
  #pragma unroll
  for (int {i} = 0; {i} < {step.blocks[0]}; ++{i})
    {x}[{i}] = {rows.array}[{rows_at} + {rows.at(step.p)} * {i} + {rows.at(step.k)} * {k}];
  #pragma unroll
  for (int {j} = 0; {j} < {step.blocks[1]}; ++{j})
    {y}[{j}] = {columns.array}[{columns_at} + {columns.at(step.q)} * {j} + {columns.at(step.k)} * {k}];
  #pragma unroll
  for (int {j} = 0; {j} < {step.blocks[1]}; ++{j})
    #pragma unroll
    for (int {i} = 0; {i} < {step.blocks[0]}; {i} += {PAIR})
      nomp_add_products({", ".join(f"{first} + {place}]" for place in places)}, {x}[{i}], {x}[{i} + 1], {y}[{j}]);
}}""".strip()
