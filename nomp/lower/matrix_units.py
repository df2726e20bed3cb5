"""Sums of products that the matrix units of NVIDIA's GPUs make: of doubles, as exact as one item makes them.

In: a kernel in the order of its code, some of whose loops have the tag `ByMatrixUnits`.  Out: the same, in which
units make whole runs of these loops.  Called by `codegen` for CUDA.  What has another form than the one below is left
as it is, which means the same and is slower.

A loop over k adds up, in registers, ``sum[p, q, v] += x[.., u, p, k] * y[k, .., q, 2*t + v]``, where t is on the axis l.0,
which has 4 items, and u on l.1, which has 8: a warp.  A unit makes the sums of a warp for 4 k and 8 rows: the item
(t, u) gives it ``x[u, k + t]`` and ``y[k + t, u]``, and has the sums of row u in the columns 2*t and 2*t + 1.  It adds one
product after the other, in the order of k, each sum with one rounding: just what CUDA's compiler makes of the loop.

All items of a warp must be there.  So those beyond the edge of the result take part as well: they add up what happens
to be in the group's memory to sums that nothing stores.  Runs of the loop that the edge cuts short stay with the items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import islpy as isl
import loopy as lp
import numpy as np
from islpy import dim_type
from loopy.kernel.data import IlpBaseTag, Iname, LocalInameTag, UnrollHintTag
from loopy.schedule import EnterLoop, LeaveLoop, RunInstruction
from loopy.symbolic import CoefficientCollector, constraint_to_cond_expr
from pymbolic import primitives as p
from pymbolic import var
from pytools.tag import Tag

COLUMN_ITEMS, ROW_ITEMS, PAIR, DEPTH = 4, 8, 2, 4
"""Items of a warp along l.0 and l.1, neighbouring columns that one has, and products that a unit adds up at once."""

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


class ByMatrixUnits(UnrollHintTag):  # type: ignore[misc]
    """Of a loop: matrix units may make what it adds up.  Others unroll it."""


def used(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel*, in which units make what they can."""
    entry = kernel.default_entrypoint
    items = entry.get_grid_size_upper_bounds_as_exprs(kernel.callables_table)[1]
    if tuple(items[:2]) != (COLUMN_ITEMS, ROW_ITEMS):
        return kernel
    for iname in sorted(entry.all_inames()):
        if entry.iname_tags_of_type(iname, ByMatrixUnits):
            entry = _by_units(entry, iname)
    return kernel.with_kernel(entry)


def loop_of(insn: Any) -> str | None:
    """The loop that *insn* runs as a whole, if units do that."""
    return next((tag.loop for tag in insn.tags_of_type(_Runs)), None)


@dataclass(frozen=True)
class _Runs(Tag):  # type: ignore[misc]
    """Of an instruction: it is the one that was in *loop*, run for all iterations of that."""

    loop: str


# ------------------------------------------------------------------------------------------------------ recognising


@dataclass(frozen=True, slots=True)
class _Operand:
    """An array in a group's memory, and where in it an element is: numbers times inames, 1 for the rest."""

    array: str
    place: Mapping[Any, int]

    def at(self, iname: str) -> int:
        """How far the next element along *iname* is."""
        return self.place.get(var(iname), 0)

    def first(self, inames: Set[str], items: Mapping[str, int]) -> Any:
        """The place where all *inames* are 0, and as far behind as *items* times their numbers."""
        others = {name: factor for name, factor in self.place.items() if str(name) not in inames}
        items = {name: factor for name, factor in items.items() if factor}
        return p.flattened_sum([factor * name for name, factor in others.items()]
                               + [factor * var(name) for name, factor in items.items()])  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Step:
    """*insn* in the loop *k* of *depth* iterations, which units can run: the inames above.

    *blocks* says how many *p* and *q* there are; *rows* is x, and *columns* is y.
    """

    insn: Any
    k: str
    depth: int
    t: str
    u: str
    p: str
    q: str
    v: str
    blocks: tuple[int, int]
    rows: _Operand
    columns: _Operand
    sums: _Operand

    @property
    def items(self) -> set[str]:
        """The inames of which a unit's run has all values."""
        return {self.t, self.u, self.p, self.q, self.v}


class _Misfit(Exception):
    """Units cannot do what a loop does."""


