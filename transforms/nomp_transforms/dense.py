"""Dense matrices: a domain of annotations.

annotate("product", "j i k")        for each i and j, a sum over k of products: j is the fastest in the result
annotate("sums", "i j")             for each i, a sum over j of a row's elements
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nomp.scripting import Context, Misfit
from nomp_transforms.reduce import rows
from nomp_transforms.tile import tile

WORDS = {
    "product": "the counters of a product's columns, rows and sums",
    "sums": "the counters of rows, and of what is added up in each",
}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for."""
    ((word, value),) = annotations.items()
    names = value.split()
    if len(names) != len(FORMS[word].split()):
        raise Misfit(f'"{value}" names {len(names)} loops: it is annotate("{word}", "{FORMS[word]}")')
    if word == "product":
        return tile(knl, context, " ".join(names[:2]), names[2])
    return rows(knl, context, names[0], names[1])


FORMS = {"product": "j i k", "sums": "i j"}
