"""How the loops inside a work item are arranged for a CPU, whose compiler makes vectors of contiguous innermost loops.

In: a loop of a region, and what is proven of its iterations.  Out: statements that compute the same, each element by
the same operations in the same order.  Called by `schedule`, for a region without a script.

* A loop of independent iterations in which all elements lie one after the other becomes the innermost one, in strips,
  where the loops inside it walk from row to row or add up: C compilers may not, or do not, interchange these.
* A loop of independent iterations around a sum is done for several iterations at a time, so that one addition need not
  wait for the one before; so is one around two loops that both find an element which does not depend on it, unless
  these are so short that compilers unroll them.
* A loop that adds to the elements of a whole row, again and again, adds several terms at a time; all, if they are few.
* Of a short row compilers are told how many numbers a vector has, so that nothing remains (`widths`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace

from nomp.arithmetic import is_float
from nomp.interleave import Unique, can_enter, copies, strips
from nomp.loops import constant_trips
from nomp.region import Assign, Binary, Call, Cast, Const, Declare, Expr, For, If, Load, Stmt, Unary, Var
from nomp.walks import bodies, expressions, loads, variable, variables, walk, walk_expr

WIDTH = 128
"""Iterations in a strip: a few rows of so many elements stay in the smallest cache."""
COPIES = 4
"""Iterations of rows side by side: so many share what they load, and their factors fit into registers."""
SUMS = 3
"""Sums side by side: they hide much of the time that an addition takes.  Of four, LLVM makes vectors number by number,
which takes longer: sums over two matrices of 2200 x 2200 take it 4.7 ms one by one, 3.8 by threes, 10.8 by fours.
"""
SHORT = 16
"""Constant loops of so many iterations are done at once where they add to a row."""
LEAST_WIDTH = 4
"""Rows of so many numbers, or a multiple of that, are told to compilers."""
MOST_STATEMENTS = 64
"""How many statements a loop may come to: the first launch has to wait for their compilation."""

_FAR = 1 << 40
"""A stride that is not known, or that is many elements."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """*parallel*: the loops with independent iterations while those around stand still.  *apart* says of a loop and the
    one inside it whether different iterations of the inner one never meet, whatever the outer one's are."""

    parallel: frozenset[str]
    apart: Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class Together:
    """What is best done with the iterations of a loop: *count* at a time, in the *form* of strips or copies."""

    count: int = 1
    form: Callable[[For, int, Unique], tuple[Stmt, ...] | None] | None = None


def arranged(loop: For, proofs: Proofs, unique: Unique) -> tuple[Stmt, ...]:
    """What is to stand in place of *loop*."""
    inner = replace(loop, body=_body(loop.body, proofs, unique))
    best = together(loop, proofs)
    made = best.form(inner, best.count, unique) if best.form else None
    if made and best.form is strips:
        made = _with_several_terms(made, {stmt.iname for stmt in walk(inner.body) if isinstance(stmt, For)}, unique)
    return made if made and _size(made) <= MOST_STATEMENTS else (inner,)


def together(loop: For, proofs: Proofs) -> Together:
    """What is best done with the iterations of *loop*."""
    if loop.iname not in proofs.parallel:
        return Together(_terms(loop), copies) if _adds_to_rows(loop, proofs) else Together()
    if _is_contiguous(loop):
        return Together(WIDTH, strips)
    chains = [chain for chain in _chains(loop) if chain and all(can_enter(loop, inner) for inner in chain)]
    if any(_shares_element(loop, chain) and not _is_short_row(chain, proofs) for chain in chains):
        return Together(COPIES, copies)
    several = any(together(inner, proofs).form for chain in chains for inner in chain)
    sums = not several and any(_adds_up(chain[-1]) for chain in chains)
    return Together(SUMS, copies) if sums else Together()


