"""Sums along rows, which several work items share.

    transform("reduce", "rows", row="i", over="j")

Sums over all iterations of an annotated loop need no transform: ``reduce("sum", "+")``.
"""

from __future__ import annotations

from typing import Any

from loopy.symbolic import get_dependencies

from nomp.scripting import Context, Misfit
from nomp_transforms import kernel


def rows(knl: Any, context: Context, row: str, over: str) -> Any:
    """Neighbouring work items, the lanes, have neighbouring elements of a row.

    Before::

        for i:
          sum = 0
          for j: sum += a[i, j]*x[j]
          y[i] = sum

    After, on a GPU::

        for i (groups and items), lane (items):
          own[lane] = 0
          for j_outer: own[lane] += a[i, 32*j_outer + lane]*x[32*j_outer + lane]
          barrier
          y[i] = the sum of own, half of the items at a time

    Sums are made in another order than the program's.  That is nomp's own schedule, with the number of lanes left to
    the tuner.  On a CPU there are none.  Fits a loop over rows around one along them that reads an array by both.
    """
    kernel.loops(knl, [row, over])
    if not any(_by_both(knl, name, row, over) for name in kernel.read_only(knl)):
        raise Misfit(f"no array is read by '{row}' and '{over}', with neighbours along '{over}'")
    return kernel.by_default(knl, context, lanes=(32, 16, 8, 4, 1))


def _by_both(knl: Any, array: str, row: str, over: str) -> bool:
    found = kernel.mentions(knl, array)
    return bool(found) and all(
        str(subscript[-1]) == over and row in get_dependencies(subscript[:-1]) for subscript in found
    )
