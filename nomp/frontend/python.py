"""The Python front end: files with nomp pragmas to the loops that become kernels, and the file without them.

In: the text of a file, or one function of it.  Out: `Program`: a tree in which each annotated loop has become a call,
and a `Loop` for each, which `runtime.python` translates when it knows the types.  Called by `runtime.jit`, `loader` and
`notebook`.  Raises `NompError` N1xx, N202, N204, N205 and N230.

    #pragma nomp for                         __nomp_made__ = __nomp__["app.py:3"](range(n), a, s)
    for i in range(n):             becomes   if __nomp_made__ is not None:
        s += a[i]                                i, s = __nomp_made__

Variables that the loop shares with its surroundings may have no value yet: these are passed as `UNSET`.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from nomp.diagnostics import error
from nomp.frontend.python_names import Liveness, Names, analyse, ordered_reads, reads, stores
from nomp.frontend.python_pragmas import Site, sites
from nomp.frontend.python_regions import Loop
from nomp.frontend.python_source import REGISTRY, FunctionNode, Text, first_line
from nomp.pragma import Section

__all__ = ["REGISTRY", "Loop", "Program", "rewritten"]

_MADE = "__nomp_made__"


@dataclass(frozen=True, slots=True)
class Program:
    """The *tree* of a file, or of one function, whose annotated loops are calls that know *loops* by these names."""

    tree: ast.Module
    loops: dict[str, Loop]


def rewritten(text: Text, function: FunctionNode | None = None) -> Program:
    """*text* with its directives carried out; for a *function* that alone, with what it is compiled in."""
    first, last = (first_line(function), function.end_lineno) if function else (1, None)
    tree = copy.deepcopy(_around(text.tree, function) if function else text.tree)
    loops: dict[str, Loop] = {}
    liveness: dict[int, Liveness] = {}
    changes: list[tuple[Site, list[ast.stmt]]] = []
    for site in sites(text, tree, first, last):
        around = site.function.body if site.function else tree.body
        if site.pragma.directive != "for":
            changes.append((site, [_directive(site)]))
            continue
        if id(around) not in liveness:
            liveness[id(around)] = analyse(around, function=site.function is not None)
        loop = _loop(site, text, liveness[id(around)])
        loops[_key(loop)] = loop
        changes.append((site, _launch(loop)))
    for site, made in reversed(changes):
        node = site.body[site.index] if site.index < len(site.body) else site.body[-1]
        for stmt in made:
            _locate(stmt, node if site.pragma.directive == "for" else _here(site))
        end = site.index + 1 if site.pragma.directive == "for" else site.index
        site.body[site.index : end] = made
    return Program(tree, loops)


def _around(tree: ast.Module, function: FunctionNode) -> ast.Module:
    """The statement of the module that *function* is, or is in, and those that say how it is compiled."""
    flags = [stmt for stmt in tree.body if isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__"]
    holds = [stmt for stmt in tree.body if first_line(stmt) <= function.lineno <= (stmt.end_lineno or 0)]
    return ast.Module([*flags, *holds], [])


def _key(loop: Loop) -> str:
    return f"{loop.file}:{loop.line}"


def _here(site: Site) -> ast.stmt:
    span = site.pragma.span
    return ast.Pass(lineno=span.line, col_offset=span.column - 1, end_lineno=span.line, end_col_offset=span.column)


def _locate(stmt: ast.stmt, at: ast.stmt) -> None:
    """Give what is new in *stmt* the place *at*, so that tracebacks show the user's line."""
    for node in ast.walk(stmt):
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.keyword) and not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = at.lineno
            node.col_offset = node.end_col_offset = at.col_offset


def _loop(site: Site, source: Text, liveness: Liveness) -> Loop:
    node, clauses = site.body[site.index], site.pragma.clauses
    assert isinstance(node, ast.For) and clauses is not None
    _check_header(source.file, node)
    counter = stores(node.target)
    assigned = _assigned(node)
    shared: Names = (liveness.iteration[node] - counter) & assigned
    late = liveness.after[node] & (assigned | counter)
    mentioned = ordered_reads(node.iter, *node.body, *_augmented(node))
    wanted = {clause.text for clause in clauses.jit}
    names = [n for n in dict.fromkeys((*mentioned, *sorted(wanted | shared)))
             if n in shared or n not in assigned | counter | _inner_names(node)]  # fmt: skip
    text = tuple(line.rstrip("\r\n") for line in source.lines[site.line - 1 : node.end_lineno])
    results = tuple(name for name in sorted(late | shared) if name not in counter or name in late)
    seen = liveness.always & (assigned | counter)
    return Loop(source.file, site.line, node, clauses, tuple(names), shared, results, liveness.after, seen, text)


