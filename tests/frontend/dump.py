"""Regions as short text, for golden files: one statement a line, every conversion and type spelled out."""

from __future__ import annotations

from collections.abc import Iterator

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
    Function,
    If,
    Load,
    Param,
    Region,
    Return,
    Select,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
)  # fmt: skip

SHORT = {"bool": "b"} | {f"{n}int{w}": f"{'u' if n else 'i'}{w}" for n in ("", "u") for w in (8, 16, 32, 64)}
SHORT |= {"float32": "f32", "float64": "f64"}


def expr(node: Expr | None) -> str:
    match node:
        case None:
            return "?"
        case Const(value=value, dtype=dtype):
            return f"{value}{SHORT[dtype]}"
        case Var(name=name):
            return name
        case Load(array=array, index=index):
            return f"{array}[{', '.join(map(expr, index))}]"
        case Unary(op=op, operand=operand, dtype=dtype):
            return f"{op}{SHORT[dtype]} {expr(operand)}"
        case Binary(op=op, left=left, right=right, dtype=dtype):
            return f"({expr(left)} {op}{SHORT[dtype]} {expr(right)})"
        case Cast(operand=operand, dtype=dtype):
            return f"{SHORT[dtype]}({expr(operand)})"
        case Select(cond=cond, then=then, other=other):
            return f"({expr(cond)} ? {expr(then)} : {expr(other)})"
        case Call(function=function, args=args, dtype=dtype):
            return f"{function}.{SHORT[dtype]}({', '.join(map(expr, args))})"


def statement(stmt: Stmt, indent: str) -> Iterator[str]:
    match stmt:
        case Assign(target=target, value=value):
            yield f"{indent}{expr(target)} = {expr(value)}"
        case Declare(name=name, dtype=dtype, shape=shape, init=init):
            text = "".join(f"[{expr(extent)}]" for extent in shape)
            yield f"{indent}{SHORT[dtype]} {name}{text}" + (f" = {expr(init)}" if init else "")
        case If(cond=cond, then=then, other=other):
            yield f"{indent}if {expr(cond)}"
            yield from block(then, indent + "  ")
            if other:
                yield f"{indent}else"
                yield from block(other, indent + "  ")
        case For(body=body, final=final) as loop:
            head = f"for {SHORT[loop.dtype]} {loop.iname} = {expr(loop.lower)}; {loop.relation} {expr(loop.upper)}"
            yield f"{indent}{head}; += {expr(loop.step)}" + (f" -> {final}" if final else "")
            yield from block(body, indent + "  ")
        case While(cond=cond, body=body, first=first):
            yield f"{indent}{'do ' if first else ''}while {expr(cond)}"
            yield from block(body, indent + "  ")
        case Switch(value=value, cases=cases):
            yield f"{indent}switch {expr(value)}"
            for case in cases:
                labels = [*map(str, case.values), *(["default"] if case.default else [])]
                yield f"{indent}  case {', '.join(labels)}"
                yield from block(case.body, indent + "    ")
        case Return(value=value):
            yield f"{indent}return {expr(value)}"
        case Break() | Continue():
            yield indent + type(stmt).__name__.lower()


def block(body: tuple[Stmt, ...], indent: str = "") -> Iterator[str]:
    for stmt in body:
        yield from statement(stmt, indent)


def parameter(param: Param) -> str:
    shape = "".join(f"[{expr(extent)}]" for extent in param.shape)
    index = f" at {expr(param.index)}" if param.index else ""
    use = "r" * param.reads + "w" * param.writes
    return f"{param.kind} {SHORT[param.dtype]} {param.name}{shape} <- {param.host}{index} {use}"


def function(found: Function) -> Iterator[str]:
    params = ", ".join(f"{SHORT[dtype]} {name}" for name, dtype in found.params)
    yield f"{SHORT[found.dtype]} {found.name}({params})"
    yield from block(found.body, "  ")


def region(found: Region) -> str:
    clauses = found.clauses
    lines = [f"region {found.name} line {found.line}" + (" overwrite" if found.overwrite else "")]
    lines += [f"transform {s.module}.{s.function} {dict(s.arguments)}" for s in clauses.transforms]
    lines += [f"annotate {key} {value}" for key, value in clauses.annotations]
    lines += [f"reduce {r.name} {r.op}" for r in clauses.reductions]
    lines += [f"jit {', '.join(clauses.jit)}"] if clauses.jit else []
    functions = [line for called in found.functions for line in function(called)]
    return "\n".join([*lines, *map(parameter, found.params), *functions, *block(found.body)])
