"""The scalars of a region at a launch: where the host has them, and which of them decide on the launch's plan.

In: a region, then the addresses of its parameters.  Out: the scalars' bytes, and their values by name.  Used by
`runtime.kernel`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nomp.arithmetic import SIZES, Number
from nomp.backend import TYPE_CODES
from nomp.region import Region
from nomp.runtime import ranges


@dataclass(frozen=True, slots=True)
class Scalar:
    """A ``scalar`` parameter: where it stands among the addresses, and its size in bytes."""

    position: int
    name: str
    dtype: str
    size: int


class Scalars:
    """Those of *region*; the *loose* ones, on which nothing but values of elements depends, come last."""

    def __init__(self, region: Region) -> None:
        deciding = ranges.deciding(region)
        places = enumerate(region.params)
        found = [Scalar(i, p.name, p.dtype, SIZES[p.dtype]) for i, p in places if p.kind == "scalar"]
        self._all = sorted(found, key=lambda scalar: scalar.name not in deciding)
        self.loose = frozenset(scalar.name for scalar in found) - deciding
        self._deciding_bytes = sum(scalar.size for scalar in found if scalar.name in deciding)
        self._layout = struct.Struct("=" + "".join(TYPE_CODES[scalar.dtype] for scalar in self._all))

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self._all)

    def read(self, addresses: Sequence[int]) -> tuple[bytes, bytes]:
        """The bytes of those that decide, and of the loose ones."""
        raw = b"".join([ctypes.string_at(addresses[s.position], s.size) for s in self._all])
        return raw[: self._deciding_bytes], raw[self._deciding_bytes :]

    def sizes(self, addresses: Sequence[int]) -> dict[str, Number]:
        """The values of those that decide."""
        return {name: value for name, value in self.values(*self.read(addresses)).items() if name not in self.loose}

    def values(self, deciding: bytes, loose: bytes) -> dict[str, Number]:
        """What the bytes that were `read` mean."""
        return dict(zip([scalar.name for scalar in self._all], self._layout.unpack(deciding + loose), strict=True))
