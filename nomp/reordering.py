"""The order in which a schedule runs the iterations of sequential loops, against that of the program.

In: a region, and the loopy kernel that its scripts made of it.  Out: the kernel with its loops nested as a script asked
(`as_asked`); then, of how loopy has nested them, the `Order`s that differ from the program's; and of two mentions of a
variable, the pairs of iterations whose order is another one (`reversed_pairs`).  Called by `pipeline` and `legality`.

loopy nests loops as their priorities say, of which the program's are some: a script's take precedence here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from nomp.accesses import Access
from nomp.device_source import Order, Spread
from nomp.loops import signed_step
from nomp.region import Const, For, Region, Stmt
from nomp.walks import bodies

if TYPE_CHECKING:
    from loopy import LoopKernel, TranslationUnit


def parts(entry: LoopKernel, iname: str) -> dict[str, int] | None:
    """What the loop *iname* has become: inames with their factors; None if it is no sum of these.

    loopy keeps what replaced each iname: after ``split_iname(knl, "i", 8)`` that is ``i_inner + 8*i_outer``.
    """
    from loopy.symbolic import CoefficientCollector, SubstitutionMapper
    from pymbolic import evaluate, var
    from pymbolic.mapper.substitutor import make_subst_func

    rewritten = {str(old) for rewrite in entry.applied_iname_rewrites for old in rewrite}
    if iname in rewritten & entry.all_inames():
        return None  # in some instructions it is still what it was
    expr = var(iname)
    for rewrite in entry.applied_iname_rewrites:
        expr = SubstitutionMapper(make_subst_func(rewrite))(expr)
    try:
        factors = {part: int(evaluate(factor)) for part, factor in CoefficientCollector()(expr).items()}
    except Exception:  # whatever loopy's mappers make of a quotient or a product of inames
        return None
    named = {str(part): factor for part, factor in factors.items() if part != 1}
    downwards = len(named) > 1 and min(named.values()) < 0
    return named if named.keys() <= entry.all_inames() and not downwards else None


# --------------------------------------------------------------------------------------------- what a script asks for


def as_asked(before: TranslationUnit, kernel: TranslationUnit) -> tuple[TranslationUnit, bool]:
    """*kernel* with the priorities that its script added to those of *before*, and whether it added any.

    Where the two disagree, what is left of the program's order is what the script's allows.
    """
    entry = kernel.default_entrypoint
    chains = []
    for chain in before.default_entrypoint.loop_priority:
        found = [parts(entry, iname) for iname in chain]
        if None in found:
            return kernel, False
        chains.append(tuple(name for p in found if p for name in sorted(p, key=p.__getitem__, reverse=True)))
    asked = entry.loop_priority - set(chains)
    if not asked:
        return kernel, False
    forced = _closure(pair for order in asked for pair in combinations(order, 2))
    kept = asked | {tuple(_sorted(chain, forced)) for chain in chains}
    return kernel.with_kernel(entry.copy(loop_priority=frozenset(kept))), True


def _closure(pairs: Iterator[tuple[str, str]]) -> set[tuple[str, str]]:
    """*pairs*, and all that follow from them by transitivity."""
    found = set(pairs)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def _sorted(chain: Sequence[str], forced: set[tuple[str, str]]) -> Iterator[str]:
    """*chain* in an order that *forced* allows, otherwise as it is."""
    left = list(chain)
    while left:
        free = (name for name in left if not any((other, name) in forced for other in left if other != name))
        found = next(free, left[0])
        left.remove(found)
        yield found


def in_pieces(region: Region, kernel: TranslationUnit, nests: tuple[tuple[str, ...], ...]) -> str | None:
    """A loop of *region* that loopy has made several loops of, one after the other."""
    entry = kernel.default_entrypoint
    own = {name for chain in _chains(region.body, ()) for name in parts(entry, chain[-1].iname) or {}}
    times = Counter(nest[-1] for nest in nests)
    return next((name for name in sorted(own) if times[name] > 1), None)


# ------------------------------------------------------------------------------------------------- what it has become


def orders(region: Region, kernel: TranslationUnit, nests: tuple[tuple[str, ...], ...]) -> tuple[Order, ...] | None:
    """How the statements' iterations follow each other; nothing if as in the program, None if that cannot be told.

    *nests* has the sequential loops of the kernel, each with those around it.
    """
    from loopy.kernel.data import ConcurrentTag

    entry = kernel.default_entrypoint
    found, moved = [], False
    for chain in _chains(region.body, ()):
        placed: dict[str, tuple[int, int, str, str]] = {}
        for depth, loop in enumerate(chain):
            factors = parts(entry, loop.iname)
            if factors is None:
                return None
            for iname, factor in factors.items():
                if not entry.iname_tags_of_type(iname, ConcurrentTag):
                    placed[iname] = depth, -factor, loop.iname, _digit(loop, factors, factor)
        nest = next((nest for nest in nests if set(nest) == placed.keys()), ())
        places = [placed[iname] for iname in nest]
        moved = moved or [place[:2] for place in places] != sorted(place[:2] for place in places)
        moved = moved or any(place[1] > 0 for place in places)  # a factor below zero: backwards
        found.append(Order(tuple(loop.iname for loop in chain), tuple(place[2:] for place in places)))
    return tuple(found) if moved else ()


def _chains(body: tuple[Stmt, ...], around: tuple[For, ...]) -> Iterator[tuple[For, ...]]:
    """The loops around each loop's body, outermost first."""
    for stmt in body:
        inner = (*around, stmt) if isinstance(stmt, For) else around
        if inner is not around:
            yield inner
        for part in bodies(stmt):
            yield from _chains(part, inner)


