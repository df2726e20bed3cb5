"""What is known while a Python loop, or a function that it calls, is translated: names, types, and what is wrong.

In: what the program has under the names that the loop uses (`Given`).  Used by the other ``frontend.python_*`` modules.
Types of variables are not declared in Python: a loop is translated until no assignment brings a new one.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nomp.arithmetic import is_float
from nomp.diagnostics import Diagnostic, NompError, Note, Span, error, source_line
from nomp.frontend.python_identity import identity
from nomp.frontend.python_source import REGISTRY
from nomp.frontend.python_types import OWN, Value, device, fits, shown
from nomp.region import Expr, Function, Param, Place, Var
from nomp.walks import Names

_WORDS = """
    auto case char const default do double enum extern float goto inline int long register restrict short signed sizeof
    static struct switch typedef union unsigned void volatile NULL
"""
C_WORDS = frozenset(_WORDS.split())
"""Words of C that are names in Python."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of one *kind*, as the program has it when the loop starts."""

    kind: str


@dataclass(frozen=True, slots=True)
class Layout:
    """An array of NumPy's: its type, and where its elements are.

    *order*: the axes, the one whose neighbours are farthest apart first; elements of the last one are neighbours.
    *dense*: nothing lies between two rows.  *strides*: the distances themselves, in elements and for all axes in their
    own order, where the axes do not lie one in the other, or backwards, or have gaps between single elements.
    *fixed* says why the array cannot be written, if it cannot.
    """

    dtype: str
    order: tuple[int, ...]
    dense: bool = True
    strides: tuple[int, ...] | None = None
    fixed: str = ""

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.order)


@dataclass(frozen=True, slots=True)
class Static:
    """A function, a type or a module: anything that is what it is when the loop is translated."""

    object: Any


@dataclass(frozen=True, slots=True)
class Unusable:
    """Anything else; *what* says what it is, *advice* what to do instead, *code* which refusal that is."""

    what: str
    advice: str
    code: str = "N232"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is known: an argument that is a constant."""

    value: Value


class Unset:
    """What a name has that has no value when the loop starts."""


UNSET = Unset()

Given = Number | Layout | Static | Constant | Unusable | Unset


@dataclass(frozen=True, slots=True)
class Array:
    """An array parameter, or what one has left of its axes after some subscripts (*index*)."""

    name: str
    layout: Layout
    index: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """``a.shape``."""

    array: Array


Object = Value | Array | Shape | Static

Source = tuple[str, ...]
"""Where the launch finds a parameter: ``value NAME``, ``array NAME``, ``shape NAME AXIS``, ``pitch NAME AXIS``,
``range start|stop|step``."""


@dataclass(slots=True)
class Kinds:
    """What is assigned to a variable: each kind with the constant that it is (None: no constant) and where."""

    found: dict[tuple[str, int | float | None], Place | None] = field(default_factory=dict)
    start: str | None = None  # the kind that a variable of the program has before the loop

    @property
    def dtype(self) -> str | None:
        """The type that holds all of them; None where there is none."""
        strict = {device(kind) for kind, constant in self.found if constant is None}
        loose = [kind for kind, constant in self.found if constant is not None]
        loose += [self.start] if self.start in OWN else []
        strict |= {self.start} if self.start and self.start not in OWN else set()
        if not strict:
            return device(max(loose, key=list(OWN).index)) if loose else None
        (dtype, *others) = sorted(strict)
        constants = (constant for _, constant in self.found if constant is not None)
        if others or not all(fits(constant, dtype) for constant in constants):
            return None
        return None if "pyfloat" in loose and not is_float(dtype) else dtype

    @property
    def kinds(self) -> frozenset[str]:
        """All kinds."""
        return self.assigned | ({self.start} if self.start else set())

    @property
    def assigned(self) -> frozenset[str]:
        """The kinds that the code gives it."""
        return frozenset(kind for kind, _ in self.found)


@dataclass(frozen=True, slots=True)
class Wrapping:
    """How subscripts that may be negative are treated: by their numbers, which `Context.subscripts` counts.

    *both*: they may have either sign.  *below*: they are negative.  All others are not.
    """

    both: frozenset[int] = frozenset()
    below: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Subscript:
    """A subscript whose sign only a launch can tell: *expr*, of an axis with *extent* elements."""

    number: int
    expr: Expr
    extent: Expr


def found_in(owner: Any, attribute: str) -> Any:
    """What the dict *owner* has for *attribute* (None if it has nothing), or the object; `UNSET` in an empty cell."""
    if isinstance(owner, dict):
        return owner.get(attribute)
    try:
        return getattr(owner, attribute)
    except ValueError:
        return UNSET


@dataclass(frozen=True, slots=True)
class Guard:
    """What is taken for constant: variable *name*, which is *attribute* of *owner*, or in the dict *owner*.

    It is *object*, or, later, one of the same *identity*.
    """

    name: str
    owner: Any
    attribute: str
    object: Any
    identity: Hashable

    @property
    def holds(self) -> bool:
        """Whether it still is."""
        found = found_in(self.owner, self.attribute)
        if found is self.object and type(found) is not dict:  # which is changed in place
            return True
        return identity(found) == self.identity

    @property
    def may_be_set_here(self) -> bool:
        """Whether it may be a variable of a program with annotated loops, and is not a library's."""
        return not isinstance(self.owner, dict) or REGISTRY in self.owner


class Shared:
    """What a loop and the functions that it calls have in common."""

    def __init__(self) -> None:
        self.functions: dict[Any, Function] = {}
        self.results: dict[Any, frozenset[str]] = {}
        self.guards: dict[tuple[int, str], Guard] = {}
        self.calling: list[Any] = []

    def guard(self, name: str, owner: Any, attribute: str, found: Any) -> None:
        """Take *found* for constant: see `Guard`."""
        self.guards[id(owner), attribute] = Guard(name, owner, attribute, found, identity(found))


