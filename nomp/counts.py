"""How much a region computes and moves, whatever its schedule: loopy's counts of the program as it is written.

In: a region, then the values of its scalars at a launch.  Out: `Work`.  Called for reports (`report.profile`), once a
program has run.  A floating-point addition, subtraction, multiplication, division or call counts as one operation.
What data decide (the length of a row of a sparse matrix, a ``break``) is not counted at all: the counts are None then.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import islpy as isl
import loopy as lp
import numpy as np
from loopy.kernel.instruction import MultiAssignmentBase
from loopy.statistics import count
from loopy.symbolic import BatchedAccessMapMapper, SubstitutionMapper
from pymbolic import var
from pymbolic.mapper.substitutor import make_subst_func

from nomp.arithmetic import Number
from nomp.device_source import Variant
from nomp.diagnostics import NompError
from nomp.lower import lower
from nomp.region import Region
from nomp.work import Work

_VARIANT = Variant(no_wrap=True, apart=True)
_MOST_ROWS = 4_000
"""Iterations of an outer loop that are counted one by one, where loopy only bounds the count of all (triangles)."""


class Counter:
    """Counts *region* for any sizes; the work on its loops is done once."""

    def __init__(self, region: Region) -> None:
        self._arrays = {param.name for param in region.params if param.kind in ("array", "table")}
        self._polynomials: _Polynomials | None = None
        try:
            self._polynomials = _Polynomials(lower(region, _VARIANT, "opencl").kernel, self._arrays)
        except (NompError, _Uncountable):
            return

    def at(self, sizes: Mapping[str, Number]) -> Work | None:
        """The counts of a launch whose scalars have the values *sizes*; None if data decide."""
        return self._polynomials.at(sizes) if self._polynomials else None


class _Uncountable(Exception):
    """Not all of it is affine."""


class _Polynomials:
    """Loopy's counts of *kernel*: polynomials in its parameters."""

    def __init__(self, kernel: lp.TranslationUnit, arrays: set[str]) -> None:
        entry = kernel.default_entrypoint
        if not all(isinstance(insn, MultiAssignmentBase) for insn in entry.instructions):
            raise _Uncountable
        try:
            with _estimates() as estimated:
                self._iterations = _Iterations(kernel, arrays)
            if estimated and (rows := _rows(entry)):
                with _estimates() as estimated:
                    self._iterations = _Iterations(_in_rows(kernel, rows), arrays, _range(entry, rows))
            self._exact = not estimated
            self._footprints = list(_footprints(entry, arrays))
        except Exception as reason:  # loopy raises whatever its parts raise
            raise _Uncountable from reason

    def at(self, sizes: Mapping[str, Number]) -> Work | None:
        """See `Counter.at`."""
        values = {name: int(value) for name, value in sizes.items() if isinstance(value, int)}
        try:
            single, double, by_access = self._iterations.at(values)
            footprint, exact = 0, self._exact
            for key, size, elements in self._footprints:
                most = by_access.get(key, 0)
                found = size * elements.at(values) if elements else most
                footprint += min(found, most)
                exact = exact and elements is not None and elements.exact
        except (KeyError, TypeError, ValueError, _Uncountable):  # a parameter that the host does not know
            return None
        return Work(single, double, sum(by_access.values()), footprint, exact)


_Key = tuple[str, str]
"""An array, and "load" or "store"."""


