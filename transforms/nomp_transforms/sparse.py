"""Sparse matrices by rows: a domain of annotations.

annotate("loop", "row")     rows with any number of nonzeros, between start[i] and start[i + 1]
annotate("loop", "entry")   entries of vectors
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nomp.scripting import Context, Misfit

WORDS = {"loop": "what the loop goes over: row, entry"}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for."""
    match annotations:
        case {"loop": "row" | "entry"}:
            return context.default(knl)
        case _:
            raise Misfit(f"'{annotations['loop']}' is no loop of sparse matrices: {WORDS['loop']}")