class Context:
    """See the module; *variables* has the names that the code assigns; *is_function*: that of a called function."""

    def __init__(
        self, file: str, given: dict[str, Given], variables: set[str], shared: Shared, *, is_function: bool = False
    ) -> None:
        self.file = file
        self.is_function = is_function
        self.given = given
        self.shared = shared
        self.kinds = {name: Kinds() for name in sorted(variables)}
        self.wrapping = Wrapping()
        self.flagged: list[str] = []  # the variables that have others which say whether they have been set
        self.begin()

    def begin(self) -> None:
        """Start another translation, with the types that the last one found."""
        self.diagnostics: list[Diagnostic] = []
        self.names = Names(set(C_WORDS))
        self.params: dict[Source, Param] = {}
        self.device_names: dict[str, str] = {}
        self.counters: dict[str, Var] = {}
        self.lowest: dict[str, int] = {}  # counters that are known not to be less
        self.widths: dict[str, int] = {}  # how many bits they have at most
        self.subscripts: list[Subscript] = []
        self.count = 0
        self.told: set[str] = set()  # the variables whose types have been refused
        self.unknown: tuple[str, ast.AST] | None = None

    def known(self) -> int:
        """How much is known of the variables' types: grows until nothing is new."""
        return sum(len(kinds.found) for kinds in self.kinds.values())

    # ------------------------------------------------------------------------------------------------- messages

    def place(self, node: ast.AST) -> Place:
        """Where *node* is, in characters; of several lines, the part in the first."""
        line: int = node.lineno  # type: ignore[attr-defined]
        end_line, end = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        text = (source_line(self.file, line) or "").encode()
        first: int = node.col_offset  # type: ignore[attr-defined]
        last = end if end_line == line else len(text)
        before, inside = text[:first].decode("utf-8", "replace"), text[first:last].decode("utf-8", "replace")
        return Place(line, len(before) + 1, max(1, len(inside)))

    def span(self, node: ast.AST) -> Span:
        """The same as a span."""
        return Span(self.file, *self.place(node))

    def refusal(self, code: str, node: ast.AST, message: str, advice: str, *notes: Note) -> NompError:
        """An error at *node*."""
        return error(code, message, self.span(node), help=advice, notes=notes)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep an error for later; what it stands in is left out."""
        try:
            yield
        except NompError as problem:
            self.diagnostics += problem.diagnostics
        except Unknown as name:
            self.unknown = name.args

    # -------------------------------------------------------------------------------------------------- parameters

    def parameter(self, source: Source, name: str, dtype: str, host: str, place: Place) -> Expr:
        """The scalar parameter whose value *source* is."""
        if source not in self.params:
            self.params[source] = Param(self.names.unique(name), dtype, "scalar", host, place=place)
        return Var(self.params[source].name, self.params[source].dtype)

    def extent(self, array: Array, axis: int, node: ast.AST) -> Expr:
        """How many elements *array* has along *axis*."""
        source, name = ("shape", array.name, str(axis)), f"{array.name}_shape{axis}"
        return self.parameter(source, name, "int64", f"{array.name}.shape[{axis}]", self.place(node))

    def pitch(self, array: Array, axis: int, node: ast.AST) -> Expr:
        """How many elements of *array* lie from one to the next along the axis around *axis*, in units of its own."""
        if array.layout.dense:
            return self.extent(array, axis, node)
        source, name = ("pitch", array.name, str(axis)), f"{array.name}_pitch{axis}"
        return self.parameter(source, name, "int64", f"{array.name}.strides", self.place(node))

    # --------------------------------------------------------------------------------------------------- variables

    def assigned(self, name: str, given: Value, node: ast.AST) -> None:
        """Note that *name* gets *given*."""
        for kind in given.kinds:
            self.kinds[name].found.setdefault((kind, given.constant), self.place(node))

    def variable(self, name: str, node: ast.AST) -> Value:
        """The variable *name*, which the code assigns.  Raises `Unknown` while nothing is known of its type."""
        kinds = self.kinds[name]
        if not kinds.kinds:
            raise Unknown(name, node)
        dtype = kinds.dtype
        if dtype is None:
            if name in self.told:
                raise Unknown(name, node)
            self.told.add(name)
            raise self._changes_type(name, node)
        return Value(Var(self.device_name(name), dtype, self.place(node)), kinds.kinds)

    def flag(self, name: str) -> Var:
        """The variable that says whether *name* has been set."""
        return Var(self.device_name(f"{name} set"), "bool")

    def device_name(self, name: str) -> str:
        """What the variable *name* is called in the region."""
        if name not in self.device_names:
            self.device_names[name] = self.names.unique(name)
        return self.device_names[name]

    def _changes_type(self, name: str, node: ast.AST) -> NompError:
        kinds = self.kinds[name]
        notes = [Note(f"{shown(kind)} here", Span(self.file, *at)) for (kind, _), at in kinds.found.items() if at]
        notes += [Note(f"{shown(kinds.start)} before the loop")] if kinds.start else []
        advice = "give it one type: start with a number of the type that it gets later, such as np.float32(0)"
        message = f"'{name}' changes its type: {' and '.join(sorted(map(shown, kinds.kinds)))}"
        return self.refusal("N233", node, message, advice, *notes)

    def is_constant(self, name: str, constant: object) -> bool:
        """Whether *name* is that very object."""
        given = self.given.get(name)
        return isinstance(given, Static) and given.object is constant


class Unknown(Exception):
    """The type of a variable is not known yet: its name, and where it is read."""