class _Reader:
    """Finds out whether units can run the loop *k* of *entry*."""

    def __init__(self, entry: lp.LoopKernel, k: str) -> None:
        self.entry, self.k = entry, k

    def step(self) -> _Step | None:
        """The loop, if they can."""
        inside = [insn for insn in self.entry.instructions if self.k in insn.within_inames]
        try:
            return self._step(*inside) if len(inside) == 1 and isinstance(inside[0], lp.Assignment) else None
        except _Misfit:
            return None

    def _step(self, insn: Any) -> _Step:
        sums = self._operand(insn.assignee, lp.AddressSpace.PRIVATE)
        factors = [self._operand(factor, lp.AddressSpace.LOCAL) for factor in _factors(insn)]
        t, u = (self._on_axis(insn, axis) for axis in (0, 1))
        rows, columns = sorted(factors, key=lambda factor: factor.at(t) != 0)
        ilp = {i for i in insn.within_inames if self.entry.iname_tags_of_type(i, IlpBaseTag)}
        pairs = {i for i in ilp if PAIR * columns.at(i) == columns.at(t) and self._count(i) == PAIR}
        (v,), (p_,), (q,) = map(_only, (pairs, _along(rows, ilp), _along(columns, ilp - pairs)))
        step = _Step(insn, self.k, self._count(self.k), t, u, p_, q, v, (self._count(p_), self._count(q)), rows,
                     columns, sums)  # fmt: skip
        _require(_along(rows, {t, v, q}) == _along(columns, {u, p_}) == set() and ilp == {p_, q, v})
        _require(sums.place.keys() <= {1, *map(var, ilp)} and all(map(sums.at, ilp)))
        _require(step.depth % DEPTH == 0 and step.blocks[0] % PAIR == 0 and bool(rows.at(u) and columns.at(t)))
        _require(all({t, u, *ilp} <= i.within_inames for i in self.entry.instructions
                     if sums.array in i.dependency_names()))  # fmt: skip
        return step

    def _operand(self, mention: Any, space: Any) -> _Operand:
        """*mention* of an array of doubles in *space*, all of whose elements are there wherever loops may go."""
        _require(isinstance(mention, p.Subscript))
        local = self.entry.temporary_variables.get(mention.aggregate.name)
        _require(local is not None and local.address_space == space and local.dtype.numpy_dtype == np.float64)
        place: dict[Any, int] = {}
        for index, extent, tag in zip(mention.index_tuple, local.shape, local.dim_tags, strict=True):
            factors = _coefficients(index)
            last = factors.get(1, 0) + sum(f * (self._count(str(i)) - 1) for i, f in factors.items() if i != 1)
            _require(min(factors.values(), default=0) >= 0 and isinstance(extent, int) and last < extent)
            for name, factor in factors.items():
                place[name] = place.get(name, 0) + factor * tag.stride
        return _Operand(local.name, place)

    def _on_axis(self, insn: Any, axis: int) -> str:
        (found,) = _only({i for i in insn.within_inames for tag in self.entry.iname_tags_of_type(i, LocalInameTag)
                          if tag.axis == axis})  # fmt: skip
        _require(self._count(found) == (COLUMN_ITEMS, ROW_ITEMS)[axis])
        return found

    def _count(self, iname: str) -> int:
        """How many iterations a loop from 0 has at most."""
        domain = self.entry.get_inames_domain(iname).to_set()
        place = domain.find_dim_by_name(dim_type.set, iname)
        least, most = domain.dim_min_val(place), domain.dim_max_val(place)
        _require(least.is_zero() and most.is_int())
        return int(most.to_python()) + 1


def _factors(insn: Any) -> tuple[Any, Any]:
    """The two numbers whose product *insn* adds to what it writes, and that do."""
    terms = insn.expression.children if isinstance(insn.expression, p.Sum) else ()
    products = [term for term in terms if isinstance(term, p.Product) and len(term.children) == 2]
    _require(len(terms) == 2 and len(products) == 1 and insn.assignee in terms)
    _require(not insn.predicates and not insn.atomicity)
    first, second = products[0].children
    return first, second


def _coefficients(index: Any) -> Mapping[Any, int]:
    try:
        found = CoefficientCollector()(index)
    except Exception as reason:  # whatever loopy raises for what is not affine
        raise _Misfit from reason
    _require(all(isinstance(factor, int) for factor in found.values()))
    return dict(found)


def _along(operand: _Operand, inames: Set[str]) -> set[str]:
    """Those of *inames* along which elements of *operand* differ."""
    return {iname for iname in inames if operand.at(iname)}


def _only(names: Set[str]) -> Set[str]:
    _require(len(names) == 1)
    return names


def _require(holds: bool) -> None:
    if not holds:
        raise _Misfit


# --------------------------------------------------------------------------------------------------------- replacing


def _by_units(entry: lp.LoopKernel, k: str) -> lp.LoopKernel:
    """*entry*, in which units run the loop *k* wherever it has all its iterations, if they can."""
    step = _Reader(entry, k).step()
    whole = step and _whole(entry, step)
    return _with_units(entry, step, whole) if step and whole else entry


def _whole(entry: lp.LoopKernel, step: _Step) -> isl.BasicSet | None:
    """For which values of the inames around it the loop of *step* has all its iterations, whatever the items; None if
    that has no simple form."""
    domain = entry.domains[entry.get_home_domain_index(step.k)]
    place = domain.find_dim_by_name(dim_type.set, step.k)
    bounds = isl.BasicSet.universe(domain.space)
    for constraint in domain.get_constraints():
        if constraint.involves_dims(dim_type.set, place, 1):
            bounds = bounds.add_constraint(constraint)
    used = {name for name in bounds.get_var_names(dim_type.set) if _involves(bounds, name)} - {step.k}
    for name in [name for name in bounds.get_var_names(dim_type.set) if name != step.k]:
        bounds = _without(bounds, name, kept=name in used)
    every = isl.Set(f"{{ [{step.k}] : 0 <= {step.k} < {step.depth} }}").align_params(bounds.space)
    missing = (every - bounds).params().coalesce()
    whole = missing.complement().coalesce()
    simple = missing.n_basic_set() <= 1 and whole.n_basic_set() == 1 and not used & step.items
    return whole.get_basic_sets()[0] if simple else None


