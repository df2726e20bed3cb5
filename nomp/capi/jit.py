"""The arguments of ``nomp_jit``: what C passed, as clauses and as values that fit the kernel's parameters.

In: cffi pointers to the clause array and to the argument structs.  Out: `pragma.ForClauses` for the front end, and,
once the function is parsed, the values of its JIT parameters.  Called by `api`.

Errors: `NompError` N651 (a clause), N652 (the arguments do not fit the function), N653 (a JIT value).
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nomp import region_json
from nomp.arithmetic import SIZES, is_float, limits
from nomp.cache import Cache, Subject
from nomp.diagnostics import Span, error
from nomp.pragma import ForClauses, Name, Reduce
from nomp.pragma_help import OPERATORS
from nomp.region import NOWHERE, Param, Region, Script
from nomp.versions import versions

HERE = Span("<nomp_jit>", 1)

INT, UINT, FLOAT, PTR, JIT = 2048, 4096, 8192, 16384, 1
TYPES = {INT: "NOMP_INT", UINT: "NOMP_UINT", FLOAT: "NOMP_FLOAT", PTR: "NOMP_PTR"}

Triple = tuple[str, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as the caller declared it; *type* is a key of `TYPES`.  *raw* has the bytes of a JIT value."""

    name: str
    size: int
    type: int
    raw: bytes | None = None

    def __str__(self) -> str:
        return f'"{self.name}" ({TYPES[self.type]}, size {self.size})'


# ----------------------------------------------------------------------------------------------- reading from C


def read_clauses(ffi: Any, clauses: Any) -> list[Triple]:
    """The NULL-terminated flat array *clauses* in threes; a missing or NULL string is None."""
    triples: list[Triple] = []
    while clauses[0] != ffi.NULL:
        kind, first = _text(ffi, clauses[0]), _text(ffi, clauses[1])
        if first is None:
            return [*triples, (str(kind), None, None)]  # what follows a NULL may be past the array's end
        triples.append((str(kind), first, _text(ffi, clauses[2])))
        if clauses[2] == ffi.NULL:
            break
        clauses += 3
    return triples


def read_arguments(ffi: Any, nargs: int, arguments: Any) -> list[Argument]:
    """The *nargs* structs at *arguments*; N652 for one without a name or of no known type, N653 for a bad JIT value."""
    return [_argument(ffi, arguments[i], i + 1) for i in range(nargs)]


def _argument(ffi: Any, given: Any, position: int) -> Argument:
    name, kind = _text(ffi, given.name), given.type & ~JIT
    if not name or kind not in TYPES:
        what = f"has the unknown type {given.type}" if name else "has no name"
        raise error("N652", f"argument {position} passed into nomp_jit {what}", help=_USAGE)
    if not given.type & JIT:
        return Argument(name, given.size, kind)
    allowed = {INT: (1, 2, 4, 8), UINT: (1, 2, 4, 8), FLOAT: (4, 8), PTR: ()}[kind]
    if given.value == ffi.NULL or given.size not in allowed:
        what = "is NULL" if given.size in allowed else f"cannot be {TYPES[kind]} of size {given.size}"
        raise error("N653", f'JIT argument "{name}" passed into nomp_jit {what}', help=_JIT_USAGE)
    return Argument(name, given.size, kind, bytes(ffi.buffer(ffi.cast("char *", given.value), given.size)))


def _text(ffi: Any, string: Any) -> str | None:
    return None if string == ffi.NULL else ffi.string(string).decode("utf-8", "surrogateescape")


_USAGE = 'each argument is a name, its sizeof and a type: "a", sizeof(double), NOMP_PTR'
_JIT_USAGE = 'a JIT argument is a scalar, and has its address as a fourth: "n", sizeof(int), NOMP_INT | NOMP_JIT, &n'

# ------------------------------------------------------------------------------------------------------ clauses


def clauses_of(triples: Sequence[Triple], arguments: Sequence[Argument]) -> ForClauses:
    """The clauses in the front end's form; N651 for one that is not a clause, or lacks a string."""
    for triple in triples:
        _check(triple)
    transforms = [Script(str(module), str(function)) for kind, module, function in triples if kind == "transform"]
    annotations = [(str(key), str(value)) for kind, key, value in triples if kind == "annotate"]
    reductions = [Reduce(f"{variable}[0]", str(op), HERE) for kind, variable, op in triples if kind == "reduce"]
    jit = [Name(argument.name, HERE) for argument in arguments if argument.raw is not None]
    return ForClauses(tuple(transforms), tuple(annotations), tuple(reductions), tuple(jit))


