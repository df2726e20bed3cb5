"""``@nomp.jit``, and the loader that ``nomp run`` installs: Python code whose annotated loops are launched.

In: a function, or the text of a module.  Out: the same with each annotated loop replaced by a call of its
`python.AnnotatedLoop`, which the module's registry (``__nomp__``) holds.  Line numbers stay the file's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeVar

from nomp.diagnostics import Span, error
from nomp.frontend import python, python_source
from nomp.frontend.python_regions import Loop
from nomp.runtime.python import AnnotatedLoop, Registry

F = TypeVar("F", bound=Callable[..., Any])


def jit(function: F) -> F:
    """*function* with its annotated loops launched as kernels.

    It stays a plain function, and has two more attributes: ``explain()``, what was made of each loop, and
    ``source(backend)``, the device code of what has been launched.  Errors: N1xx, N2xx; N230 for a function without
    such a loop, or without a file.
    """
    if not isinstance(function, FunctionType):
        what = type(function).__name__
        message = f"nomp.jit takes a function, and this is of type {what}"
        raise error("N230", message, help="put it before 'def', below @staticmethod")
    text, node = python_source.node_of(function)
    program = python.rewritten(text, node)
    if not program.loops:
        span = Span(text.file, node.lineno)
        advice = "write '#pragma nomp for' in the line before a loop, or remove nomp.jit"
        raise error("N230", f"there is no annotated loop in '{function.__name__}'", span, help=advice)
    made: Any = function
    if python_source.is_loaded(function):  # its loops are calls already
        registry = function.__globals__[python.REGISTRY]
    else:
        registry = install(function.__globals__, program.loops)
        code = compile(program.tree, text.file, "exec", dont_inherit=True)
        made = _with_code(function, _code_of(code, function.__code__))
    loops = [registry[key] for key in program.loops]
    made.explain = functools.partial(_explain, loops)
    made.source = functools.partial(_source, loops)
    return made  # type: ignore[no-any-return]


def install(namespace: dict[str, Any], loops: dict[str, Loop]) -> Registry:
    """The registry of the module with *namespace*, with *loops* added; those that it has already keep their kernels."""
    registry: Registry = namespace.setdefault(python.REGISTRY, Registry())
    for key, loop in loops.items():
        before = registry.loops.get(key)
        if before is None or not before.loop.is_like(loop):
            registry.loops[key] = AnnotatedLoop(loop)
            if before is not None:
                before.clear()
    return registry


def _code_of(module: CodeType, function: CodeType) -> CodeType:
    """The code in *module* that takes the place of *function*'s."""
    return next(
        code for code in python_source.codes(module)
        if code.co_name == function.co_name and code.co_firstlineno == function.co_firstlineno
    )  # fmt: skip


def _with_code(function: FunctionType, code: CodeType) -> FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    functools.update_wrapper(made, function)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _explain(loops: list[AnnotatedLoop]) -> str:
    """What is done with each of *loops*, one paragraph each."""
    return "\n".join(loop.explain() for loop in loops)


def _source(loops: list[AnnotatedLoop], backend: str = "opencl") -> str:
    """The source in the language of *backend* of each variant of *loops* that has been launched."""
    return "\n".join(text for loop in loops for text in loop.sources(backend))
