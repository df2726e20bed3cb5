"""Loops of a kernel that matrix units can run.

In: a kernel that loopy has preprocessed, and a loop of it.  Out: a `Step`: the loop, if units can run it, and when that
has all its iterations.  Called by `matrix_units`, which says what units do.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import islpy as isl
import loopy as lp
import numpy as np
from islpy import dim_type
from loopy.kernel.data import HardwareConcurrentTag, IlpBaseTag, LocalInameTag
from loopy.symbolic import CoefficientCollector
from pymbolic import primitives as p
from pymbolic import var

from nomp.lower.target import WITH_SUBSCRIPTS

COLUMN_ITEMS, ROW_ITEMS = 4, 8
"""Items of a warp on the axes l.0 and l.1."""
PAIR = 2
"""Neighbouring columns that an item has; and neighbouring blocks of rows that a unit can do at once."""
DEPTH = 4
"""Products that a unit adds up at once."""


@dataclass(frozen=True, slots=True)
class Operand:
    """Elements of *array*: where they are in it, as numbers by which inames are multiplied; that of 1 is added."""

    array: str
    place: Mapping[Any, int]

    def at(self, iname: str) -> int:
        """How far away the next element along *iname* is."""
        return self.place.get(var(iname), 0)

    def along(self, inames: Set[str]) -> set[str]:
        """Those of *inames* along which elements differ."""
        return {iname for iname in inames if self.at(iname)}

    def start(self, inames: Set[str], items: Mapping[str, int]) -> Any:
        """Where the element is for which all *inames* are 0, and as far behind as *items* say, times their numbers."""
        others = {name: number for name, number in self.place.items() if str(name) not in inames}
        added = {var(name): number for name, number in items.items()}
        return p.flattened_sum([number * name for name, number in {**others, **added}.items() if number])


@dataclass(frozen=True, slots=True)
class Step:
    """*insn* in the loop *k* of *depth* iterations, which units can run; the inames are those of `matrix_units`.

    *blocks* says how many *p* and *q* there are; *rows* is x, and *columns* is y.  The loop has all iterations where
    the inames around it, and the kernel's parameters, are in *whole*.
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
    rows: Operand
    columns: Operand
    sums: Operand
    whole: isl.BasicSet

    @property
    def inner(self) -> set[str]:
        """The inames of which units run all values at once."""
        return {self.k, self.t, self.u, self.p, self.q, self.v}


class _Misfit(Exception):
    """Units cannot run a loop."""


def _require(holds: object) -> None:
    if not holds:
        raise _Misfit


def _only(found: Set[Any]) -> Any:
    _require(len(found) == 1)
    return next(iter(found))


def runnable(entry: lp.LoopKernel, k: str) -> Step | None:
    """The loop *k* of *entry*, if units can run it."""
    try:
        return _Reader(entry, k).step()
    except _Misfit:
        return None


