"""What a kernel has to do.  Out: `Work`, which `counts` finds for a launch and `report.profile` adds up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """Of one launch or several.  *single* and *double* are operations by precision (narrower ones are single).

    *accessed*: bytes of all loads and stores of arrays.  *footprint*: bytes of the elements that are read, and of those
    that are written, each once a launch: what has to come from and go to memory at least.  Both are upper bounds
    unless *exact*.
    """

    single: int = 0
    double: int = 0
    accessed: int = 0
    footprint: int = 0
    exact: bool = True

    @property
    def operations(self) -> int:
        """All of them."""
        return self.single + self.double

    def times(self, calls: int) -> Work:
        """That of *calls* such launches."""
        return Work(calls * self.single, calls * self.double, calls * self.accessed, calls * self.footprint, self.exact)

    def __add__(self, other: Work) -> Work:
        return Work(
            self.single + other.single,
            self.double + other.double,
            self.accessed + other.accessed,
            self.footprint + other.footprint,
            self.exact and other.exact,
        )