def _check(triple: Triple) -> None:
    kind, first, second = triple
    if kind not in ("transform", "annotate", "reduce"):
        help = 'the clauses are "transform", "annotate" and "reduce", each with two more strings'
        raise error("N651", f'Clause "{kind}" passed into nomp_jit is not a valid clause.', help=help)
    if first is None or second is None:
        what = "Module name and/or function name" if kind == "transform" else f'A string of clause "{kind}"'
        help = "a clause is three strings, and the array ends with NULL"
        raise error("N651", f"{what} not provided.", help=help)
    if kind == "reduce" and second not in OPERATORS:
        help = f"the operators are {' '.join(OPERATORS)}"
        raise error("N651", f'Operator "{second}" of clause "reduce" is not a valid operator.', help=help)


# ----------------------------------------------------------------------------------------------------- the region

_FILE = "region.json"


def region_of(text: str, clauses: ForClauses, file: str, cache: Cache) -> Region:
    """The function *text* as a region, see `clang.parse_function`, which *cache* saves from being imported."""
    if "#" in text:  # it may include files, which change
        return _parsed(text, clauses, file)
    name = re.search(r"(\w+)\s*\(", text)
    inputs = {"kind": "region", "text": text, "clauses": region_json.encode(clauses), "versions": versions()}
    subject = Subject("region", name[1] if name else "")
    made = cache.obtain(subject, inputs, lambda: {_FILE: region_json.dumps(_parsed(text, clauses, file)).encode()})
    return replace(region_json.loads(made[_FILE].decode()), file=file)


def _parsed(text: str, clauses: ForClauses, file: str) -> Region:
    from nomp.frontend import clang

    return clang.parse_function(text, clauses, file)


# ---------------------------------------------------------------------------------------------------- arguments


def jit_values(region: Region, arguments: Sequence[Argument]) -> dict[str, int | float]:
    """Check *arguments* against the parameters of *region*; the values of the JIT parameters.

    JIT arguments belong to the parameters of their names, the others, in order, to the remaining parameters.
    """
    params = {param.name: param for param in region.params}
    fixed = {argument.name: argument for argument in arguments if argument.raw is not None}
    for name in fixed.keys() - params.keys():
        raise error("N652", f'JIT argument "{name}" passed into nomp_jit is no parameter of the function',
                    region.span(NOWHERE),
                    help="a JIT argument has the name of the parameter whose value it is")  # fmt: skip
    _check_positions(region, [argument for argument in arguments if argument.raw is None],
                     [param for param in region.params if param.name not in fixed])  # fmt: skip
    return {name: _value(region, params[name], argument) for name, argument in fixed.items()}


def _check_positions(region: Region, arguments: Sequence[Argument], params: Sequence[Param]) -> None:
    if len(arguments) != len(params):
        names = ", ".join(param.name for param in params) or "none"
        raise error("N652", f"nomp_jit got {len(arguments)} arguments for {len(params)} parameters ({names})",
                    region.span(NOWHERE), help="declare every parameter of the function, in its order")  # fmt: skip
    for argument, param in zip(arguments, params, strict=True):
        misfit = _misfit(argument, param)
        if misfit:
            message = f"argument {argument} passed into nomp_jit {misfit}"
            raise error("N652", message, region.span(param.place), help=_USAGE)


def _misfit(argument: Argument, param: Param) -> str | None:
    if param.kind == "scalar" and argument.type == PTR:
        return f"is a pointer, but parameter '{param.name}' is not ({param.dtype})"
    if param.kind == "array" and argument.type != PTR:
        return f"is a scalar, but parameter '{param.name}' is a pointer, and no reduce clause names it"
    if argument.type != PTR and argument.size != SIZES[param.dtype]:
        return f"does not have the size of parameter '{param.name}' ({param.dtype})"
    return None


def _value(region: Region, param: Param, argument: Argument) -> int | float:
    """The value of a JIT *argument* for *param*: converted, but only if it stays the same."""
    assert argument.raw is not None
    value = decode(argument.raw, argument.type)
    if param.kind == "scalar" and _holds(param.dtype, value):
        return float(value) if param.dtype.startswith("float") else int(value)
    what = f"{value} is no {param.dtype}" if param.kind == "scalar" else "a pointer cannot be fixed"
    raise error("N653", f'JIT argument "{argument.name}" passed into nomp_jit: {what}', region.span(param.place),
                help="give it the type and the size of the parameter")  # fmt: skip


def decode(raw: bytes, type: int) -> int | float:
    """The number that the bytes *raw* are, as *type* (a key of `TYPES`) of their length."""
    if type == FLOAT:
        return float(struct.unpack("f" if len(raw) == 4 else "d", raw)[0])
    return int.from_bytes(raw, sys.byteorder, signed=type == INT)


def _holds(dtype: str, value: int | float) -> bool:
    if is_float(dtype):
        return True
    low, high = limits(dtype)
    return isinstance(value, int) and low <= value <= high
