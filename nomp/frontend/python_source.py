"""The text of Python files as trees, and the functions in them.

In: a file's name, or a function.  Out: its tree, and the node of the function.  Used by `frontend.python` and, for
functions that loops call, by `python_functions`.
"""

from __future__ import annotations

import ast
import io
import linecache
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType

from nomp.diagnostics import Span, error, register_source

REGISTRY = "__nomp__"
"""The name in a module under which its loops are found."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A file of Python: its name, its *text*, its *tree* and its *lines*, as Python counts them, with their ends."""

    file: str
    text: str
    tree: ast.Module
    lines: tuple[str, ...]


@lru_cache(maxsize=64)
def parsed(file: str, text: str) -> Text:
    """*text*, which *file* has.  Raises N230 where it is no Python."""
    register_source(file, text)
    try:
        return Text(file, text, ast.parse(text, file), tuple(io.StringIO(text)))
    except SyntaxError as problem:
        span = Span(file, problem.lineno or 1, problem.offset or 1)
        raise error("N230", f"this is no Python: {problem.msg}", span, help="see whether python runs it") from None


def of(function: FunctionType) -> Text:
    """The file in which *function* is written.  Raises N230 where it cannot be had."""
    file = function.__code__.co_filename
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file, function.__globals__))
    if not text:
        message = f"the text of '{function.__qualname__}' cannot be had: there is no file '{file}'"
        raise error("N230", message, help="define the function in a file, or in a notebook's cell")
    return parsed(file, text)


def node_of(function: FunctionType) -> tuple[Text, FunctionNode]:
    """The text and the definition of *function*.  Raises N230 where there is none, or the file has changed."""
    text, code = of(function), function.__code__
    for node in _definitions(text).get((code.co_name, code.co_firstlineno), []):
        if is_loaded(function) or _is_current(text, node, code):
            return text, node
    message = f"'{function.__qualname__}' is not defined in line {code.co_firstlineno} of '{text.file}' (any more)"
    raise error("N230", message, help="start the program again if the file has changed; give lambdas a 'def'")


def is_loaded(function: FunctionType) -> bool:
    """Whether the loops in the file of *function* are calls already, as `nomp run` and notebooks make them, so that its
    code is not what the file says."""
    return function.__code__.co_filename in getattr(function.__globals__.get(REGISTRY), "files", ())


def _is_current(text: Text, node: FunctionNode, code: CodeType) -> bool:
    """Whether *node* of *text* is what *code* was made of, as far as lines tell where others rewrite assertions."""
    made = _codes(text).get((code.co_name, code.co_firstlineno), [])
    if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
        return any({line for *_, line in c.co_lines()} == {line for *_, line in code.co_lines()} for c in made)
    return any(c.co_code == code.co_code and _constants(c) == _constants(code) for c in made)


def _constants(code: CodeType) -> list[str]:
    return [repr(constant) for constant in code.co_consts if not isinstance(constant, CodeType)]


@lru_cache(maxsize=64)
def _definitions(text: Text) -> dict[tuple[str, int], list[FunctionNode]]:
    """The functions of *text* by their names and first lines."""
    found = defaultdict(list)
    for node in ast.walk(text.tree):
        if isinstance(node, FunctionNode):
            found[node.name, first_line(node)].append(node)
    return dict(found)


@lru_cache(maxsize=64)
def _codes(text: Text) -> dict[tuple[str, int], list[CodeType]]:
    """What Python makes of these functions."""
    found = defaultdict(list)
    for code in codes(compile(text.tree, text.file, "exec", dont_inherit=True)):
        found[code.co_name, code.co_firstlineno].append(code)
    return dict(found)


def first_line(node: ast.stmt) -> int:
    """The line in which *node* begins for Python: that of its first decorator, if it has any."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def codes(code: CodeType) -> Iterator[CodeType]:
    """*code* and that of all functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)