def _digit(loop: For, factors: Mapping[str, int], factor: int) -> str:
    """What of the counter ``{}`` the iname with this *factor* stands for: it grows as the iterations follow each other.

    "" where that cannot be said.
    """
    step, lower = signed_step(loop), loop.lower
    if not isinstance(step, Const):
        return ""
    if len(factors) == 1:
        return "{}" if step.value * factor > 0 else "(-{})"
    trip = "{}"  # loopy counts trips where the step is not 1
    if step.value != 1:
        if not isinstance(lower, Const):
            return ""
        sign = 1 if step.value > 0 else -1
        trip = f"floor({sign}*({{}} - ({lower.value}))/{abs(step.value)})"
    return digit(factors, factor).format(trip)


def digit(factors: Mapping[str, int], factor: int) -> str:
    """What of ``{}``, a number that is the sum of inames times *factors*, the iname with this *factor* is."""
    larger = min((other for other in factors.values() if other > factor), default=None)
    return f"floor((({{}}) mod {larger})/{factor})" if larger else f"floor(({{}})/{factor})"


# ---------------------------------------------------------------------------------------------- what is the other way


def shared_loops(first: Access, second: Access) -> list[For]:
    """The loops around both mentions, outermost first."""
    return [one for one, other in zip(first.loops, second.loops, strict=False) if one is other]


def reversed_pairs(
    first: Access, second: Access, known: Mapping[tuple[str, ...], Order], spreads: Mapping[str, Spread]
) -> tuple[str, bool]:
    """That the iterations *x* of *first* and *y* of *second*, of one item, do not run in the program's order.

    As isl's text over the counters of both ("" if they do, or share no loop), and whether it is exact.
    """
    shared = shared_loops(first, second)
    one, other = (known.get(tuple(loop.iname for loop in access.loops)) for access in (first, second))
    if not shared or not one or not other:
        return "", True
    depths = {loop.iname: depth for depth, loop in enumerate(shared)}
    common = []
    for digit, twin in zip(one.digits, other.digits, strict=False):
        if digit != twin or digit[0] not in depths:
            break
        common.append(digit)
    steps = [step.value for loop in shared if isinstance(step := signed_step(loop), Const)]
    exact = all(form for _, form in common) and len(steps) == len(shared)
    if len(steps) == len(shared):
        program = [f"({'-' if step < 0 else ''}{{}}{depth})" for depth, step in enumerate(steps)]
        schedule = [form.format(f"{{}}{depths[name]}") for name, form in common if form]
        same = " and ".join([f"{form.format('x')} = {form.format('y')}" for form in schedule] or ["true"])
        pairs = (("x", "y"), ("y", "x"))
        ways = [f"({_before(program, a, b)}) and (({_before(schedule, b, a)}) or ({same}))" for a, b in pairs]
    else:
        ways = [f"x{depth} != y{depth}" for depth in depths.values()]
    item = [
        f"{form.format(f'x{depths[name]}')} = {form.format(f'y{depths[name]}')}"
        for name in depths.keys() & spreads.keys()
        for form in spreads[name].coordinates
    ]
    return " and ".join(["(" + " or ".join(f"({way})" for way in ways) + ")", *item]), exact


def _before(forms: Sequence[str], a: str, b: str) -> str:
    """That *a* comes before *b* in the lexicographic order of *forms*."""
    cases = []
    for number, form in enumerate(forms):
        equal = [f"{before.format(a)} = {before.format(b)}" for before in forms[:number]]
        cases.append(" and ".join([*equal, f"{form.format(a)} < {form.format(b)}"]))
    return " or ".join(f"({case})" for case in cases) or "false"
