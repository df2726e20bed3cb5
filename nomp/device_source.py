"""The record of a compiled kernel: all that a launcher needs, as plain data.

Made by `codegen`, read by `runtime.kernel` and by the backends.  Two small environments describe a launch: the region's
scalar parameters (the host's values, by name) give `DeviceSource.values`; these, by name, give the grid.  Expressions
are `region.Expr`, evaluated by `arithmetic.evaluate` with C's rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from nomp import region

ArgumentKind = Literal["buffer", "value", "scratch"]


@dataclass(frozen=True, slots=True)
class Variant:
    """What one compiled kernel may take for granted, decided anew at each launch (see `runtime.ranges`).

    *no_wrap*: unsigned arithmetic in subscripts and bounds does not wrap around, so it is affine.  *offsets*: some
    array's mapped range does not start at the element that the host's pointer names, so each array comes with an offset
    in elements (devices that do pointer arithmetic never need it).  *aliased*: arrays with different names may overlap,
    so that only the order of the source is right; *apart*: they do not, so that compilers may keep elements of one in
    registers while another one is written (where neither holds, one statement has all accesses to what two share).
    *wraps*: unsigned arithmetic in subscripts or bounds may wrap
    around, so that no proof about them holds.
    """

    no_wrap: bool = False
    offsets: bool = False
    aliased: bool = False
    apart: bool = False
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar kernel argument: *expr* over the region's scalar parameters, converted to *dtype*.

    The element offset of array ``a`` is the value *name* with ``offset_of="a"`` (int64), which the launcher fills in.
    """

    name: str
    dtype: str
    expr: region.Expr | None = None
    offset_of: str | None = None


@dataclass(frozen=True, slots=True)
class Scratch:
    """A device buffer that lives for one launch: *size* elements (over the values) of *dtype*."""

    name: str
    dtype: str
    size: region.Expr


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an entry point: the buffer of a parameter, a value, or a scratch buffer, by *name*."""

    kind: ArgumentKind
    name: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One entry point: *grid* (groups) and *block* (items a group) have one to three expressions over the values."""

    entry: str
    arguments: tuple[Argument, ...]
    grid: tuple[region.Expr, ...]
    block: tuple[region.Expr, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """A *loop* of the region, by its iname, whose iterations are divided among work items.

    Two iterations are different items' if one of the *coordinates* differs, each of them isl's text with ``{}`` for the
    counter's value.  *exact*: they are then; else they may be.
    """

    loop: str
    coordinates: tuple[str, ...]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """How the iterations of the region's *loops* (inames, outermost first) follow each other, in the innermost body.

    *digits* decide, the first one first: each is a loop with isl's text, with ``{}`` for its counter's value, of
    something that grows ("" where that is not known).
    """

    loops: tuple[str, ...]
    digits: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DeviceSource:
    """*text* in *dialect* (``opencl``) and how to launch it.  A launch whose grid has a zero does nothing.

    *preambles* go before *text*, each once, if it is to be put together with others (`after`).

    *nests* has the sequential loops of the kernels, each with those around it, by their inames.  *spreads* is what a
    script's schedule runs in parallel, *orders* what it runs in another order than the program, *assumes* (isl's text)
    what it takes for granted of the region's scalars, all to be checked for the values of each launch.
    """

    name: str
    dialect: str
    text: str
    values: tuple[Value, ...]
    scratch: tuple[Scratch, ...]
    launches: tuple[Launch, ...]
    nests: tuple[tuple[str, ...], ...] = ()
    spreads: tuple[Spread, ...] = ()
    orders: tuple[Order, ...] = ()
    assumes: str = ""
    preambles: tuple[str, ...] = ()

    def after(self, first: DeviceSource) -> DeviceSource:
        """*first*, then this: one source with the launches of both, whose values and arrays of one name are the same.
        """
        return replace(
            first,
            text=f"{first.text}\n{self.text}",
            values=tuple(dict.fromkeys((*first.values, *self.values))),
            scratch=tuple(dict.fromkeys((*first.scratch, *self.scratch))),
            launches=(*first.launches, *self.launches),
            preambles=tuple(dict.fromkeys((*first.preambles, *self.preambles))),
        )

    def whole(self, functions: str) -> DeviceSource:
        """This with all that its kernels need in *text*: the program's own *functions*, then the preambles."""
        return replace(self, text="".join((functions, *self.preambles, self.text)), preambles=())