def _assigned(node: ast.For) -> Names:
    """The variables that the body of *node* sets."""
    inner = [part for stmt in node.body for part in ast.walk(stmt)]
    scopes = [part for part in inner if isinstance(part, ast.comprehension)]
    return stores(*node.body) - stores(*(scope.target for scope in scopes))


def _augmented(node: ast.For) -> list[ast.AST]:
    return [part for part in ast.walk(node) if isinstance(part, ast.AugAssign)]


def _inner_names(node: ast.For) -> Names:
    """The names that comprehensions and lambdas in *node* have for themselves: these are refused, when it is run."""
    inner = list(ast.walk(node))
    arguments = [a.arg for part in inner if isinstance(part, ast.Lambda) for a in part.args.args]
    return stores(*(p.target for p in inner if isinstance(p, ast.comprehension))) | frozenset(arguments)


def _check_header(file: str, node: ast.For) -> None:
    """What can be said of the header before the loop is run."""
    from nomp.frontend.python_context import Context, Shared, Static
    from nomp.frontend.python_statements import range_arguments

    range_arguments(Context(file, {"range": Static(range)}, set(), Shared()), node)


def _launch(loop: Loop) -> list[ast.stmt]:
    """The call that stands for *loop*, and what brings its results to the program's variables."""
    named = [node for node in ast.walk(loop.node) if isinstance(node, ast.Name)]
    places = {node.id: node for node in reversed(named) if isinstance(node.ctx, ast.Load)}
    before = [_before(name) for name in sorted(loop.shared)]
    arguments: list[ast.expr] = [loop.node.iter]
    arguments += [_name(f"__nomp_{n}__") if n in loop.shared else _read(n, places) for n in loop.arguments]
    call = ast.Call(ast.Subscript(_name(REGISTRY), ast.Constant(_key(loop)), ast.Load()), arguments, [])
    if not loop.results:
        return [*before, ast.Expr(call)]
    stored = ast.Tuple([ast.Name(name, ast.Store()) for name in loop.results], ast.Store())
    test = ast.Compare(_name(_MADE), [ast.IsNot()], [ast.Constant(None)])
    later: list[ast.stmt] = [ast.Assign([stored], _name(_MADE))]
    for name in sorted(loop.shared & set(loop.results)):
        unset = ast.Compare(_name(name), [ast.Is()], [ast.Attribute(_name(REGISTRY), "unset", ast.Load())])
        later.append(ast.If(unset, [ast.Delete([ast.Name(name, ast.Del())])], []))
    return [*before, ast.Assign([ast.Name(_MADE, ast.Store())], call), ast.If(test, later, [])]


def _before(name: str) -> ast.stmt:
    """The value of the variable *name*, which the loop may set before anything reads it."""
    kept = ast.Name(f"__nomp_{name}__", ast.Store())
    unset = ast.Attribute(_name(REGISTRY), "unset", ast.Load())
    handler = ast.ExceptHandler(_name("NameError"), None, [ast.Assign([copy.deepcopy(kept)], unset)])
    return ast.Try([ast.Assign([kept], _name(name))], [handler], [], [])


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _read(name: str, places: dict[str, ast.Name]) -> ast.Name:
    """*name*, where it is first mentioned, so that a NameError shows that line."""
    made = _name(name)
    return ast.copy_location(made, places[name]) if name in places else made


def _directive(site: Site) -> ast.stmt:
    """``__nomp__.update("to", ("a", a, None, None, None))``, ``__nomp__.sync()`` ..."""
    pragma = site.pragma
    function = ast.Attribute(_name(REGISTRY), str(pragma.directive), ast.Load())
    arguments: list[ast.expr] = []
    if pragma.directive == "update":
        assert pragma.direction is not None
        arguments = [ast.Constant(str(pragma.direction)), *(_section(section) for section in pragma.sections)]
    keywords = [ast.keyword("file", ast.Constant(pragma.span.file)), ast.keyword("line", ast.Constant(site.line))]
    return ast.Expr(ast.Call(function, arguments, keywords))


def _section(section: Section) -> ast.expr:
    parts = [_parsed(section, text) for text in (section.start, section.end, section.length)]
    return ast.Tuple([ast.Constant(str(section.base)), _parsed(section, section.base), *parts], ast.Load())


def _parsed(section: Section, text: str | None) -> ast.expr:
    if text is None:
        return ast.Constant(None)
    try:
        found = ast.parse(text, mode="eval").body
    except SyntaxError:
        message = f"'{text}' is no expression of Python's"
        raise error("N106", message, section.span, help="write the array, or a[start, end]") from None
    for node in ast.walk(found):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, name):
                delattr(node, name)
    assert not reads(found) & {REGISTRY}
    return found
