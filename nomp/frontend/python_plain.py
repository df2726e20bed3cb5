"""An annotated loop as plain Python, to be run beside its kernel (`runtime.verify`).

In: a `Loop`.  Out: a function of the loop's range and objects that does what the program says, in place, and returns
the variables.  Called by `runtime.python`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from nomp.frontend.python_context import UNSET
from nomp.frontend.python_regions import Loop

_STEPS, _UNSET, _LOCALS = "__nomp_steps__", "__nomp_unset__", "__nomp_locals__"


def plain(loop: Loop) -> Callable[..., dict[str, Any]]:
    """*loop* as a function of its range and the objects for `Loop.arguments`; its traceback shows the user's lines."""
    node = loop.node
    load = ast.Load()
    unset = [
        ast.If(ast.Compare(ast.Name(name, load), [ast.Is()], [ast.Name(_UNSET, load)]),
               [ast.Delete([ast.Name(name, ast.Del())])], [])
        for name in sorted(loop.shared)
    ]  # fmt: skip
    body = [
        *unset,
        ast.copy_location(ast.For(node.target, ast.Name(_STEPS, load), node.body, []), node),
        ast.Return(ast.Call(ast.Name(_LOCALS, load), [], [])),
    ]
    names = [ast.arg(name) for name in (_STEPS, *loop.arguments)]
    made = ast.copy_location(
        ast.FunctionDef("loop", ast.arguments([], names, None, [], [], None, []), body, []), node
    )
    code = compile(ast.fix_missing_locations(ast.Module([made], [])), loop.file, "exec", dont_inherit=True)
    function = next(part for part in code.co_consts if isinstance(part, CodeType))
    return FunctionType(function, {"__builtins__": builtins, _UNSET: UNSET, _LOCALS: locals})
