"""Sparse matrices by rows: a domain of annotations.

annotate("loop", "row")     rows with any number of nonzeros, between start[i] and start[i + 1]
annotate("entries", "24")   how many of these a row has on average; a number, or a variable that jit() names
annotate("loop", "entry")   entries of vectors
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nomp.scripting import LANES, Context, Misfit
from nomp_transforms import kernel

WORDS = {"loop": "what the loop goes over: row, entry", "entries": "how many entries a row has on average"}
USUAL = 16
"""Entries of a row where the program does not say how many there are."""


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for."""
    about = dict(context["region::annotations"])
    match annotations:
        case {"loop": "row"} | {"entries": _} if about.get("loop") == "row":
            return kernel.by_default(knl, context, _lanes(context, about.get("entries", f"{USUAL}")))
        case {"loop": "entry"}:
            return kernel.by_default(knl, context)
        case {"entries": _}:
            raise Misfit('annotate("entries", ...) is for annotate("loop", "row")')
        case _:
            raise Misfit(f"'{annotations['loop']}' is no loop of sparse matrices: {WORDS['loop']}")


def _lanes(context: Context, entries: str) -> list[int]:
    """How many items of a GPU may share a row of so many *entries*; first, so many that each has four to eight."""
    jit = context["region::jit"]
    if entries in context["region::open"]:
        entries = f"{USUAL}"
    if not entries.isdecimal() and entries not in jit:
        raise Misfit(f'"{entries}" is neither a number nor a variable that jit() names')
    mean = int(jit.get(entries, entries))
    usual = max((lanes for lanes in LANES if 4 * lanes <= mean), default=1)
    return [usual, *(lanes for lanes in LANES if lanes != usual)]
