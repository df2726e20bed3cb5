"""Region statements as C text, for what loopy has no form of: ``while``, and the program's own functions.

In: statements or a `Function`.  Out: C text in a dialect.
Variables of the kernel stand as ``@name@``, because they may still be renamed; `names.legal` puts the final names in.
Called by `lower.opaque` and `lower.functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from nomp.arithmetic import cast, is_float
from nomp.lower.dialects import OpenCL
from nomp.lower.names import device_name, is_taken
from nomp.region import (
    Assign,
    Binary,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Return,
    Select,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
)

_SUFFIXES = {"int64": "l", "uint32": "u", "uint64": "ul", "float32": "f"}
_LOWEST = {"int32": -(1 << 31), "int64": -(1 << 63)}


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes statements.

    *dialect* spells types and functions, of which *own* are the program's.  *element* gives the text of an array
    element from the array's name and the texts of its subscripts.  *scalars* spells the kernel's scalars; any other
    name is the text's own.
    """

    dialect: type[OpenCL]
    element: Callable[[str, tuple[str, ...]], str]
    own: Set[str]
    scalars: Mapping[str, str]

    def block(self, stmts: Iterable[Stmt]) -> str:
        """*stmts* in braces, one a line."""
        return "{\n" + "".join(f"  {line}\n" for stmt in stmts for line in self.statement(stmt)) + "}"

    def statement(self, stmt: Stmt) -> Iterator[str]:
        """The lines of *stmt*."""
        match stmt:
            case Assign(target=target, value=value):
                yield f"{self.value(target)} = {self.bare(value)};"
            case Declare(name=name, dtype=dtype, shape=(), init=init):
                start = f" = {self.bare(init)}" if init is not None else ""
                yield f"{self.dialect.types[dtype]} {self.scalar(name)}{start};"
            case Declare():
                pass  # arrays are declared for the whole kernel
            case If(cond=cond, then=then, other=other):
                yield from f"if ({self.bare(cond)}) {self.block(then)}".splitlines()
                if other:
                    yield from f"else {self.block(other)}".splitlines()
            case For():
                yield from self._for(stmt).splitlines()
            case While(cond=cond, body=body, first=True):
                yield from f"do {self.block(body)} while ({self.bare(cond)});".splitlines()
            case While(cond=cond, body=body):
                yield from f"while ({self.bare(cond)}) {self.block(body)}".splitlines()
            case Switch():
                yield from self._switch(stmt)
            case Return(value=value):
                yield f"return {self.bare(value)};"
            case Break():
                yield "break;"
            case Continue():
                yield "continue;"

    def _for(self, loop: For) -> str:
        counter = Var(loop.iname, loop.dtype)
        name = self.scalar(loop.iname)
        test = Binary(loop.relation, cast(counter, loop.upper.dtype), loop.upper, "int32")
        head = f"{self.dialect.types[loop.dtype]} {name} = {self.bare(loop.lower)}; {self.bare(test)}"
        return f"for ({head}; {name} += {self.value(loop.step)}) {self.block(loop.body)}"

    def scalar(self, name: str) -> str:
        """The text of the scalar *name*."""
        return self.scalars.get(name) or (f"{name}__own" if is_taken(name) else name)

    def _switch(self, stmt: Switch) -> Iterator[str]:
        yield f"switch ({self.bare(stmt.value)}) {{"
        for case in stmt.cases:
            for number in case.values:
                yield f"case {self._constant(number, stmt.value.dtype)}:"
            if case.default:
                yield "default:"
            for inner in case.body:
                yield from (f"  {line}" for line in self.statement(inner))
            yield "  ;"  # a label needs a statement
        yield "}"

    def bare(self, expr: Expr) -> str:
        """*expr* without parentheses around it."""
        if isinstance(expr, Binary):
            left, right = self.value(expr.left), self.value(expr.right)
            if expr.op in ("min", "max"):
                return f"{left} {'<' if expr.op == 'min' else '>'} {right} ? {left} : {right}"
            return f"{left} {expr.op} {right}"
        return self.value(expr)

    def value(self, expr: Expr) -> str:
        """*expr*, in parentheses wherever precedence could matter."""
        match expr:
            case Const(value=value, dtype=dtype):
                return self._constant(value, dtype)
            case Var(name=name):
                return self.scalar(name)
            case Load(array=array, index=index):
                return self.element(array, tuple(self.value(i) for i in index))
            case Cast(operand=operand, dtype="bool"):
                return f"({self.value(operand)} != 0)"
            case Cast(operand=operand, dtype=dtype):
                return f"({self.dialect.types[dtype]})({self.value(operand)})"
            case Unary(op=op, operand=operand):
                return f"({op}{self.value(operand)})"
            case Binary():
                return f"({self.bare(expr)})"
            case Select(cond=cond, then=then, other=other):
                return f"({self.value(cond)} ? {self.value(then)} : {self.value(other)})"
            case Call(function=function, args=args, dtype=dtype):
                name = device_name(function) if function in self.own else self.dialect.spelled(function, dtype)
                return f"{name}({', '.join(map(self.bare, args))})"

    def _constant(self, value: int | float, dtype: str) -> str:
        suffix = _SUFFIXES.get(dtype, "")
        if not math.isfinite(value):
            text = "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
            text = f"({self.dialect.types[dtype]})({text})"  # the macros are of type float
        elif value == _LOWEST.get(dtype):
            text = f"{value + 1}{suffix} - 1"
        else:
            text = f"{float(value)!r}{suffix}" if is_float(dtype) else f"{value}{suffix}"
        return f"({text})" if text[0] in "-(" else text
