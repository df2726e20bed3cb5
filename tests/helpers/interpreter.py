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
    Call,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Region,
    Return,
    Select,
    Stmt,
    Switch,
    Var,
    While,
)
from nomp.walks import operands


class Returned(Exception):
    """Leaves a function with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


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
            case While():
                self.while_loop(stmt)
            case Switch():
                self.switch(stmt)
            case Return(value=value):
                raise Returned(self.value(value))
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

    def while_loop(self, loop: While) -> None:
        run = loop.first or bool(self.value(loop.cond))
        while run:
            try:
                self.body(loop.body)
            except Stop as stop:
                if stop.leave:
                    break
            run = bool(self.value(loop.cond))

    def switch(self, stmt: Switch) -> None:
        value = self.value(stmt.value)
        chosen = next((n for n, case in enumerate(stmt.cases) if value in case.values), None)
        if chosen is None:
            chosen = next((n for n, case in enumerate(stmt.cases) if case.default), len(stmt.cases))
        try:
            for case in stmt.cases[chosen:]:
                self.body(case.body)
        except Stop as stop:
            if not stop.leave:
                raise

    def call(self, name: str, args: list[Any]) -> Any:
        function = next(f for f in self.region.functions if f.name == name)
        inner = Interpreter(self.region, {}, {})
        inner.scalars = {n: convert(a, d) for (n, d), a in zip(function.params, args, strict=True)}
        try:
            inner.body(function.body)
        except Returned as returned:
            return returned.value
        raise AssertionError(f"{name} returns nothing")

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
            case Select(cond=cond, then=then, other=other):
                return self.value(then if self.value(cond) else other)
            case Call(function=function, args=args):
                return self.call(function, [self.value(arg) for arg in args])
        parts = [Const(self.value(part), part.dtype) for part in operands(expr)]
        names = [f for f in ("operand", "left", "right") if hasattr(expr, f)]
        return evaluate(replace(expr, **dict(zip(names, parts, strict=True))), {}) if parts else evaluate(expr, {})
