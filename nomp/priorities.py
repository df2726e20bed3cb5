"""The order in which a schedule's sequential loops are opened: a script's wishes before the program's order.

loopy nests loops as their priorities say, of which the program's are some: a script's take precedence here.
In: the kernel that a script has made.  Out: the kernel with its loops nested as the script asked.  Called by
`pipeline`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from loopy import TranslationUnit
from loopy.symbolic import CoefficientCollector
from pymbolic import evaluate

from nomp.marks import Marks

Order = tuple[str, ...]


def as_asked(before: TranslationUnit, kernel: TranslationUnit, marks: Marks) -> tuple[TranslationUnit, bool]:
    """*kernel* with the priorities that its script added to those of *before*, and whether it added any.

    Where the two disagree, what is left of the program's order is what the script's allows.  *marks* say what has
    become of each loop.
    """
    entry = kernel.default_entrypoint
    known = entry.all_inames()
    program = before.default_entrypoint.loop_priority
    nests = [(chain, own) for own in marks.values() for chain in program if own.keys() >= {*chain}]
    chains = sorted({become for chain, own in nests if set(become := tuple(_become(chain, own))) <= known})
    asked = {order for order in entry.loop_priority if set(order) <= known} - set(chains) - program
    forced = _closure(pair for order in asked for pair in combinations(order, 2))
    kept = set(asked)
    for chain in sorted(chains, key=len, reverse=True):
        kept.add(order := tuple(_sorted(chain, forced)))
        forced = _closure([*forced, *combinations(order, 2)])
    return kernel.with_kernel(entry.copy(loop_priority=frozenset(kept))), bool(asked)


def _become(chain: Order, marks: Mapping[str, Any]) -> Iterator[str]:
    """The inames that the loops of *chain* have become: of a split loop the one that counts blocks first."""
    for loop in chain:
        try:
            terms = CoefficientCollector()(marks[loop])
            factors = {str(name): int(evaluate(factor)) for name, factor in terms.items() if name != 1}
        except Exception:  # whatever loopy's mappers make of a quotient or a product of inames
            continue
        yield from (name for _, name in sorted((-abs(factor), name) for name, factor in factors.items()))


def _closure(pairs: Iterator[tuple[str, str]] | list[tuple[str, str]]) -> set[tuple[str, str]]:
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


def in_pieces(nests: tuple[Order, ...], marks: Marks) -> str | None:
    """A loop of the program's that loopy has made several loops of, one after the other; *nests* are the kernel's."""
    own = {name for marked in marks.values() for chain in [tuple(marked)] for name in _become(chain, marked)}
    times = Counter(nest[-1] for nest in nests)
    return next((name for name in sorted(own) if times[name] > 1), None)