def widths(body: tuple[Stmt, ...]) -> dict[str, int]:
    """How many numbers vectors are to have in the short rows of *body*, by their counters.

    Compilers take as many as the processor has at once.  Of a row of 12 that leaves some over, which they do one by
    one; the halves of a row of twice as many they do one after the other, and keep all in memory between.  Only of rows
    that nothing is summed up in: of others, compilers that are told so would change the order.
    """
    rows = (stmt for stmt in walk(body) if isinstance(stmt, For) and _is_row_of_elements(stmt))
    trips = {row.iname: constant_trips(row) or 0 for row in rows}
    return {name: count & -count for name, count in trips.items() if 0 < count <= SHORT and count % LEAST_WIDTH == 0}


def _is_row_of_elements(loop: For) -> bool:
    """Whether *loop* does nothing but find contiguous elements, by operators and from contiguous elements."""
    calls = any(isinstance(node, Call) for s in loop.body for e in expressions(s) for node in walk_expr(e))
    elements = all(_is_element(stmt, loop.iname) for stmt in loop.body)
    return elements and not calls and all(stride(load, loop.iname) in (0, 1) for load in _loads(loop))


def _is_element(stmt: Stmt, iname: str) -> bool:
    """Whether *stmt* finds a number that is the own one of an iteration of the loop *iname*."""
    if isinstance(stmt, Declare):
        return not stmt.shape
    return isinstance(stmt, Assign) and isinstance(stmt.target, Load) and stride(stmt.target, iname) == 1


def _body(body: tuple[Stmt, ...], proofs: Proofs, unique: Unique) -> tuple[Stmt, ...]:
    made: list[Stmt] = []
    for stmt in body:
        match stmt:
            case For():
                made += arranged(stmt, proofs, unique)
            case If(then=then, other=other):
                made.append(replace(stmt, then=_body(then, proofs, unique), other=_body(other, proofs, unique)))
            case _:
                made.append(stmt)
    return tuple(made)


def _size(body: tuple[Stmt, ...]) -> int:
    return sum(isinstance(stmt, Assign) for stmt in walk(body))


def _innermost(loop: For) -> list[For]:
    """The loops inside *loop* that have none inside."""
    inner = [stmt for stmt in walk(loop.body) if isinstance(stmt, For)]
    return [stmt for stmt in inner if not any(isinstance(deeper, For) for deeper in walk(stmt.body))]


def _is_contiguous(loop: For) -> bool:
    """Whether all elements inside *loop* lie one after the other in it, but not in the loops inside."""
    inner = _innermost(loop)
    here = [abs(stride(load, loop.iname)) for deep in inner for load in _loads(deep)]
    if not inner or max(here, default=_FAR) > 1 or max(here) == 0 or not all(can_enter(loop, deep) for deep in inner):
        return False
    return any(abs(stride(load, deep.iname)) > 1 for deep in inner for load in _loads(deep)) or any(
        _adds_up(deep) for deep in inner
    )


def _chains(loop: For) -> Iterator[tuple[For, ...]]:
    """The loops inside *loop* down to each innermost one."""
    inner = list(_directly(loop.body))
    if not inner:
        yield ()
    for stmt in inner:
        for chain in _chains(stmt):
            yield (stmt, *chain)


def _directly(body: tuple[Stmt, ...]) -> Iterator[For]:
    for stmt in body:
        if isinstance(stmt, For):
            yield stmt
        else:
            for part in bodies(stmt):
                yield from _directly(part)


def _shares_element(loop: For, chain: tuple[For, ...]) -> bool:
    """Whether the inner two loops of *chain* go through elements that are the same in all iterations of *loop*."""
    around = [inner.iname for inner in chain[-2:]]
    return len(around) == 2 and any(
        stride(load, loop.iname) == 0 and all(stride(load, name) for name in around) for load in _loads(chain[-1])
    )


def _is_short_row(chain: tuple[For, ...], proofs: Proofs) -> bool:
    """Whether the inner two loops of *chain* come to a few vectors that add up a few terms: compilers, which make them
    without a loop, keep what the iterations around share in registers, and of several side by side they spill it."""
    row, terms = chain[-2:]
    few = all(0 < (constant_trips(inner) or 0) <= SHORT for inner in (row, terms))
    return few and together(row, proofs).form is strips


