"""Functions of the program that a Python loop calls: they become functions of the region, one for each set of types.

In: a call and the function.  Out: the call's `Value`.  Used by `frontend.python_calls`.  What the function reads
besides its arguments (numbers and functions of its module) is taken for constant; launches check that it still is.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np

from nomp.diagnostics import Diagnostic, NompError, Note
from nomp.frontend import python_source as source
from nomp.frontend.python_context import Constant, Context, Given, Number, Static, Unset, Unusable, found_in
from nomp.frontend.python_names import analyse, reads, stores
from nomp.frontend.python_types import OWN, Value, as_type, constant_of, device, shown
from nomp.region import Call, Const, Declare, Function, Stmt

_ADVICE = "write its computation into the loop"


def own(
    ctx: Context, node: ast.Call, function: FunctionType, number_of: Callable[[Context, ast.expr], Value]
) -> Value:
    """The call *node* of *function*."""
    text, definition = source.node_of(function)
    given = _bound(ctx, node, function, definition, number_of)
    kinds = tuple(_kind(ctx, node, name, value) for name, value in given.items())
    constants = tuple(value.constant for value in given.values())
    key = (function, kinds, repr(constants))
    if key not in ctx.shared.functions:
        if function in ctx.shared.calling:
            message = f"a kernel cannot call '{function.__name__}', which calls itself"
            raise ctx.refusal("N208", node, message, "write it as a loop")
        ctx.shared.calling.append(function)
        try:
            known = {name: value for name, value in given.items() if value.constant is not None}
            _define(ctx, function, (text, definition), dict(zip(given, kinds, strict=True)), known, key)
        except NompError as problem:
            notes = (Note(f"'{function.__name__}' is called here", ctx.span(node)),)
            raise NompError(tuple(_with_notes(d, notes) for d in problem.diagnostics)) from None
        finally:
            ctx.shared.calling.pop()
    for part in ("__code__", "__defaults__", "__kwdefaults__"):
        ctx.shared.guard(f"{function.__name__}.{part}", function, part, getattr(function, part))
    made = ctx.shared.functions[key]
    args = tuple(as_type(value, dtype) for value, (_, dtype) in zip(given.values(), made.params, strict=True))
    return Value(Call(made.name, args, made.dtype, ctx.place(node)), ctx.shared.results[key])


def _with_notes(diagnostic: Diagnostic, notes: tuple[Note, ...]) -> Diagnostic:
    return replace(diagnostic, notes=(*diagnostic.notes, *notes))


def _kind(ctx: Context, node: ast.Call, name: str, value: Value) -> str:
    if len(value.kinds) > 1:
        message = f"argument '{name}' may be {shown(value.kinds)}"
        raise ctx.refusal("N233", node, message, "convert it: float(...) or np.float64(...)")
    return next(iter(value.kinds))


def _bound(
    ctx: Context, node: ast.Call, function: FunctionType, definition: source.FunctionNode,
    number_of: Callable[[Context, ast.expr], Value],
) -> dict[str, Value]:  # fmt: skip
    """The arguments of *node* by the names of the parameters."""
    spec = definition.args
    names = [arg.arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    positional = len(names) - len(spec.kwonlyargs)
    name = function.__name__
    if spec.vararg or spec.kwarg or any(isinstance(arg, ast.Starred) for arg in node.args):
        raise ctx.refusal("N208", node, f"'{name}' takes any number of arguments", _ADVICE)
    if isinstance(definition, ast.AsyncFunctionDef) or any(isinstance(n, ast.Yield) for n in ast.walk(definition)):
        raise ctx.refusal("N208", node, f"'{name}' is a generator or asynchronous", _ADVICE)
    found: dict[str, Value] = {}
    keywords = [(keyword.arg, keyword.value) for keyword in node.keywords]
    for keyword, argument in (*zip(names[:positional], node.args, strict=False), *keywords):
        if keyword is None or keyword not in names or keyword in found:
            raise ctx.refusal("N208", node, f"'{name}' cannot be called like this", "give each parameter one argument")
        found[keyword] = number_of(ctx, argument)
    defaults = dict(zip(names[:positional][::-1], (function.__defaults__ or ())[::-1], strict=False))
    defaults |= function.__kwdefaults__ or {}
    for missing in [other for other in names if other not in found]:
        value = constant_of(defaults.get(missing))
        if value is None or len(node.args) > positional:
            raise ctx.refusal("N208", node, f"'{name}' lacks its argument '{missing}'", "give it a number")
        found[missing] = value
    if len(node.args) > positional:
        raise ctx.refusal("N208", node, f"'{name}' takes {positional} arguments", "leave the others away")
    return {other: found[other] for other in names}


def _define(
    ctx: Context, function: FunctionType, written: tuple[source.Text, source.FunctionNode], kinds: dict[str, str],
    constants: dict[str, Value], key: Any,
) -> None:  # fmt: skip
    from nomp.frontend.python_statements import RESULT, Scope, block

    text, definition = written
    body = definition.body
    variables = set(stores(*body)) | {RESULT}
    if not _returns(body):
        inner = Context(text.file, {}, set(), ctx.shared)
        message = f"'{function.__name__}' may end without a number"
        raise inner.refusal("N208", body[-1], message, "return one on every way")
    given: dict[str, Given] = {name: Number(kind) for name, kind in kinds.items()}
    given |= {name: Constant(value) for name, value in constants.items()}
    given |= _surroundings(ctx, function, reads(*body) - kinds.keys() - variables)
    inner = Context(text.file, given, variables - _counters(body), ctx.shared, is_function=True)
    for name in kinds.keys() & inner.kinds.keys():
        inner.kinds[name].start = kinds[name]

    def make() -> list[Stmt]:
        params = [inner.parameter(("value", n), n, OWN.get(k, k), n, inner.place(definition)) for n, k in kinds.items()]
        made = block(inner, body, Scope(function=True))
        first = []
        for name in (name for name in inner.kinds if name in inner.device_names and name != RESULT):
            dtype = inner.kinds[name].dtype or "int64"
            start = params[list(kinds).index(name)] if name in kinds else Const(0, dtype)
            first.append(Declare(inner.device_name(name), dtype, (), as_type(Value(start, frozenset()), dtype)))
        return [*first, *made]

    made = settle(inner, make)
    params = tuple((inner.params["value", n].name, inner.params["value", n].dtype) for n in kinds)
    result = inner.kinds[RESULT]
    dtype = result.dtype or device(next(iter(result.kinds)))
    name = f"{function.__name__}_{len(ctx.shared.functions)}"
    ctx.shared.functions[key] = Function(name, dtype, params, tuple(made))
    ctx.shared.results[key] = result.kinds


def settle(ctx: Context, make: Callable[[], Any]) -> Any:
    """What *make* makes once all types are known.  Raises `NompError` with everything found wrong."""
    while True:
        before = ctx.known()
        ctx.begin()
        made = make()
        if ctx.known() == before:
            break
    if ctx.diagnostics:
        raise NompError(tuple(dict.fromkeys(ctx.diagnostics)))
    if ctx.unknown is not None:
        name, node = ctx.unknown
        raise ctx.refusal("N237", node, f"'{name}' has no value here", "assign to it before")
    return made


def _counters(body: list[ast.stmt]) -> set[str]:
    """The targets of loops that nothing but these loops use."""
    module = ast.Module(body, [])
    found = analyse(body, function=True)
    return counters_of(module, found.after, found.of(body, frozenset(), frozenset(), frozenset()))


def counters_of(module: ast.AST, after: Mapping[ast.stmt, frozenset[str]], shared: frozenset[str]) -> set[str]:
    """The names in *module* that nothing but ``for`` sets and that are not read after an inner loop, but *shared*."""
    loops = [n for n in ast.walk(module) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)]
    targets = {id(loop.target) for loop in loops}
    others = {n.id for n in ast.walk(module)
              if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in targets}  # fmt: skip
    names = {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}
    inner = [loop for loop in loops if loop is not module]
    late = {loop.target.id for loop in inner if isinstance(loop.target, ast.Name) and loop.target.id in after[loop]}
    return names - others - late - shared


def _returns(body: list[ast.stmt]) -> bool:
    """Whether *body* always ends with a return."""
    last = body[-1]
    match last:
        case ast.Return():
            return True
        case ast.If(body=then, orelse=orelse):
            return bool(orelse) and _returns(then) and _returns(orelse)
        case ast.While(test=ast.Constant(value=True), body=inner):
            return not any(isinstance(node, ast.Break) for stmt in inner for node in ast.walk(stmt))
    return False


def _surroundings(ctx: Context, function: FunctionType, names: frozenset[str]) -> dict[str, Given]:
    """What *function* finds under *names*, outside of itself."""
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found: dict[str, Given] = {}
    for name in sorted(names):
        if name in closure:
            contents = found_in(closure[name], "cell_contents")
            found[name] = _outside(contents)
            ctx.shared.guard(name, closure[name], "cell_contents", contents)
        elif name in function.__globals__:
            found[name] = _outside(function.__globals__[name])
            ctx.shared.guard(name, function.__globals__, name, function.__globals__[name])
        elif hasattr(builtins, name):
            found[name] = Static(getattr(builtins, name))
    return found


def _outside(found: Any) -> Given:
    if isinstance(found, np.ndarray):
        return Unusable("an array", "give the function the element that it needs")
    return found if isinstance(found, Unset) else Static(found)
