"""Whether a launch would certainly touch elements that are not on the device.

In: a region; then its scalars' values and the elements of each array that are mapped.  Out: nothing, or N616.  Called
by `runtime.decided`: `accesses` once, `accessed` for each new set of values, `check` for new maps, too.

Loops are followed into their first and last iterations, where affine subscripts have their extremes.  Only what is sure
to happen counts: accesses that depend on a condition or on data are left out, so that no correct program is refused,
and the iteration in a message really runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nomp.arithmetic import SIZES, Number, evaluate, is_launch_expr
from nomp.diagnostics import NompError, error
from nomp.loops import trip_count, value_after
from nomp.region import Binary, Break, Const, Continue, Expr, For, Load, Param, Place, Region, Select, Stmt, Var
from nomp.runtime.spelling import section, spelled, strides_of, update
from nomp.walks import mentioned, operands, walk, walk_expr

_ONE = Const(1, "int64")

Elements = tuple[int, int]
"""The first element of an array that is on the device, and the one after the last, in the host's counting."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop around an access.

    *matters*: its counter occurs in the subscripts or in a bound.  *alone*: its bounds need no other loop's counter.
    """

    loop: For
    trips: Expr
    matters: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class Access:
    """An access that happens in every iteration of *loops* (outermost first), with what is needed to evaluate it."""

    param: Param
    subscripts: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    place: Place
    loops: tuple[Loop, ...]


def accesses(region: Region) -> tuple[Access, ...]:
    """The accesses to array parameters that are certain and whose subscripts follow from scalars and counters."""
    arrays = {param.name: param for param in region.params if param.kind == "array"}
    found = []
    for load, place, loops in certain(region.body, ()):
        known = region.scalars | {loop.iname for loop in loops}
        if load.array in arrays and (access := _access(arrays[load.array], load, place, loops, known)):
            found.append(access)
    return tuple(found)


def accessed(certain: tuple[Access, ...], scalars: Mapping[str, Number]) -> dict[str, Elements]:
    """The first and the last element of each array that a launch accesses."""
    found: dict[str, Elements] = {}
    for access, element, _ in _elements(certain, scalars):
        first, last = found.get(access.param.name, (element, element))
        found[access.param.name] = min(first, element), max(last, element)
    return found


def check(
    region: Region, certain: tuple[Access, ...], scalars: Mapping[str, Number], found: Mapping[str, Elements],
    mapped: Mapping[str, Elements],
) -> None:  # fmt: skip
    """Raise N616 if of an array that is `accessed` (*found*) an element is outside of what *mapped* says of it."""
    if all(mapped[name][0] <= first and last < mapped[name][1] for name, (first, last) in found.items()):
        return
    for access, element, counters in _elements(certain, scalars):
        first, end = mapped[access.param.name]
        if not first <= element < end:
            raise _outside(region, access, element, (first, end), counters, scalars)


def _elements(
    certain: tuple[Access, ...], scalars: Mapping[str, Number]
) -> Iterator[tuple[Access, int, dict[str, Number]]]:
    """The elements that are accessed in first and last iterations, and these."""
    seen: dict[int, tuple[Number, ...]] = {}
    for access in certain:
        for counters in corners(access.loops, scalars, {}, seen):
            yield access, _element(access, {**scalars, **counters}), counters


def certain(body: tuple[Stmt, ...], loops: tuple[For, ...]) -> Iterator[tuple[Load, Place, tuple[For, ...]]]:
    """The array accesses that happen whatever the data are, if the *loops* around them have iterations."""
    for stmt in body:
        for expr in mentioned(stmt):
            for load in _certain_loads(expr):
                yield load, load.place if load.place.line else stmt.place, loops
        if isinstance(stmt, For) and not any(isinstance(s, Break | Continue) for s in walk(stmt.body)):
            yield from certain(stmt.body, (*loops, stmt))


def _certain_loads(expr: Expr) -> Iterator[Load]:
    """The elements that *expr* accesses whatever the values are."""
    if isinstance(expr, Load):
        yield expr
    always = operands(expr)
    if isinstance(expr, Select) or (isinstance(expr, Binary) and expr.op in ("&&", "||")):
        always = always[:1]
    for operand in always:
        yield from _certain_loads(operand)


def _access(param: Param, load: Load, place: Place, loops: tuple[For, ...], known: frozenset[str]) -> Access | None:
    extents = tuple(extent for extent in param.shape[1:] if extent is not None)
    trips = tuple(trip_count(loop) for loop in loops)
    if not all(is_launch_expr(expr, known) for expr in (*load.index, *extents, *trips)):
        return None
    named = {n.name for e in (*load.index, *trips) for n in walk_expr(e) if isinstance(n, Var)}
    outside = known - {loop.iname for loop in loops}
    around = tuple(
        Loop(loop, trip, loop.iname in named, is_launch_expr(trip, outside))
        for loop, trip in zip(loops, trips, strict=True)
    )
    return Access(param, load.index, extents, place, around)


def corners(
    loops: tuple[Loop, ...], scalars: Mapping[str, Number], counters: dict[str, Number],
    seen: dict[int, tuple[Number, ...]],
) -> Iterator[dict[str, Number]]:  # fmt: skip
    """The counters' values in the first and last iterations of all *loops* that matter; none if one does not run.

    *seen* holds the values of loops whose bounds need no counter.
    """
    if not loops:
        yield counters
        return
    loop = loops[0]
    values = seen.get(id(loop.loop)) if loop.alone else None
    if values is None:
        values = seen[id(loop.loop)] = tuple(_extremes(loop, {**scalars, **counters}))
    for value in values if loop.matters else values[:1]:
        yield from corners(loops[1:], scalars, {**counters, loop.loop.iname: value}, seen)


def _extremes(loop: Loop, env: Mapping[str, Number]) -> Iterator[Number]:
    """The counter's value in the first and in the last iteration; nothing if there is none."""
    trips = int(evaluate(loop.trips, env))
    for trip in sorted({0, trips - 1}) if trips > 0 else ():
        yield evaluate(value_after(loop.loop, Const(trip, "int64")), env)