def _adds_up(loop: For) -> bool:
    """Whether *loop* adds to a floating-point number that is the same in all of its iterations."""
    return _adds_to(loop, loop)


def _accumulates(stmt: Assign, iname: str) -> bool:
    target = stmt.target
    if not is_float(target.dtype) or (isinstance(target, Load) and stride(target, iname)):
        return False
    return variable(target) in variables(stmt.value)


def _adds_to_rows(loop: For, proofs: Proofs) -> bool:
    """Whether *loop* is nothing but a contiguous loop that adds to one row in all iterations of *loop*."""
    row = _only_loop(loop)
    if row is None or not can_enter(loop, row) or any(isinstance(stmt, For) for stmt in walk(row.body)):
        return False
    strides = [abs(stride(load, row.iname)) for load in _loads(row)]
    return max(strides, default=_FAR) == 1 and _adds_to(row, loop) and proofs.apart(loop.iname, row.iname)


def _only_loop(stmt: Stmt) -> For | None:
    """The loop that is all that the loop *stmt* does."""
    inner = stmt.body[0] if isinstance(stmt, For) and len(stmt.body) == 1 else None
    return inner if isinstance(inner, For) else None


def _adds_to(row: For, around: For) -> bool:
    """Whether *row* adds to numbers that are the same in all iterations of *around*."""
    return any(_accumulates(stmt, around.iname) for stmt in walk(row.body) if isinstance(stmt, Assign))


def _terms(loop: For) -> int:
    """How many iterations of *loop*, which adds to a row, are done at a time: all of them, if they are few."""
    trips = constant_trips(loop) or 0
    return trips if 0 < trips <= SHORT and trips * _size(loop.body) <= MOST_STATEMENTS // 2 else COPIES


def _with_several_terms(body: tuple[Stmt, ...], own: Set[str], unique: Unique) -> tuple[Stmt, ...]:
    """*body*, of strips of a loop with the loops *own* inside it, with those around a single row doing several
    iterations at a time.

    A row is a loop over a strip, with independent iterations; those of any other loop have to keep their order.
    """
    made: list[Stmt] = []
    for stmt in body:
        row = _only_loop(stmt)
        if not isinstance(stmt, For):
            made.append(stmt)
        elif stmt.iname in own and row and _is_row(row, own) and _adds_to(row, stmt):
            made += copies(stmt, _terms(stmt), unique) or (stmt,)
        else:
            made.append(replace(stmt, body=_with_several_terms(stmt.body, own, unique)))
    return tuple(made)


def _is_row(loop: For, own: Set[str]) -> bool:
    return loop.iname not in own and not any(isinstance(stmt, For) for stmt in walk(loop.body))


def _loads(loop: For) -> Iterator[Load]:
    return (load for stmt in walk(loop.body) for load in loads(stmt))


def stride(load: Load, iname: str) -> int:
    """How many elements *load* moves on when the counter *iname* does by one."""
    before = [_factor(index, iname) for index in load.index]
    return before[-1] if not any(before[:-1]) else _FAR


def _factor(expr: Expr, iname: str) -> int:
    """How much *expr* grows with the counter *iname*, as far as that is a constant."""
    match expr:
        case Var(name=name):
            return int(name == iname)
        case Cast(operand=operand):
            return _factor(operand, iname)
        case Unary(op="-", operand=operand):
            return -_factor(operand, iname)
        case Binary(op="+" | "-" as op, left=left, right=right):
            right_factor = _factor(right, iname)
            return _factor(left, iname) + (right_factor if op == "+" else -right_factor)
        case Binary(op="*", left=left, right=right):
            for one, two in ((left, right), (right, left)):
                if isinstance(one, Const):
                    return int(one.value) * _factor(two, iname)
    return _FAR if iname in variables(expr) else 0