class _Reader:
    """Finds out whether units can run the loop *k* of *entry*.  Its methods raise `_Misfit` if they cannot."""

    def __init__(self, entry: lp.LoopKernel, k: str) -> None:
        self.entry, self.k = entry, k

    def step(self) -> Step:
        """The loop."""
        insn = _only({insn for insn in self.entry.instructions if self.k in insn.within_inames})
        t, u = self._on_axis(insn, 0, COLUMN_ITEMS), self._on_axis(insn, 1, ROW_ITEMS)
        copies = {i for i in insn.within_inames if self.entry.iname_tags_of_type(i, IlpBaseTag)}
        rows, columns = self._factors(insn, t)
        pairs = {i for i in columns.along(copies) if PAIR * columns.at(i) == columns.at(t)}
        v = _only({i for i in pairs if self._count(i) == PAIR})
        p_, q = _only(rows.along(copies)), _only(columns.along(copies - {v}))
        _require(copies == {p_, q, v} and rows.at(u) and not rows.along({t, v, q}) and not columns.along({u, p_}))
        depth, blocks = self._count(self.k), (self._count(p_), self._count(q))
        _require(depth % DEPTH == 0 and blocks[0] % PAIR == 0)
        self._refuse_sums_elsewhere(insn, {t, u}, copies)
        self._refuse_uneven(insn, {t, u, *copies})
        sums = self._operand(insn.assignee, lp.AddressSpace.PRIVATE)
        return Step(insn, self.k, depth, t, u, p_, q, v, blocks, rows, columns, sums, self._whole(depth))

    # ----------------------------------------------------------------------------------------------- the instruction

    def _factors(self, insn: Any, t: str) -> tuple[Operand, Operand]:
        """The two whose product *insn* adds to what it writes, that which has the same rows for all *t* first."""
        _require(isinstance(insn, lp.Assignment) and not insn.predicates and not insn.atomicity)
        terms = insn.expression.children if isinstance(insn.expression, p.Sum) else ()
        _require(len(terms) == 2 and insn.assignee in terms)
        (product,) = (term for term in terms if term != insn.assignee)
        _require(isinstance(product, p.Product) and len(product.children) == 2)
        factors = [self._operand(factor, lp.AddressSpace.LOCAL) for factor in product.children]
        rows = _only({number for number, factor in enumerate(factors) if not factor.at(t)})
        return factors[rows], factors[1 - rows]

    def _operand(self, mention: Any, space: Any) -> Operand:
        """*mention* of an array of doubles in *space*, all of whose elements are there however far loops go."""
        _require(isinstance(mention, p.Subscript))
        local = self.entry.temporary_variables.get(mention.aggregate.name)
        _require(local is not None and local.address_space == space and local.dtype.numpy_dtype == np.float64)
        place: dict[Any, int] = {}
        for index, extent, tag in zip(mention.index_tuple, local.shape, local.dim_tags, strict=True):
            numbers = _coefficients(index)
            last = sum(number * (1 if name == 1 else self._count(str(name)) - 1) for name, number in numbers.items())
            _require(min(numbers.values(), default=0) >= 0 and isinstance(extent, int) and last < extent)
            for name, number in numbers.items():
                place[name] = place.get(name, 0) + number * tag.stride
        return Operand(local.name, place)

    def _refuse_sums_elsewhere(self, insn: Any, items: set[str], copies: set[str]) -> None:
        """Only who has a sum may mention it: units also write those that nobody has, beyond the edge of the result."""
        _require({*insn.assignee.index_tuple} == {*map(var, copies)} and len(insn.assignee.index_tuple) == len(copies))
        name = insn.assignee.aggregate.name
        for other in self.entry.instructions:
            if name in other.dependency_names():
                _require(isinstance(other, lp.Assignment) and items | copies <= other.within_inames)
                found = WITH_SUBSCRIPTS((other.assignee, other.expression, *other.predicates))
                _require(all(mention == insn.assignee for mention in found if _name(mention) == name))

    # ------------------------------------------------------------------------------------------------------ the loops

    def _on_axis(self, insn: Any, axis: int, count: int) -> str:
        """The iname of *insn* on an *axis* of the group, which has *count* items."""
        tagged = {i: self.entry.iname_tags_of_type(i, LocalInameTag) for i in insn.within_inames}
        found = str(_only({i for i, tags in tagged.items() if any(tag.axis == axis for tag in tags)}))
        _require(self._count(found) == count)
        return found

    def _count(self, iname: str) -> int:
        """How many iterations a loop has at most, which starts at 0."""
        _require(iname in self.entry.all_inames())
        domain = self.entry.get_inames_domain(iname).to_set()
        place = domain.find_dim_by_name(dim_type.set, iname)
        least, most = domain.dim_min_val(place), domain.dim_max_val(place)
        _require(least.is_zero() and most.is_int())
        return int(most.to_python()) + 1

    def _refuse_uneven(self, insn: Any, items: set[str]) -> None:
        """Loops around, and the loop itself, must go equally far for all items of a warp, which a unit needs all."""
        loops = {i for i in insn.within_inames - items if not self.entry.iname_tags_of_type(i, HardwareConcurrentTag)}
        for domain in self.entry.domains:
            _require(not domain.dim(dim_type.div) or not (items | loops) & {*domain.get_var_dict()})
            for constraint in domain.get_constraints():
                names = _involved(constraint)
                _require(not names & loops or not names & items)

    def _whole(self, depth: int) -> isl.BasicSet:
        """Where the loop has *depth* iterations: values of parameters, and of inames around it, as parameters."""
        domain = self.entry.domains[self.entry.get_home_domain_index(self.k)]
        bounds = isl.BasicSet.universe(domain.space)
        for constraint in domain.get_constraints():
            if self.k in _involved(constraint):
                bounds = bounds.add_constraint(constraint)
        for name in set(domain.get_var_names(dim_type.set)) - {self.k}:
            kind, place = bounds.get_var_dict()[name]
            bounds = bounds.move_dims(dim_type.param, bounds.dim(dim_type.param), kind, place, 1)
        every = isl.Set(f"{{ [{self.k}] : 0 <= {self.k} < {depth} }}").align_params(bounds.space)
        return _only({*(every - bounds).params().complement().coalesce().get_basic_sets()})


def _coefficients(index: Any) -> Mapping[Any, int]:
    """The numbers by which inames are multiplied in *index*, and what is added to that, that of 1."""
    try:
        found = CoefficientCollector()(index)
    except Exception as reason:  # whatever loopy raises for what is not affine
        raise _Misfit from reason
    _require(all(isinstance(number, int) for number in found.values()))
    return dict(found)


def _involved(constraint: isl.Constraint) -> set[str]:
    """The inames and parameters on which *constraint* depends."""
    names = constraint.get_var_dict()
    return {name for name, (kind, place) in names.items() if constraint.involves_dims(kind, place, 1)}


def _name(mention: Any) -> str | None:
    """The array of which *mention* is an element, or the scalar that it is."""
    return getattr(mention.aggregate if isinstance(mention, p.Subscript) else mention, "name", None)