def _element(access: Access, env: Mapping[str, Number]) -> int:
    """The element accessed, counted from the array's first, rows one after the other."""
    element = 0
    for subscript, extent in zip(access.subscripts, (_ONE, *access.extents), strict=True):
        element = element * int(evaluate(extent, env)) + int(evaluate(subscript, env))
    return element


def _outside(
    region: Region, access: Access, element: int, mapped: Elements, counters: Mapping[str, Number],
    scalars: Mapping[str, Number],
) -> NompError:  # fmt: skip
    param = access.param
    strides = strides_of(param, scalars) or [1]
    there, wanted = _in_sections(param, mapped, strides), element // strides[0]
    where = ", ".join(f"{counter} = {value}" for counter, value in counters.items())
    shown = f"element {element} of '{section(param)}'"
    if len(strides) > 1 or param.grid:
        shown = spelled(param, element, scalars)
    message = f"kernel '{region.name}' accesses {shown}{f' ({where})' if where else ''}, "
    message += "of which only [{}, {}) is on the device".format(*there) if there else "which is not on the device"
    first, last = there or (0, 0)
    step = f"map all that the loop uses: {update(param, min(first, wanted), max(last, wanted + 1))}"
    return error("N616", message, region.span(access.place), help=step)


def _in_sections(param: Param, mapped: Elements, strides: Sequence[int]) -> Elements | None:
    """*mapped* as ``update`` counts: whole rows or structs.  None if there is not one."""
    unit = strides[0]
    inner = [(count - 1) * stride // SIZES[param.dtype] for count, stride in param.grid[1:]]
    used = sum(inner) + 1 if param.grid else unit
    first, last = -(-mapped[0] // unit), (mapped[1] - used) // unit + 1
    return (first, last) if first < last else None
