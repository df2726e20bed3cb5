"""Runs a region statement by statement, with C's arithmetic: what every lowering must agree with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nomp.arithmetic import convert, evaluate
from nomp.region import (
    Assign,
    Binary,
    Break,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Region,
    Stmt,
    Var,
    operands,
)


class Stop(Exception):
    """Leaves a loop (``break``) or an iteration (``continue``)."""

    def __init__(self, leave: bool) -> None:
        self.leave = leave


class Interpreter:
    """The state of one run: scalars by name, arrays (cells as arrays of one) by name."""

    def __init__(self, region: Region, scalars: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.cells = {param.name for param in region.params if param.kind == "cell"}
        self.region, self.scalars, self.arrays = region, dict(scalars), dict(arrays)

    def run(self) -> None:
        self.body(self.region.body)

    def body(self, stmts: tuple[Stmt, ...]) -> None:
        for stmt in stmts:
            self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target=target, value=value):
                self.store(target, self.value(value))
            case Declare(name=name, dtype=dtype, shape=shape, init=init):
                if shape:
                    self.arrays[name] = np.zeros([int(self.value(e)) for e in shape], dtype)
                else:
                    self.scalars[name] = convert(self.value(init), dtype) if init is not None else 0
            case If(cond=cond, then=then, other=other):
                self.body(then if self.value(cond) else other)
            case For():
                self.loop(stmt)
            case Break() | Continue():
                raise Stop(isinstance(stmt, Break))

    def loop(self, loop: For) -> None:
        counter, upper, step = self.value(loop.lower), self.value(loop.upper), self.value(loop.step)
        common = loop.upper.dtype
        here = Var(loop.iname, loop.dtype)
        while evaluate(
            Binary(loop.relation, Const(convert(counter, common), common), Const(upper, common), "int32"), {}
        ):
            self.scalars[here.name] = counter
            try:
                self.body(loop.body)
            except Stop as stop:
                if stop.leave:
                    break
            counter = convert(counter + step, loop.dtype)

    def store(self, target: Var | Load, value: Any) -> None:
        if isinstance(target, Load):
            self.arrays[target.array][tuple(int(self.value(i)) for i in target.index)] = value
        elif target.name in self.cells:
            self.arrays[target.name][0] = value
        else:
            self.scalars[target.name] = value

    def value(self, expr: Expr) -> Any:
        """*expr* evaluated lazily, as C does."""
        match expr:
            case Load(array=array, index=index):
                return self.arrays[array][tuple(int(self.value(i)) for i in index)].item()
            case Var(name=name, dtype=dtype):
                found = self.arrays[name][0].item() if name in self.cells else self.scalars[name]
                return convert(found, dtype)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                first = bool(self.value(left))
                return int(first) if first == (op == "||") else int(bool(self.value(right)))
        if type(expr).__name__ == "Select":
            return self.value(expr.then if self.value(expr.cond) else expr.other)  # type: ignore[union-attr]
        parts = [Const(self.value(part), part.dtype) for part in operands(expr)]
        names = [f for f in ("operand", "left", "right") if hasattr(expr, f)]
        return evaluate(replace(expr, **dict(zip(names, parts, strict=True))), {}) if parts else evaluate(expr, {})
