"""What nomp gives to scripts: the context of their calls, ways to say that a kernel is not theirs, and what it may use.

A script, a transform or a domain imports this module and loopy; nothing else of nomp is meant for it.

In: what is known of the device and of the region, and the choices that a tuner has made.  Out: to `script`, what the
script said of the choices that there are (`Context.space`), and whether it leaves the kernel to nomp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Choice = int | float | str
"""A value of a parameter that a script declares."""

LANES = (1, 2, 4, 8, 16, 32)
"""How many items of a GPU can share a row."""


def usual_shares(units: int, few: bool = False) -> int:
    """Among how many items a loop is divided on a CPU of so many *units*, where no script says: enough to keep all of
    them busy when some are slower; *few* where iterations are not many, either."""
    return 4 * units if few else 16 * max(4, units)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a script says of nomp's own schedule (`Context.default`); None leaves it to nomp."""

    lanes: int | None = None
    shares: int | None = None


class Misfit(Exception):
    """A transform does not fit the kernel that it was called for; the text says why, and what would fit.

    nomp reports it with N311, at the pragma, and runs nothing of the kernel.
    """


def with_all_registers(knl: Any, groups: int = 1) -> Any:
    """*knl*, whose items may have as many registers as NVIDIA's compilers like, though no more than *groups* groups may
    fit on a multiprocessor then: for kernels whose items each have much to load before they compute.  Nothing on other
    devices, for which *groups* must be 1.
    """
    from nomp.lower.target import AllRegisters  # and loopy, which a script's kernel has needed already

    return knl.with_kernel(knl.default_entrypoint.tagged(AllRegisters(groups)))


def has_matrix_units(context: Context) -> bool:
    """Whether the device has units that add up products of doubles fast: see `by_matrix_units`."""
    return context["backend::name"] == "cuda" and context["device::arch"] in ("sm_80", "sm_90", "sm_100")


def by_matrix_units(knl: Any, iname: str) -> Any:
    """*knl*, in which matrix units may do what the loop *iname* does, on devices that have them (`has_matrix_units`).

    They do for a loop over k that contains ``sum[p, q, v] += x[.., u, p, k] * y[k, .., q, 2*t + v]``, of doubles, x and
    y being in a group's memory, where t is on l.0 and has 4 iterations, u on l.1 and has 8, and p, q and v are
    ``ilp.unr``, of which p has an even number of iterations and v has 2; k has a multiple of 4 where it is not cut
    short.  Each sum is made in the order of k.  Where the loop has another form, items run it, unrolled.
    """
    import loopy as lp

    from nomp.lower.matrix_units import ByMatrixUnits

    return lp.tag_inames(knl, {iname: ByMatrixUnits()})


class Context(dict[str, Any]):
    """What scripts know of the device and of their region (docs/scripts.md has the keys), and what they may choose."""

    def __init__(self, known: Mapping[str, Any], choices: Mapping[str, Choice] | None = None) -> None:
        super().__init__(known)
        self._choices = choices or {}
        self.space: dict[str, tuple[Choice, ...]] = {}
        self.left: Any = None
        self.asked = Asked()

    def param(self, name: str, values: Sequence[Choice]) -> Any:
        """One of *values*, of which the first is good for most devices: the tuner's choice, else the first.

        ``nomp tune`` tries them.  A name means the same values wherever it is asked for in a region's scripts.
        Raises ValueError for no values, and for others than before.
        """
        found = tuple(values)
        if not found:
            raise ValueError(f"parameter '{name}' has no values")
        if self.space.setdefault(name, found) != found:
            raise ValueError(f"parameter '{name}' has the values {self.space[name]} already, and not {found}")
        chosen = self._choices.get(name)
        return chosen if chosen in found else found[0]

    def default(self, knl: Any, lanes: int | None = None, shares: int | None = None) -> Any:
        """*knl*, which the script leaves as it is: the schedule that kernels without a script have is the right one.

        *lanes*: how many items of a GPU share a row that is summed up, one of `LANES`; *shares*: among how many items
        of a CPU a loop is divided at most.  What no call says, nomp decides.  Raises ValueError for other numbers.
        """
        if lanes is not None and lanes not in LANES:
            raise ValueError(f"{lanes} items cannot share a row: {', '.join(map(str, LANES))} can")
        if shares is not None and shares < 1:
            raise ValueError(f"a loop cannot be divided among {shares} items")
        self.left = knl  # a later word of a domain, which says nothing, leaves what an earlier one has said
        self.asked = Asked(lanes or self.asked.lanes, shares or self.asked.shares)
        return knl
