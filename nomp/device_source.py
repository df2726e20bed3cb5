"""The record of a compiled kernel: all that a launcher needs, as plain data.

Made by `codegen`, read by `runtime.kernel` and by the backends.  Two small environments describe a launch: the region's
scalar parameters (the host's values, by name) give `DeviceSource.values`; these, by name, give the grid.  Expressions
are `region.Expr`, evaluated by `arithmetic.evaluate` with C's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from nomp import region
from nomp.conditions import Condition
from nomp.diagnostics import Span

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
    around, so that no proof about them holds.  *choices* are what a tuner has chosen for the parameters of its scripts.
    """

    no_wrap: bool = False
    offsets: bool = False
    aliased: bool = False
    apart: bool = False
    wraps: bool = False
    choices: tuple[tuple[str, int | float | str], ...] = ()


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
    """One entry point: *grid* (groups) and *block* (items a group) have one to three expressions over the values.

    *group_bytes* of a group's memory are not declared in the source but asked for by the launch.
    """

    entry: str
    arguments: tuple[Argument, ...]
    grid: tuple[region.Expr, ...]
    block: tuple[region.Expr, ...]
    group_bytes: int = 0


Step = tuple[Literal["loop", "end", "run", "barrier"], str]
"""A step of a kernel's code: a sequential loop begins (its iname) or ends, an instruction runs (its id), items wait.

They wait for the others of their "group", of "local" memory there, or for "all": where one kernel ends, too.
"""


Blame = tuple[int, Span]
"""A line of a script that changed something, with a number that grows from line to line."""


@dataclass(frozen=True, slots=True)
class Placement:
    """When and where instruction number *number* of the program runs, which carries out the region's *statement*.

    It stands in the body of *loops* (the region's, outermost first) and mentions *reads* and *writes*.  *path* leads to
    it in the code: its place among its neighbours, the sequential loop that this is, its place in that loop, and so on;
    () if it never runs.
    *same* are those of *loops* that the script left as they were, *spread* those that tell its item (None if others
    do).  *when* is isl's text: a relation from the counters of *loops* to group, item and time ("" if it is not known;
    there may be more pairs than are real unless *exact*).  *lost* are iterations (sets of isl's) that the program runs
    and the schedule does not, *extra* the other way round, and *again* those that it runs several times; *sure*:
    whether these are real.  *cells* are for locals whose shape the script changed: from the counters to the new
    subscripts (isl's text); *lanes* for those that have a copy for each iteration of a loop with an ``ilp`` tag.
    *blame* is what changed it last.
    """

    statement: int
    number: int
    instruction: str
    loops: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    path: tuple[int | str, ...]
    same: frozenset[str]
    spread: frozenset[str] | None = None
    when: str = ""
    exact: bool = True
    lost: str = ""
    extra: str = ""
    again: str = ""
    sure: bool = True
    cells: Mapping[str, str] = field(default_factory=dict)
    lanes: Mapping[str, str] = field(default_factory=dict)
    blame: Blame | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a script has made of a region.

    *barriers* are kinds with the times (sets of isl's) at which items wait for each other.  The first *groups*
    dimensions of these spaces tell groups apart, the next *items* the items of a group, the others are time.  *shared*
    are the locals that a group shares, *common* those that all groups do; all others are an item's own.  *assumes*
    (isl's text) is what a script takes for granted of the region's scalars.  *gone* are the statements of which scripts
    have removed instructions; *unwaited* are shared locals of scripts with the scalars (sets of isl's, "" for unknown
    ones) for which items use them without a barrier.  *complete*: whether scripts have changed nothing else than what
    is told here.  *wrong* is all that as one condition on the region's scalars: where the schedule is not right; None
    if it has no simple form.
    """

    placements: tuple[Placement, ...] = ()
    barriers: tuple[tuple[str, str], ...] = ()
    groups: int = 0
    items: int = 0
    shared: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    assumes: str = ""
    complete: bool = True
    gone: Mapping[int, Blame | None] = field(default_factory=dict)
    unwaited: tuple[tuple[str, str], ...] = ()
    wrong: Condition | None = None


@dataclass(frozen=True, slots=True)
class DeviceSource:
    """*text* in *dialect* (``opencl``) and how to launch it.  A launch whose grid has a zero does nothing.

    *steps* is the kernels' code, by the names that a script knows; *shared* are the locals in a group's memory.  What a
    script made may be wrong for some values: *schedule* is then to be checked at each launch.  *preambles* go before
    *text*, each once, if it is to be put together with others (`after`).  *space* has the parameters that scripts left
    to a tuner, with their values.
    """

    name: str
    dialect: str
    text: str
    values: tuple[Value, ...]
    scratch: tuple[Scratch, ...]
    launches: tuple[Launch, ...]
    steps: tuple[Step, ...] = ()
    shared: frozenset[str] = frozenset()
    schedule: Schedule | None = None
    preambles: tuple[str, ...] = ()
    space: Mapping[str, tuple[int | float | str, ...]] = field(default_factory=dict)

    @property
    def nests(self) -> tuple[tuple[str, ...], ...]:
        """Each sequential loop of the kernels, with those around it."""
        around: list[str] = []
        found = []
        for kind, name in self.steps:
            if kind == "loop":
                around.append(name)
                found.append(tuple(around))
            elif kind == "end":
                around.pop()
        return tuple(found)

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
