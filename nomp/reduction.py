"""The default way to run a reduction: two kernels, any trip count, the same tree on every run.

`parts` rewrites a region whose iterations only meet where they accumulate into the variables of its reduce clauses into
two regions: in the first, each of a fixed number of items runs a contiguous share of the iterations into a private
accumulator and stores it; in the second, one item combines these and the variable's value before the region.  A GPU has
groups in their place (`gpu_reduction`).  Called by `pipeline`, where no script has mapped the loop.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nomp import cpu_schedule, gpu_reduction, jumps
from nomp.accumulation import combined, neutral
from nomp.arithmetic import is_float, is_launch_expr
from nomp.device_source import Scratch
from nomp.interleave import Unique, in_groups, renamed, substituted
from nomp.loops import INDEX, counting, quotient, trip_count
from nomp.region import (
    Assign,
    Binary,
    Clauses,
    Const,
    Declare,
    For,
    Load,
    Param,
    Region,
    Select,
    Stmt,
    Var,
    While,
)
from nomp.schedule import Part, divided
from nomp.walks import expressions, names, rewritten, walk, written_in

LANES = 16
"""How many variables in turn an item of a CPU accumulates floating-point numbers in."""


def parts(region: Region, items: int, cpu: bool = False) -> tuple[Part, ...]:
    """The two stages of *region* for *items* accumulators, () where its iterations depend on each other otherwise.

    On a GPU these are groups' (`gpu_reduction`), except for ``&&`` and ``||``.
    """
    if not is_divided(region):
        return ()
    loop = region.body[0]
    assert isinstance(loop, For)
    unique = names(region).unique
    partial = {r.name: Param(unique(f"{r.name}_partial"), region.param(r.name).dtype, "array", "", (None,), writes=True)
               for r in region.clauses.reductions}  # fmt: skip
    private = {name: Var(unique(f"{array.name}_sum"), array.dtype) for name, array in partial.items()}
    summed = replace(loop, body=substituted(loop.body, {name: own.name for name, own in private.items()}))
    if not cpu and not any(r.op in ("&&", "||") for r in region.clauses.reductions):
        return gpu_reduction.parts(region, summed, _reduced(region, private, partial, unique), items, unique)
    number = Const(items, INDEX)
    ops = {r.name: r.op for r in region.clauses.reductions}

    def accumulate(item: Var, share: For) -> tuple[Stmt, ...]:
        start = (Declare(own.name, own.dtype, (), neutral(ops[n], Var(n, own.dtype))) for n, own in private.items())
        store = (Assign(Load(partial[n].name, (item,), own.dtype), own) for n, own in private.items())
        sums = _in_lanes(share, private, ops, unique) if cpu else (share,)
        return (*start, *sums, *store)

    everyone, derived = divided(summed, number, quotient(trip_count(loop), number), unique, accumulate)
    extra = (*(Param(name, INDEX) for name in derived), *partial.values())
    scratch = tuple(Scratch(array.name, array.dtype, number) for array in partial.values())
    first = replace(region, params=(*region.params, *extra), body=(everyone,), clauses=Clauses(jit=region.clauses.jit))
    second = _combine(region, items, partial, unique)
    widths = cpu_schedule.widths(first.body) if cpu else {}
    return Part(first, {everyone.iname: "g.0"}, derived, scratch, widths=widths), Part(second, scratch=scratch)


def _reduced(
    region: Region, private: Mapping[str, Var], partial: Mapping[str, Param], unique: Unique
) -> Iterator[gpu_reduction.Reduced]:
    for reduction in region.clauses.reductions:
        own = private[reduction.name]
        cell = Var(reduction.name, own.dtype)
        combine = functools.partial(combined, reduction.op)
        row = unique(f"{reduction.name}_row")
        start = neutral(reduction.op, cell)
        yield gpu_reduction.Reduced(cell, start, own, partial[reduction.name], row, combine)


def is_divided(region: Region) -> bool:
    """Whether *region* is one loop with bounds known at launch, whose iterations only meet where they accumulate into
    its reduce variables."""
    if not region.clauses.reductions or len(region.body) != 1 or not isinstance(loop := region.body[0], For):
        return False
    if not all(is_launch_expr(expr, region.scalars) for expr in expressions(loop)):
        return False
    return is_pure(region) or _else_apart(region, loop)


def is_pure(region: Region) -> bool:
    """Whether *region* writes nothing but its reduce variables."""
    own = {stmt.name for stmt in walk(region.body) if isinstance(stmt, Declare)}
    return written_in(region.body) <= own | {reduction.name for reduction in region.clauses.reductions}


def _else_apart(region: Region, loop: For) -> bool:
    """Whether the iterations of *loop* are independent of each other if each accumulates into variables of its own."""
    from nomp.dependence import outermost  # isl, which `nomp cc` starts without

    unique = names(region).unique
    own = {reduction.name: unique(reduction.name) for reduction in region.clauses.reductions}
    declared = (Declare(local, region.param(name).dtype) for name, local in own.items())
    body = (*declared, *substituted(loop.body, own))
    verdict = outermost(replace(region, body=(replace(loop, body=body),))).parallel
    return verdict == "yes" or (verdict == "unknown" and loop.iname in region.clauses.independent)


def _in_lanes(
    share: For, private: Mapping[str, Var], ops: Mapping[str, str], unique: Unique
) -> tuple[Stmt, ...]:
    """*share* with several accumulators for each of *private*, which compilers make vectors of."""
    fit = all(is_float(own.dtype) and ops[name] not in ("&&", "||") for name, own in private.items())
    if not fit or any(isinstance(s, For | While) for s in walk(share.body)) or any(jumps.own(share.body)):
        return (share,)
    rows = {own.name: unique(f"{own.name}_lanes") for own in private.values()}
    at, lane, first, last = (Var(unique(name), INDEX) for name in ("_at", "_lane", "_lane", "_lane"))

    def in_lane(node: Any) -> Any:
        match node:
            case Var(name=name, dtype=dtype) if name in rows:
                return Load(rows[name], (lane,), dtype)
            case Var(name=name, dtype=dtype) if name == share.iname:
                return Binary("+", replace(at, dtype=dtype), replace(lane, dtype=dtype), dtype)
        return node

    def each(number: Var, body: Iterable[Stmt]) -> For:
        return counting(number, Const(LANES, INDEX), body)

    def of(own: Var, number: Var) -> Load:
        return Load(rows[own.name], (number,), own.dtype)

    declared = (Declare(rows[own.name], own.dtype, (Const(LANES, INDEX),)) for own in private.values())
    start = (Assign(of(own, first), neutral(ops[n], Var(n, own.dtype))) for n, own in private.items())
    total = (Assign(own, combined(ops[n], own, of(own, last))) for n, own in private.items())
    whole, rest = in_groups(share, LANES, at, (each(lane, rewritten(share.body, in_lane)),))
    return (*declared, each(first, start), whole, *renamed((rest,), unique), each(last, total))


def _combine(region: Region, items: int, partial: Mapping[str, Param], unique: Unique) -> Region:
    body: list[Stmt] = []
    for reduction in region.clauses.reductions:
        array = partial[reduction.name]
        cell, index = Var(reduction.name, array.dtype), Var(unique("_part"), INDEX)
        share = Load(array.name, (index,), array.dtype)
        value = combined(reduction.op, cell, share)
        if reduction.op in ("&&", "||"):  # a share that never ran must not turn a 5 into a 1
            before = Var(unique(f"{reduction.name}_before"), array.dtype)
            body.append(Declare(before.name, array.dtype, (), cell))
            value = Select(Binary("==", share, before, "int32"), cell, value, array.dtype)
        step = Assign(cell, value)
        body.append(counting(index, Const(items, INDEX), [step]))
    cells = tuple(param for param in region.params if param.name in partial)
    return replace(region, name=f"{region.name}_finish", params=(*cells, *partial.values()), body=tuple(body),
                   clauses=Clauses(), functions=())  # fmt: skip