@contextmanager
def _estimates() -> Iterator[list[str]]:
    """Gets loopy's warnings that counts are too large or too small, and keeps all others quiet."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [str(warning.message) for warning in caught if "estimated the" in str(warning.message)]


class _Iterations:
    """What all iterations of *kernel* compute and access, or those of one row for each point of *rows*."""

    def __init__(self, kernel: lp.TranslationUnit, arrays: set[str], rows: isl.Set | None = None) -> None:
        self._rows = rows
        self._operations: list[tuple[bool, Any]] = []
        self._accesses: list[tuple[_Key, int, Any]] = []
        ways = {"subgroup_size": 1, "count_redundant_work": True}
        for op, polynomial in lp.get_op_map(kernel, count_within_subscripts=False, **ways).items():
            dtype = np.dtype(op.dtype.numpy_dtype)
            if dtype.kind == "f" and not op.name.startswith("func:as_"):
                self._operations.append((dtype.itemsize > 4, polynomial))
        for access, polynomial in lp.get_mem_access_map(kernel, **ways).items():
            if access.mtype == "global" and access.variable in arrays:
                size = np.dtype(access.dtype.numpy_dtype).itemsize
                self._accesses.append(((access.variable, access.direction), size, polynomial))

    def at(self, values: dict[str, int]) -> tuple[int, int, dict[_Key, int]]:
        """Single and double operations, and bytes by array and direction."""
        rows = _points(self._rows, values)
        operations, accesses = [0, 0], dict[_Key, int]()
        for double, polynomial in self._operations:
            operations[double] += _summed(polynomial, values, rows)
        for key, size, polynomial in self._accesses:
            accesses[key] = accesses.get(key, 0) + size * _summed(polynomial, values, rows)
        return operations[0], operations[1], accesses


class _Elements:
    """How many points a set has."""

    def __init__(self, kernel: lp.LoopKernel, elements: isl.Set) -> None:
        elements = elements.coalesce().drop_unused_params()
        with _estimates() as estimated:
            self._polynomial, self._rows = count(kernel, elements), None
        if estimated:
            place, row = elements.dim(isl.dim_type.param), elements.dim(isl.dim_type.set)
            self._rows = elements.project_out(isl.dim_type.set, 1, row - 1)
            part = elements.move_dims(isl.dim_type.param, place, isl.dim_type.set, 0, 1)
            with _estimates() as estimated:
                self._polynomial = count(kernel, part.set_dim_name(isl.dim_type.param, place, _ROW))
        self.exact = not estimated

    def at(self, values: dict[str, int]) -> int:
        """For these *values* of parameters."""
        return _summed(self._polynomial, values, _points(self._rows, values))


_ROW = "nomp_row"


def _summed(polynomial: Any, values: dict[str, int], rows: list[int]) -> int:
    """*polynomial* for *values*, all *rows* together if there are any."""
    if _ROW in polynomial.pwqpolynomial.space.get_var_names(isl.dim_type.param):
        return int(sum(polynomial.eval_with_dict({**values, _ROW: row}) for row in rows))
    return int(polynomial.eval_with_dict(values)) * max(1, len(rows))


def _points(rows: isl.Set | None, values: dict[str, int]) -> list[int]:
    """Those of a set of one dimension; `_Uncountable` if there are too many."""
    if rows is None:
        return []
    for place in reversed(range(rows.dim(isl.dim_type.param))):
        rows = rows.fix_val(isl.dim_type.param, place, values[rows.get_dim_name(isl.dim_type.param, place)])
    low, high = (bound.to_python() for bound in (rows.dim_min_val(0), rows.dim_max_val(0)))
    if high - low > _MOST_ROWS:
        raise _Uncountable
    found: list[int] = []
    rows.foreach_point(lambda p: found.append(p.get_coordinate_val(isl.dim_type.set, 0).to_python()))
    return found


def _rows(kernel: lp.LoopKernel) -> str:
    """A loop that is around everything, whose bounds the host knows, and on which those of others depend; or ""."""
    params = {name for domain in kernel.domains for name in domain.get_var_dict(isl.dim_type.param)}
    around = params.intersection(*(insn.within_inames for insn in kernel.instructions))
    loops = kernel.all_inames()
    return next((n for n in sorted(around) if loops.isdisjoint(_range(kernel, n).get_var_dict(isl.dim_type.param))), "")


def _range(kernel: lp.LoopKernel, row: str) -> isl.Set:
    """What the counter of loop *row* may be."""
    domain = next(d for d in kernel.domains if row in d.get_var_dict(isl.dim_type.set)).to_set()
    return domain.project_out_except([row], [isl.dim_type.set])


def _in_rows(kernel: lp.TranslationUnit, row: str) -> lp.TranslationUnit:
    """*kernel* without its loop *row*, the counter of which is a parameter."""
    entry = kernel.default_entrypoint
    domains = []
    for domain in entry.domains:
        if (place := domain.get_var_dict(isl.dim_type.set).get(row)) is not None:
            domain = domain.move_dims(isl.dim_type.param, domain.dim(isl.dim_type.param), isl.dim_type.set, place[1], 1)
        if (place := domain.get_var_dict(isl.dim_type.param).get(row)) is not None:
            domain = domain.set_dim_name(isl.dim_type.param, place[1], _ROW)
        domains.append(domain)
    rename = SubstitutionMapper(make_subst_func({row: var(_ROW)}))
    insns = [insn.with_transformed_expressions(rename).copy(within_inames=insn.within_inames - {row})
             for insn in entry.instructions]  # fmt: skip
    args = [*entry.args, lp.ValueArg(_ROW, np.int64)]
    entry = entry.copy(domains=domains, instructions=insns, args=args, loop_priority=frozenset())
    return kernel.with_kernel(entry)


def _footprints(kernel: lp.LoopKernel, arrays: set[str]) -> Iterator[tuple[_Key, int, _Elements | None]]:
    """The bytes of an element, and how many elements there are; None where data decide."""
    for direction in ("load", "store"):
        mapper = BatchedAccessMapMapper(kernel, arrays, overestimate=False)
        for insn in kernel.instructions:
            for expr in _mentions(insn, direction):
                mapper(expr, insn.within_inames)
        for name in sorted(arrays):
            size = np.dtype(kernel.arg_dict[name].dtype.numpy_dtype).itemsize
            touched = mapper.get_access_range(name)
            if mapper.bad_subscripts.get(name):
                yield (name, direction), size, None
            elif touched is not None:
                yield (name, direction), size, _Elements(kernel, touched)


def _mentions(insn: Any, direction: str) -> list[Any]:
    if direction == "store":
        return list(insn.assignees)
    inside = [index for target in insn.assignees for index in getattr(target, "index_tuple", ())]
    return [insn.expression, *inside, *insn.predicates]
