"""Whether a launch would certainly touch elements that are not on the device.

In: a region, its scalars' values, and the elements of each array that are mapped.  Out: nothing, or N616.  Called by
`runtime.kernel` for each new set of values.

Each loop is followed into its first and its last iteration, where affine subscripts have their extremes.  Only what
is sure to happen counts: accesses that depend on a condition or on data are left out, so that no correct program is
refused, and the iteration in a message really runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nomp.arithmetic import Number, evaluate, is_launch_expr
from nomp.diagnostics import NompError, error
from nomp.loops import last_value, trip_count
from nomp.region import (
    Assign,
    Binary,
    Break,
    Const,
    Continue,
    Expr,
    For,
    Load,
    Param,
    Place,
    Region,
    Select,
    Stmt,
    expressions,
    operands,
    walk,
)

_ONE = Const(1, "int64")

Elements = tuple[int, int]
"""The first element of an array that is on the device, and the one after the last, in the host's counting."""


def check(region: Region, scalars: Mapping[str, Number], mapped: Mapping[str, Elements]) -> None:
    """Raise N616 if the launch accesses an element of an array outside of what *mapped* says of it."""
    for load, place, env in _accesses(region.body, dict(scalars)):
        if load.array not in mapped:
            continue
        param = region.param(load.array)
        element = _element(param, load, env)
        first, last = mapped[load.array]
        if element is not None and not first <= element < last:
            counters = {name: value for name, value in env.items() if name not in scalars}
            raise _outside(region, param, place, element, mapped[load.array], counters)


def _accesses(
    body: tuple[Stmt, ...], env: dict[str, Number]
) -> Iterator[tuple[Load, Place, dict[str, Number]]]:
    """The accesses that happen for certain, each with its place and the counters' values."""
    for stmt in body:
        for expr in (*expressions(stmt), *((stmt.target,) if isinstance(stmt, Assign) else ())):
            for load in _certain_loads(expr):
                yield load, load.place if load.place.line else stmt.place, env
        if isinstance(stmt, For) and not any(isinstance(s, Break | Continue) for s in walk(stmt.body)):
            for value in _extremes(stmt, env):
                yield from _accesses(stmt.body, {**env, stmt.iname: value})


def _extremes(loop: For, env: Mapping[str, Number]) -> list[Number]:
    """The counter's value in the first and in the last iteration; nothing if there is none or it is not known."""
    trips = trip_count(loop)
    if not is_launch_expr(trips, set(env)):
        return []
    count = int(evaluate(trips, env))
    which = sorted({0, count - 1}) if count > 0 else []
    return [evaluate(last_value(loop, Const(trip, "int64")), env) for trip in which]


def _certain_loads(expr: Expr) -> Iterator[Load]:
    """The elements that *expr* accesses whatever the values are."""
    if isinstance(expr, Load):
        yield expr
    always = operands(expr)
    if isinstance(expr, Select) or (isinstance(expr, Binary) and expr.op in ("&&", "||")):
        always = always[:1]
    for operand in always:
        yield from _certain_loads(operand)


def _element(param: Param, load: Load, env: Mapping[str, Number]) -> int | None:
    """The element that *load* accesses, counted from the array's first; None if the values at hand do not tell."""
    extents = param.shape[1:]
    known = set(env)
    if not all(expr is not None and is_launch_expr(expr, known) for expr in (*load.index, *extents)):
        return None
    element = 0
    for subscript, extent in zip(load.index, (_ONE, *extents), strict=True):
        assert extent is not None
        element = element * int(evaluate(extent, env)) + int(evaluate(subscript, env))
    return element


def _outside(
    region: Region, param: Param, place: Place, element: int, mapped: Elements, counters: Mapping[str, Number]
) -> NompError:
    name, (first, last) = param.host or param.name, mapped
    where = ", ".join(f"{counter} = {value}" for counter, value in counters.items())
    message = f"kernel '{region.name}' accesses element {element} of '{name}'{f' ({where})' if where else ''}"
    message += f", of which only [{first}, {last}) is on the device"
    direction = "to" if param.reads else "alloc"
    wanted = f"{name}[{min(first, element)}, {max(last, element + 1)}]"
    step = f"map all that the loop uses: #pragma nomp update({direction} : {wanted})"
    return error("N616", message, region.span(place), help=step)
