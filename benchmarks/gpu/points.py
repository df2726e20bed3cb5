"""The schedule of loops with ``annotate("points", "i")``: that of the transform grid, to compare the default with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nomp_transforms.grid import grid

from nomp.scripting import Context

WORDS = {"points": "the counters of the loop, the fastest first"}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """*knl* over the points of a grid."""
    return grid(knl, context, annotations["points"])