def _involves(bounds: isl.BasicSet, name: str) -> bool:
    return bool(bounds.involves_dims(dim_type.set, bounds.find_dim_by_name(dim_type.set, name), 1))


def _without(bounds: isl.BasicSet, name: str, *, kept: bool) -> isl.BasicSet:
    """*bounds* without the dimension *name*, which becomes a parameter if it is *kept*."""
    place = bounds.find_dim_by_name(dim_type.set, name)
    if not kept:
        return bounds.project_out(dim_type.set, place, 1)
    return bounds.move_dims(dim_type.param, bounds.dim(dim_type.param), dim_type.set, place, 1)


def _with_units(entry: lp.LoopKernel, step: _Step, whole: isl.BasicSet) -> lp.LoopKernel:
    """*entry*, in which units run *step* where it is *whole*; what is left of it is an instruction behind that."""
    fresh, insn = entry.get_var_name_generator(), step.insn
    t, u = fresh(f"{step.t}_unit"), fresh(f"{step.u}_unit")
    warp = isl.BasicSet(f"{{ [{t}, {u}] : 0 <= {t} < {COLUMN_ITEMS} and 0 <= {u} < {ROW_ITEMS} }}")
    axes = {name: Iname(name, frozenset([LocalInameTag(axis)])) for axis, name in enumerate((t, u))}
    own = entry.inames[step.k].copy(tags=frozenset([UnrollHintTag(1)]))
    units, rest = _unit_instruction(step, t, u, fresh).copy(predicates=_conditions(whole)), list[Any]()
    for cut in whole.complement().coalesce().get_basic_sets():
        name = entry.get_instruction_id_generator()(f"{insn.id}_rest")
        rest.append(insn.copy(id=name, predicates=_conditions(cut)))
    return entry.copy(
        domains=[*entry.domains, warp],
        instructions=[*(units if other is insn else other for other in entry.instructions), *rest],
        inames={**entry.inames, **axes, step.k: own},
        linearization=_in_place(entry.linearization, step, rest),
        preambles=(*entry.preambles, ("nomp_matrix_units", _UNITS)),
    )


def _conditions(values: isl.BasicSet) -> frozenset[Any]:
    """That the parameters have *values*."""
    return frozenset(constraint_to_cond_expr(constraint) for constraint in values.get_constraints())


def _in_place(items: Sequence[Any], step: _Step, rest: Sequence[Any]) -> list[Any]:
    """The code *items* with what units do before the loop of *step*, in which the *rest* is, if any."""
    begin = next(n for n, item in enumerate(items) if isinstance(item, EnterLoop) and item.iname == step.k)
    end = next(n for n, item in enumerate(items) if isinstance(item, LeaveLoop) and item.iname == step.k) + 1
    loop = [RunInstruction(insn.id) if isinstance(item, RunInstruction) else item for insn in rest for item in items[begin:end]]
    return [*items[:begin], RunInstruction(step.insn.id), *loop, *items[end:]]


def _unit_instruction(step: _Step, t: str, u: str, fresh: Any) -> Any:
    """What runs all iterations of *step*, for the items *t* and *u* of a warp."""
    insn, inner = step.insn, step.items | {step.k}
    rows, columns = step.rows, step.columns
    places = {
        fresh(f"{rows.array}_at"): rows.first(inner, {u: rows.at(step.u), t: rows.at(step.k)}),
        fresh(f"{columns.array}_at"): columns.first(inner, {t: columns.at(step.k), u: columns.at(step.v)}),
    }
    return lp.CInstruction(
        tuple(places.items()), _text(step, *places, fresh), frozenset({rows.array, columns.array, step.sums.array}),
        (insn.assignee.aggregate[(0,) * len(insn.assignee.index_tuple)],), id=insn.id, depends_on=insn.depends_on, depends_on_is_final=True,
        no_sync_with=insn.no_sync_with, within_inames=insn.within_inames - inner | {t, u}, within_inames_is_final=True,
        tags=insn.tags | {_Runs(step.k)},
    )  # fmt: skip


def _text(step: _Step, rows_at: str, columns_at: str, fresh: Any) -> str:
    """C text for all iterations of *step*."""
    k, x, y, i, j = map(fresh, ("step", "row", "column", "row_block", "column_block"))
    rows, columns, sums = step.rows, step.columns, step.sums
    first = f"{sums.array}[{sums.at(step.p)} * {i} + {sums.at(step.q)} * {j}"
    own = [f"{first} + {sums.at(step.p) * part + sums.at(step.v) * pair}]" for part in (0, 1) for pair in (0, 1)]
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
    for (int {i} = 0; {i} < {step.blocks[0]}; {i} += 2)
      nomp_add_products({", ".join(own)}, {x}[{i}], {x}[{i} + 1], {y}[{j}]);
}}""".strip()
