"""One annotated loop, or one function of the C API, to a `Region`.

In: the cursors of its statements and the pragma's clauses.  Out: the typed `Region`.  Called by `frontend.clang`.
Raises `NompError` with everything found wrong in the region.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from nomp.diagnostics import Diagnostic, NompError, Span, did_you_mean, error
from nomp.frontend import clang_ast as ast
from nomp.frontend import last_values, private, reductions
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_captures import Uses, by_address, capture, capture_late, capture_path, uses_of
from nomp.frontend.clang_constants import constant_of
from nomp.frontend.clang_context import Again, Callees, Context, Key, position
from nomp.frontend.clang_functions import definer, inliner
from nomp.frontend.clang_initialisers import literal
from nomp.frontend.clang_paths import Path
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_statements import stored
from nomp.frontend.clang_statements import translate as translate_statement
from nomp.frontend.clang_types import dtype_of
from nomp.frontend.clang_writer import Writer
from nomp.frontend.usage import with_use
from nomp.pragma import ForClauses
from nomp.pragma import Name as JitName
from nomp.region import NOWHERE, Assign, Clauses, Place, Reduction, Region, Var
from nomp.walks import walk


def translate(
    statements: Sequence[Cursor], clauses: ForClauses, site: Site, region: Region, *, whole_function: bool = False
) -> Region:
    """*region*, which has its name, lines and text, with parameters, body and clauses.

    *whole_function* (the C API): the function's parameters are the region's, all of them and in their order, and a
    reduction overwrites its variable.
    """
    plain: set[Key] = set()
    late: set[Key] = set()
    while True:  # until it is known which counters need variables, and what is written through pointers to structs
        try:
            return _translate(statements, clauses, site, region, (plain, late), whole_function)
        except Again:
            continue


def _translate(
    statements: Sequence[Cursor], clauses: ForClauses, site: Site, region: Region, known: tuple[set[Key], set[Key]],
    whole: bool,
) -> Region:  # fmt: skip
    callees, (plain, late) = Callees(definer(site, translate_statement, stored)), known
    ctx = Context(site.source, site.source, callees, tuple(name.text for name in clauses.jit), plain, late=late)
    uses = uses_of(ctx, statements)
    if whole:
        _function_parameters(ctx, site, uses)
    capture(ctx, uses, site)
    with ctx.collecting():
        clauses = replace(clauses, jit=tuple(_capture_jit(ctx, clauses.jit, site)))
    writer = Writer(ctx, site, translate_statement)
    ctx.inline, ctx.store, ctx.capture = inliner(writer), partial(stored, ctx), partial(capture_late, ctx, site)
    ctx.literal = partial(literal, ctx)
    body = writer.block(list(statements))
    if whole:
        _refuse_others(ctx, site)
    functions = tuple(callees.functions.values())
    region = replace(region, params=with_use(tuple(ctx.params.values()), body), body=body, functions=functions)
    _refuse_shared_members(ctx, region)
    _refuse_shared_arrays(ctx, region)
    _refuse_lost_writes(ctx, region)
    if not ctx.failed:
        _keep_last_values(ctx, region)
        region = _with_clauses(ctx, region, clauses)
        region = replace(region, overwrite=whole and bool(region.clauses.reductions))
        region = region if whole else by_address(ctx, site, region)
    if ctx.failed:
        raise NompError(tuple(sorted(ctx.diagnostics or [_unexplained(region)], key=position)))
    return region


def _refuse_shared_members(ctx: Context, region: Region) -> None:
    """Refuse ``q->x`` where the loop writes it and uses ``p[i].x`` or ``r->x`` too: they may be one variable."""
    for key, other in combinations(ctx.fields, 2):
        if "[]" in other or "*" not in other:
            key, other = other, key
        one, two = (region.param(ctx.params[k].name) for k in (key, other))
        single = "[]" not in other and "*" in other
        if single and ctx.fields[key] == ctx.fields[other] and (one.writes or two.writes):
            with ctx.collecting():
                which = "an element of the array that the loop uses"
                which = which if "[]" in key else f"the same variable as '{one.variable}'"
                advice = "copy one of the two to a variable before the loop"
                raise error("N211", f"'{two.variable}' may be {which}", region.span(two.place), help=advice)


def _refuse_shared_arrays(ctx: Context, region: Region) -> None:
    """Refuse several arrays in unions, one of them written: device compilers take those of two types for distinct."""
    arrays = [region.param(ctx.params[key].name) for key in ctx.unions]
    written = [param for param in arrays if param.writes]
    if len(arrays) > 1 and written:
        with ctx.collecting():
            message = f"'{written[0].variable}', a member of a union, is written"
            advice = "use one member of the union alone, or arrays of their own"
            raise error("N211", message, region.span(written[0].place), help=advice)


def _refuse_lost_writes(ctx: Context, region: Region) -> None:
    """Ask for variables for what the region takes by value but writes by a pointer; refuse what that does not cure."""
    for stmt in walk(region.body):
        if isinstance(stmt, Assign) and isinstance(stmt.target, Var) and stmt.target.name in region.scalars:
            keys = {key for key, param in ctx.params.items() if param.name == stmt.target.name}
            if not keys <= ctx.late:
                ctx.late |= keys
                raise Again
            with ctx.collecting():
                advice = "write the variable itself"
                message = f"'{region.host_name(stmt.target.name)}' is written through a pointer"
                raise error("N211", message, region.span(stmt.place), help=advice)


def _keep_last_values(ctx: Context, region: Region) -> None:
    """Ask for variables for the counters whose last value only the kernel can know."""
    keys = {param.name: key[:-1] for key, param in ctx.params.items() if param.kind == "counter"}
    unknown = last_values.unknown(region.body, region.scalars)
    lost = [keys[loop.final or ""] for loop, _ in unknown if loop not in region.body]
    if lost:
        ctx.plain.update(lost)
        raise Again


def _unexplained(region: Region) -> Diagnostic:
    """Should every error have relied on another one to explain it, the region is refused all the same."""
    advice = "simplify its statements until the one that nomp cannot read is found"
    return Diagnostic("N220", "this loop cannot be translated", region.span(NOWHERE), help=advice)


def _function_parameters(ctx: Context, site: Site, uses: Uses) -> None:
    ctx.written = set(uses.written)
    for declared in site.function.get_arguments():
        path = Path(ast.key(declared), declared.spelling, declared.spelling, declared.type, declared)
        with ctx.collecting():
            if path.key in uses.written and dtype_of(path.type):
                ctx.locals[path.key] = None
                advice = "the caller cannot see the change: use a local variable, or a pointer and reduce"
                raise ctx.refusal("N212", uses.written[path.key], f"parameter '{path.host}' is written", advice)
            capture_path(ctx, declared, path, site)


def _refuse_others(ctx: Context, site: Site) -> None:
    """Refuse what the function uses besides its parameters: the C API could not pass it."""
    names = {declared.spelling for declared in site.function.get_arguments()}
    for param in ctx.params.values():
        if param.host not in names:
            span = Span(site.source.path, *param.place)
            with ctx.collecting():
                advice = "give the function a parameter for it"
                raise error("N219", f"'{param.host}' is not a parameter of the function", span, help=advice)


def _capture_jit(ctx: Context, names: Sequence[JitName], site: Site) -> Iterator[JitName]:
    """Capture the variables of the jit clause that the loop itself does not use; those that are no constants anyway."""
    hosts = {param.host for param in ctx.params.values()}
    visible = site.visible() if any(name.text not in hosts for name in names) else {}
    for name in names:
        declared = visible.get(name.text)
        if name.text not in hosts and declared is None:
            advice = did_you_mean(name.text, visible) or "name a variable that can be seen here"
            raise error("N216", f"there is no variable '{name.text}' here", name.span, help=advice)
        if name.text not in hosts and declared is not None and dtype_of(declared.type):
            path = Path(ast.key(declared), name.text, name.text, declared.type, declared)
            if constant_of(path) is not None:
                continue
            capture_path(ctx, declared, path, site)
        yield name


# -------------------------------------------------------------------------------------------------------- clauses


def _with_clauses(ctx: Context, region: Region, clauses: ForClauses) -> Region:
    """*region* with the clauses that it fits; what does not fit goes to the context."""
    kept = []
    for found in clauses.reductions:
        with ctx.collecting():
            region, name = reductions.apply(region, found)
            kept.append(Reduction(name, found.op, Place(found.span.line, found.span.column, found.span.length)))
    jit = tuple(name for clause in clauses.jit for name in _jit_parameter(ctx, region, clause))
    if (clauses.transforms or clauses.annotations) and len(kept) == len(clauses.reductions):
        cells = {param.name for param in region.params if param.kind == "cell"}
        shared = cells - {reduction.name for reduction in kept}
        region, alone = private.apply(region, shared, ctx.names.unique)
        if clauses.transforms:
            _refuse_shared_cells(ctx, region, shared - alone)
    elif not kept:
        kept = list(reductions.recognised(region))
    _check_last_values(ctx, region)
    return replace(region, clauses=Clauses(clauses.transforms, clauses.annotations, tuple(kept), jit))


def _jit_parameter(ctx: Context, region: Region, clause: JitName) -> tuple[str, ...]:
    found = [param for param in region.params if param.variable == clause.text]
    if found and found[0].kind == "scalar":
        return (found[0].name,)
    what = "is written in the loop" if found and found[0].kind == "cell" else "is not a scalar that the loop reads"
    with ctx.collecting():
        advice = "jit takes scalars that keep their value in the loop"
        raise error("N216", f"'{clause.text}' {what}", clause.span, help=advice)
    return ()


def _refuse_shared_cells(ctx: Context, region: Region, names: set[str]) -> None:
    """Refuse scalars that the region writes where a script may reorder it: their last value would be lost."""
    for param in region.params:
        if param.name in names:
            place = next(s.place for s in walk(region.body) if isinstance(s, Assign) and _writes(s, param.name))
            with ctx.collecting():
                advice = "set it at the beginning of each iteration, or name it in a reduce clause"
                message = f"'{param.variable}', declared outside the loop, is written in it"
                raise error("N212", message, region.span(place), help=advice)


def _writes(stmt: Assign, name: str) -> bool:
    return isinstance(stmt.target, Var) and stmt.target.name == name


def _check_last_values(ctx: Context, region: Region) -> None:
    for loop, why in last_values.unknown(region.body, region.scalars):
        with ctx.collecting():
            name = region.param(loop.final or "").variable
            advice = f"declare the counter in the loop's header: for (int {name} = ..."
            message = f"the last value of '{name}' cannot be kept: its loop {why}"
            raise error("N213", message, region.span(loop.place), help=advice)
