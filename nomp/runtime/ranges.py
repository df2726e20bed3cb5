"""What the values of one launch allow: the variant of the kernel, and the last values of loop counters.

In: a region and its scalar parameters' values.  Called by `runtime.kernel` for each new set of values.  Intervals are
over-approximations, so a variant is never chosen that would compute anything but what C computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nomp.affine import preserves_value
from nomp.arithmetic import Number, evaluate, is_float, is_launch_expr, is_signed, limits
from nomp.loops import signed_step, starts, trip_count, value_after
from nomp.region import Assign, Binary, Cast, Const, Declare, Expr, For, Load, Region, Select, Stmt, Unary, Var
from nomp.walks import bodies, expressions, loads, walk, walk_expr

Interval = tuple[int, int]
_LARGEST = limits("int64")[1]


def deciding(region: Region) -> frozenset[str]:
    """The scalars that anything but the values of elements depends on: what is touched, how often, and what is run."""
    exprs = [expr for param in region.params for expr in (*param.shape, param.index) if expr is not None]
    for stmt in walk(region.body):
        match stmt:
            case Assign(target=target, value=value) if isinstance(target, Load) or is_float(target.dtype):
                exprs += [*(target.index if isinstance(target, Load) else ()), *_inside(value)]
            case Declare(dtype=dtype, shape=shape, init=init) if init is not None and is_float(dtype):
                exprs += [*shape, *_inside(init)]
            case _:
                exprs += [stmt.value] if isinstance(stmt, Assign) else expressions(stmt)
    return frozenset(region.clauses.jit) | {n.name for e in exprs for n in walk_expr(e) if isinstance(n, Var)}


def _inside(value: Expr) -> Iterator[Expr]:
    """The subscripts and conditions in *value*."""
    for node in walk_expr(value):
        match node:
            case Load(index=index):
                yield from index
            case Select(cond=cond):
                yield cond
            case Binary(op="&&" | "||", left=left, right=right):
                yield from (left, right)


def needs_ranges(region: Region) -> bool:
    """Whether it matters for any subscript or bound that unsigned arithmetic does not wrap around."""
    return any(_may_wrap(node) for expr in _index_positions(region.body) for node in walk_expr(expr))


def _index_positions(body: tuple[Stmt, ...]) -> Iterator[Expr]:
    """The subscripts and loop bounds of *body*."""
    for stmt in walk(body):
        if isinstance(stmt, For):
            yield from (stmt.lower, stmt.upper)
        for load in loads(stmt):
            yield from load.index


def _may_wrap(node: Expr) -> bool:
    """Whether *node* itself is an integer operation that C defines to wrap around, or a value beyond int64."""
    match node:
        case Var(dtype="uint64"):
            return True
        case Binary(op="+" | "-" | "*", dtype=dtype) | Unary(op="-", dtype=dtype):
            return not (is_float(dtype) or is_signed(dtype))
        case Cast(operand=operand, dtype=dtype):
            integers = not (is_float(operand.dtype) or is_float(dtype) or dtype == "bool")
            return integers and not preserves_value(operand.dtype, dtype)
    return False


def nothing_wraps(region: Region, env: Mapping[str, Number]) -> bool:
    """Whether no subscript or bound of *region* wraps around, for the scalars *env*."""
    return _body_holds(region.body, _scalars(env))


def _scalars(env: Mapping[str, Number]) -> dict[str, Interval]:
    return {name: (int(value), int(value)) for name, value in env.items() if isinstance(value, int)}


def counters(region: Region, env: Mapping[str, Number]) -> dict[str, Interval]:
    """Where the scalars and the loop counters lie that are known at launch."""
    known = _scalars(env)
    for stmt in walk(region.body):
        if isinstance(stmt, For) and (values := _counter(stmt, known)):
            known[stmt.iname] = values
    return known


def _body_holds(body: tuple[Stmt, ...], known: Mapping[str, Interval]) -> bool:
    """Whether no subscript or bound in *body* wraps around, given the intervals of the names."""
    for stmt in body:
        if isinstance(stmt, For):
            if not _loop_holds(stmt, known):
                return False
        elif not (_holds(stmt, known) and all(_body_holds(part, known) for part in bodies(stmt))):
            return False
    return True


def _loop_holds(loop: For, known: Mapping[str, Interval]) -> bool:
    if not (_holds(loop, known) and _fits(loop.lower, known) and _fits(loop.upper, known)):
        return False
    counter = _counter(loop, known)
    if counter is None:
        return _body_holds(loop.body, {name: i for name, i in known.items() if name != loop.iname})
    return counter[0] > counter[1] or _body_holds(loop.body, {**known, loop.iname: counter})


def _holds(stmt: Stmt, known: Mapping[str, Interval]) -> bool:
    return all(_fits(index, known) for load in loads(stmt) for index in load.index)


def _fits(expr: Expr, known: Mapping[str, Interval]) -> bool:
    """Whether every operation of *expr* that might wrap around is known to stay in its type."""
    for node in walk_expr(expr):
        if _may_wrap(node):
            value, (low, high) = interval(node, known), limits(node.dtype)
            if value is None:
                if not isinstance(node, Var):  # a counter, which counts in int64
                    return False
            elif value[0] < low or value[1] > min(high, _LARGEST):
                return False
    return True


def _counter(loop: For, known: Mapping[str, Interval]) -> Interval | None:
    """The values that the counter of *loop* takes, None where they are not known."""
    lower, upper = interval(loop.lower, known), interval(loop.upper, known)
    step = interval(signed_step(loop), known)
    if lower is None or upper is None or step is None:
        return None
    strict = 0 if loop.relation in ("<=", ">=") else 1
    if step[0] > 0:
        return lower[0], upper[1] - strict
    return (upper[0] + strict, lower[1]) if step[1] < 0 else None


def interval(expr: Expr, known: Mapping[str, Interval]) -> Interval | None:
    """Where the integer value of *expr* lies if no operation wraps around, None where that is not known."""
    match expr:
        case Const(value=int(value)):
            return value, value
        case Var(name=name):
            return known.get(name)
        case Cast(operand=operand, dtype=dtype) if not is_float(operand.dtype) and not is_float(dtype):
            return interval(operand, known)
        case Unary(op="-", operand=operand):
            inner = interval(operand, known)
            return (-inner[1], -inner[0]) if inner else None
        case Binary(op="+" | "-" | "*" as op, left=left, right=right):
            return _combine(op, interval(left, known), interval(right, known))
    return None


def _combine(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    if op == "+":
        return left[0] + right[0], left[1] + right[1]
    if op == "-":
        return left[0] - right[1], left[1] - right[0]
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def wrapping(region: Region, env: Mapping[str, Number]) -> For | None:
    """The loop that *region* is, if its counter leaves its type, or int64, before it passes the bound."""
    loop = region.body[0] if len(region.body) == 1 else None
    known = region.scalars
    if not isinstance(loop, For) or not all(is_launch_expr(e, known) for e in (loop.lower, loop.upper, loop.step)):
        return None
    if not evaluate(starts(loop), env):
        return None
    lower, trips = int(evaluate(loop.lower, env)), int(evaluate(trip_count(loop), env))
    step = int(evaluate(signed_step(loop), env))
    last, end = lower + (trips - 1) * step, lower + trips * step
    smallest, largest = limits(loop.dtype)
    fits = trips > 0 and smallest <= min(last, end) and max(last, end) <= largest
    one_sign = is_signed(loop.dtype) or (lower > _LARGEST) == (end > _LARGEST)  # as int64, in which it counts
    return None if fits and one_sign and _passes(loop, last, env) and not _passes(loop, end, env) else loop


def _passes(loop: For, counter: int, env: Mapping[str, Number]) -> bool:
    """Whether C's comparison lets *counter* into the body of *loop*."""
    return bool(evaluate(starts(replace(loop, lower=Const(counter, loop.dtype))), env))


def final_counters(region: Region, env: Mapping[str, Number]) -> dict[str, int]:
    """The value that each ``counter`` parameter has after the region; none for a loop that is never reached.

    Raises ZeroDivisionError for a loop whose step is zero.
    """
    return dict(_finals(region.body, dict(env)))


def _finals(body: tuple[Stmt, ...], env: dict[str, Number]) -> Iterator[tuple[str, int]]:
    for stmt in body:
        if isinstance(stmt, For) and any(isinstance(s, For) and s.final for s in walk((stmt,))):
            trips = int(evaluate(trip_count(stmt), env))
            if trips > 0:
                at_last = evaluate(value_after(stmt, Const(trips - 1, "int64")), env)
                yield from _finals(stmt.body, {**env, stmt.iname: at_last})
            if stmt.final:
                yield stmt.final, int(evaluate(value_after(stmt, Const(trips, "int64")), env))
