"""The loop IR: one annotated loop, typed, between the source languages and loopy.

In: what a front end read (`frontend.clang`).  Out: plain frozen dataclasses that lowering, dependence analysis and the
launcher read, with a round trip to JSON (`region_json`), in which form the driver embeds a region in the host program.

Every expression carries the type that the source language gives it *after* its conversions: both operands of an
arithmetic `Binary` already have the node's type, a `Cast` stands wherever the language converts.  So later stages only
spell types out and never guess them.  Types are NumPy names: ``bool int8 ... int64 uint8 ... uint64 float32 float64``.

Names are unique in a region: a loop counter or local whose name is taken gets ``_`` appended until it is free.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nomp.diagnostics import Span

ParamKind = Literal["scalar", "array", "table", "cell", "counter"]
Relation = Literal["<", "<=", ">", ">=", "!="]
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Place(NamedTuple):
    """Where a node stands in the region's file: 1-based line and column, length in characters."""

    line: int
    column: int
    length: int


NOWHERE = Place(0, 0, 0)

# ------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A number, already folded: literals, enum constants, ``sizeof``, constant macros."""

    value: int | float
    dtype: str


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar: a loop counter, a scalar parameter, a local scalar, or a scalar cell (see `Param`)."""

    name: str
    dtype: str
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Load:
    """An element of an array parameter or local array.  *index* has one integer expression a dimension.

    *flat*: the program gets there with a pointer into a row, ``(&a[0][0])[i]``: the last subscript may leave its row.
    """

    array: str
    index: tuple[Expr, ...]
    dtype: str
    place: Place = NOWHERE
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Unary:
    """``- ~ !``; the operand is already promoted.  ``!`` gives int32."""

    op: str
    operand: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Binary:
    """``+ - * / % << >> & | ^`` in the node's type (C semantics: truncating ``/`` and ``%``, unsigned wrap-around).

    Comparisons (``< <= > >= == !=``) have operands of one common type and give int32, as ``&& ||`` do.
    Launch expressions that stages after lowering build may also use ``// min max`` on int64.
    """

    op: str
    left: Expr
    right: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion, explicit or implicit, to *dtype*."""

    operand: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Select:
    """``cond ? then : other``; only the chosen branch is evaluated."""

    cond: Expr
    then: Expr
    other: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call with converted arguments.

    *function* is one of the region's `Function`s, or a mathematical function by its C name without a type suffix
    (``sqrt`` for ``sqrtf``).
    """

    function: str
    args: tuple[Expr, ...]
    dtype: str
    place: Place = NOWHERE


Expr = Const | Var | Load | Unary | Binary | Cast | Select | Call

# -------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``; compound assignments are expanded, *value* is already converted to the target's type."""

    target: Var | Load
    value: Expr
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Declare:
    """A local scalar (*shape* is empty) or array.  An array's initialiser list becomes assignments after it."""

    name: str
    dtype: str
    shape: tuple[Expr, ...] = ()
    init: Expr | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class If:
    """A conditional; *cond* is any scalar expression, true when not zero."""

    cond: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class For:
    """``for (i = lower; i RELATION upper; i += step) body`` with *iname* as the counter's unique name.

    *lower* is converted to the counter's type *dtype*, *step* to that type or, where it may lead down, to its signed
    twin.  *upper* has the comparison's common type, to which the counter is converted before it is compared.  Both are
    evaluated once, before the loop: a front end refuses loops whose body changes them or the counter.  *final* names a
    ``counter`` parameter (declared before the region) that holds the counter's last value afterwards; None where the
    header declares the counter.
    """

    iname: str
    dtype: str
    lower: Expr
    relation: Relation
    upper: Expr
    step: Expr
    body: tuple[Stmt, ...]
    final: str | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class While:
    """``while (cond) body``, or ``do body while (cond)`` if *first* runs the body before the condition."""

    cond: Expr
    body: tuple[Stmt, ...]
    first: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Case:
    """The labels that stand together before *body*, in a `Switch`; control falls through to the next case."""

    values: tuple[int, ...]
    default: bool
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """``switch (value)``; *value* is promoted, the labels are converted to its type.  A `Break` leaves it."""

    value: Expr
    cases: tuple[Case, ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Return:
    """Leave a `Function` with *value*, converted to the function's type."""

    value: Expr
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop (never the annotated one) or switch."""

    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the next iteration of the innermost loop."""

    place: Place = NOWHERE


Stmt = Assign | Declare | If | For | While | Switch | Break | Continue | Return

# ------------------------------------------------------------------------------------------ parameters, clauses


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program that the region calls: scalars in (*params*: name and type), one scalar out.

    Its names are its own.  It calls only functions that stand before it in `Region.functions`.
    """

    name: str
    dtype: str
    params: tuple[tuple[str, str], ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """What the region takes from the host, in launch order.

    *kind* ``scalar``: read only, passed by the address of its value, evaluated at the launch.  ``array``: the address
    of element 0; *shape* has an expression a dimension, None where the extent is not known (only the first may be).
    ``table``: an array that never changes while the program runs, all its extents constants; it needs no map.
    ``cell``: one element that the region writes (an outer scalar, or ``s[index]`` of a reduce clause), passed by the
    address of ``s``; in the region it is the scalar ``Var(name)``, and it need not be mapped: the runtime copies it
    to the device and back.  ``counter``: the address of an outer loop counter, which the runtime sets after the launch.
    *host* is the C expression in the host program, which is evaluated once a launch: an address, but for a ``scalar``
    its value, unless what the region writes may be the same variable: then it is ``&(variable)``.
    *record*: the array of structs, as the host program names it, of which an ``array`` is one member: no two members of
    one array of structs share memory.  *grid* then says where the member is: 1 and the bytes of a struct, and then, for
    each of its own dimensions and those of arrays of structs inside, how many there are, and how many bytes apart.
    """

    name: str
    dtype: str
    kind: ParamKind = "scalar"
    host: str = ""
    shape: tuple[Expr | None, ...] = ()
    index: Expr | None = None
    reads: bool = True
    writes: bool = False
    place: Place = NOWHERE
    record: str = ""
    grid: tuple[tuple[int, int], ...] = ()

    @property
    def variable(self) -> str:
        """What the program calls it: *host* without the address-of, ``p[].v`` for a member of an array of structs."""
        if self.record:
            member = self.host.partition(f"({self.record})[0]")[2]
            return f"{self.record}[]" + re.sub(r"[()]|\[0\]", "", member)
        return self.host[2:-1] if self.host.startswith("&(") else self.host


@dataclass(frozen=True, slots=True)
class Script:
    """``transform("module", "function", key=value ...)``."""

    module: str
    function: str
    arguments: tuple[tuple[str, int | float | str], ...] = ()
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Reduction:
    """``reduce("var", "op")``: *name* is the parameter (a ``cell``) that the region accumulates into with *op*."""

    name: str
    op: str
    place: Place = NOWHERE


INDEPENDENT = "independent"
"""The annotation that is nomp's own; all others are for scripts."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of a ``for`` pragma.  *jit* names scalar parameters whose value is baked into the kernel."""

    transforms: tuple[Script, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    reductions: tuple[Reduction, ...] = ()
    jit: tuple[str, ...] = ()

    @property
    def independent(self) -> frozenset[str]:
        """The loops whose iterations do not depend on each other because the program says so."""
        return frozenset(value for key, value in self.annotations if key == INDEPENDENT)


@dataclass(frozen=True, slots=True)
class Region:
    """What becomes one kernel: an annotated loop (*body* is that `For` alone), or the body of a function of the C API.

    *line* is the pragma's; *text* holds the source lines from *first_line* on, for messages.

    *overwrite*: a reduction ignores the cell's value before the launch (the C API's ``reduce``, see LANGUAGE.md 4).
    """

    name: str
    file: str
    line: int
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    clauses: Clauses = Clauses()
    first_line: int = 0
    text: tuple[str, ...] = ()
    overwrite: bool = False
    functions: tuple[Function, ...] = ()

    def span(self, place: Place) -> Span:
        """*place* as a span of this region's file (the pragma's line for `NOWHERE`)."""
        return Span(self.file, place.line or self.line, place.column or 1, place.length or 1)

    @property
    def place(self) -> Place:
        """Where the region's code begins."""
        return self.body[0].place if self.body else NOWHERE

    @property
    def scalars(self) -> frozenset[str]:
        """The names of the parameters that are known at launch."""
        return frozenset(param.name for param in self.params if param.kind == "scalar")

    def param(self, name: str) -> Param:
        """The parameter called *name*; KeyError if there is none."""
        for param in self.params:
            if param.name == name:
                return param
        raise KeyError(name)

    def host_name(self, name: str) -> str:
        """What the program calls the parameter or local *name*."""
        found = [param.variable for param in self.params if param.name == name]
        return found[0] if found else name
