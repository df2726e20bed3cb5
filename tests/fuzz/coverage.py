"""What the generated programs made of the loop IR: which nodes, operators and types.

`record` is called in the process that compiles, and writes what it sees to a file of the current folder; `read` counts
what such a file says; `missing` lists what no program had.  `kinds` is what `nomp.region` defines: all of it must be
generated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import get_args

from nomp import pipeline
from nomp.region import Assign, Binary, Call, Cast, Clauses, Expr, For, ParamKind, Region, Relation, Stmt, Unary
from nomp.walks import expressions, walk, walk_expr

FILE = "coverage.txt"
_INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
_WIDE = ["int32", "int64", "uint32", "uint64"]
_FUNCTIONS = ["sqrt", "fabs", "floor", "ceil", "trunc", "fmin", "fmax", "popcount", "clz"]


def expected() -> set[str]:
    """Everything that a thorough run has."""
    names = {*kinds(), *(f"call {name}" for name in _FUNCTIONS)}
    names |= {f"{op} {t}" for op, t in product(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"], _WIDE)}
    names |= {f"{op} {t}" for op, t in product(["+", "-", "*", "/"], ["float32", "float64"])}
    names |= {f"{op} {t}" for op, t in product(["<", "<=", ">", ">=", "==", "!="], [*_WIDE, "float32", "float64"])}
    names |= {"&& int32", "|| int32", "unary ! int32", *(f"unary {op} {t}" for op, t in product("-~", _WIDE))}
    names |= {f"loop {relation} {t}" for relation, t in product(["<", "<=", ">", ">=", "!="], _INTEGERS)}
    names |= {f"cast {t}" for t in ["bool", *_INTEGERS, "float32", "float64"]}
    names |= {f"reduce {op} {t}" for op, t in product(["+", "*", "min", "max"], [*_INTEGERS, "float32", "float64"])}
    names |= {f"reduce {op} {t}" for op, t in product(["&", "|", "^"], _INTEGERS)}
    names |= {f"reduce {op} {t}" for op, t in product(["&&", "||"], ["bool", "int32"])}
    return names | {"clause name", "annotations and transforms"}


def kinds() -> set[str]:
    """The nodes, operators, kinds of parameters and clauses of `nomp.region`."""
    names = {node.__name__ for node in (*get_args(Expr), *get_args(Stmt))}
    names |= {f"Unary {op}" for op in _operators(Unary)} | {f"Binary {op}" for op in _operators(Binary)}
    names |= {f"For {relation}" for relation in get_args(Relation)}
    return names | {f"param {kind}" for kind in get_args(ParamKind)} | {f"clause {f.name}" for f in fields(Clauses)}


def _operators(node: type) -> set[str]:
    """The operators that the description of *node* lists, without those that only later stages use."""
    text = (node.__doc__ or "").partition("Launch expressions")[0]
    return {word for words in re.findall("``(.+?)``", text) for word in words.split()}


def record() -> None:
    """Note every region that this process checks from now on."""
    checked = pipeline.check

    def check(region: Region) -> None:
        with Path(FILE).open("a") as file:
            file.write("".join(f"{item}\n" for item in items(region)))
        checked(region)

    pipeline.check = check


def read(folder: Path) -> Counter[str]:
    """What `record` noted in *folder*, which it empties."""
    file = folder / FILE
    if not file.exists():
        return Counter()
    counts = Counter(file.read_text().splitlines())
    file.unlink()
    return counts


def missing(seen: Counter[str]) -> list[str]:
    return sorted(expected() - set(seen))


def items(region: Region) -> Iterator[str]:
    """What *region* is made of."""
    for param in region.params:
        yield f"param {param.kind}"
    for reduction in region.clauses.reductions:
        yield f"reduce {reduction.op} {region.param(reduction.name).dtype}"
    clauses = region.clauses
    yield from (f"clause {f.name}" for f in fields(clauses) if getattr(clauses, f.name))
    if clauses.annotations and clauses.transforms:
        yield "annotations and transforms"
    if not region.name.startswith("_nomp"):
        yield "clause name"
    for body in (region.body, *(function.body for function in region.functions)):
        for stmt in walk(body):
            yield from _statement(stmt)


def _statement(stmt: Stmt) -> Iterator[str]:
    yield type(stmt).__name__
    if isinstance(stmt, For):
        yield f"For {stmt.relation}"
        yield f"loop {stmt.relation} {stmt.dtype}"
    targets = (stmt.target,) if isinstance(stmt, Assign) else ()
    for expression in (*expressions(stmt), *targets):
        for node in walk_expr(expression):
            yield from _expression(node)


def _expression(node: Expr) -> Iterator[str]:
    yield type(node).__name__
    if isinstance(node, Unary | Binary):
        yield f"{type(node).__name__} {node.op}"
    match node:
        case Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left):
            yield f"{op} {left.dtype}"
        case Binary(op=op, dtype=dtype):
            yield f"{op} {dtype}"
        case Unary(op=op, dtype=dtype):
            yield f"unary {op} {dtype}"
        case Cast(dtype=dtype):
            yield f"cast {dtype}"
        case Call(function=function):
            yield f"call {function}"
