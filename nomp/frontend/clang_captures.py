"""What a region takes from the host program: its parameters, and which of the host's variables it writes.

In: the statements of a region.  Out: the `Context`'s *params* (names given before any counter or local of the region
gets one), *written*, *counted* and *records*.  Called by `frontend.clang_regions` before it translates the statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from clang.cindex import CursorKind, StorageClass, TypeKind

from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, Type
from nomp.frontend.clang_callees import inlined
from nomp.frontend.clang_constants import constant_of, is_table
from nomp.frontend.clang_context import DEEPEST, Context, Key
from nomp.frontend.clang_expressions import value
from nomp.frontend.clang_headers import assigned
from nomp.frontend.clang_paths import Path, path_of
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_types import Layout, dtype_of, is_pointer, is_record, layout_of
from nomp.region import Const, Expr, Param, ParamKind, Region, Var

_UNEVALUATED = (CursorKind.CXX_UNARY_EXPR,)  # sizeof, _Alignof


@dataclass(slots=True)
class Uses:
    """What the statements of a region, and the functions whose text stands in for their call, mention.

    *counters* are the variables that loops count with but do not declare in their header, *strays* those that are
    used outside such loops too, *addressed* those whose address is taken.  *records* are the pointers to structs that
    are subscripted or moved; *foreign* the paths that functions mention, with the place of the mention.
    """

    declared: set[Key] = field(default_factory=set)
    paths: list[tuple[Cursor, Path]] = field(default_factory=list)
    foreign: list[tuple[Cursor, Path]] = field(default_factory=list)
    written: dict[Key, Cursor] = field(default_factory=dict)
    counters: set[Key] = field(default_factory=set)
    strays: set[Key] = field(default_factory=set)
    addressed: set[Key] = field(default_factory=set)
    records: set[Key] = field(default_factory=set)
    calling: list[Cursor] = field(default_factory=list)


def uses_of(ctx: Context, statements: Iterable[Cursor]) -> Uses:
    """Everything that *statements* declare, read, write and count with.  Raises N220 for too deep a nest."""
    uses = Uses()
    for statement in statements:
        _visit(ctx, statement, uses, ())
    return uses


def counted_by(loop: Cursor) -> Key | None:
    """The variable that the header of *loop* assigns first, None where it declares one or does neither."""
    target = assigned(loop)
    path = path_of(target) if target is not None else None
    return path.key if path and path.field is None else None


def _visit(ctx: Context, cursor: Cursor, uses: Uses, around: tuple[Key | None, ...]) -> None:
    """Note what *cursor* uses; *around* has the counter, if any, of each node that it stands in."""
    if cursor.kind in _UNEVALUATED:
        return
    if len(around) > DEEPEST:
        advice = "give parts of it names: assign them to variables first"
        raise ctx.refusal("N220", cursor, "this expression is nested too deeply", advice)
    if cursor.kind == CursorKind.VAR_DECL:
        uses.declared.add(ast.key(cursor))
    path = path_of(cursor)
    if path:
        _use(cursor, path, uses, around)
        return
    counter = counted_by(cursor) if cursor.kind == CursorKind.FOR_STMT else None
    if counter:
        uses.counters.add(counter)
    _note_write(cursor, uses, counting=counter is not None)
    if cursor.kind == CursorKind.UNARY_OPERATOR and ast.operator(cursor) == "&":
        taken = path_of(ast.children(cursor)[0])
        uses.addressed |= {taken.key} if taken is not None else set()
        if taken is not None and is_record(taken.type):
            uses.paths.append((cursor, taken))  # what is used of it shows when the pointer is followed
            return
        if taken is not None and dtype_of(taken.type):
            uses.written.setdefault(taken.key, cursor)  # perhaps, through the pointer
    if cursor.kind == CursorKind.CALL_EXPR:
        _visit_callee(ctx, cursor, uses)
    for child in ast.children(cursor):
        _visit(ctx, child, uses, (*around, counter))


def _visit_callee(ctx: Context, call: Cursor, uses: Uses) -> None:
    """Note what the function that *call* calls uses, if its text is to stand in for the call."""
    callee = inlined(call)
    if callee is None or callee in uses.calling:
        return
    uses.declared.update(ast.key(declared) for declared in callee.get_arguments())
    inside = Uses(calling=[*uses.calling, callee])
    _visit(ctx, ast.children(callee)[-1], inside, ())
    uses.declared |= inside.declared
    uses.foreign += [(call, path) for _, path in (*inside.paths, *inside.foreign)]
    uses.written = {**dict.fromkeys(inside.written, call), **uses.written}
    uses.counters |= inside.counters
    uses.strays |= inside.strays
    uses.addressed |= inside.addressed
    uses.records |= inside.records


def _use(cursor: Cursor, path: Path, uses: Uses, counting: tuple[Key | None, ...]) -> None:
    uses.paths += [(cursor, part) for part in _parts(path)]
    if is_record(layout_of(path.type).element) and not is_record(path.type):
        uses.records.add(path.key)
    if path.key not in counting:
        uses.strays.add(path.key)


def _note_write(cursor: Cursor, uses: Uses, *, counting: bool) -> None:
    target = written_by(cursor)
    path = path_of(target) if target is not None and not counting else None
    for part in _parts(path) if path else ():
        uses.written.setdefault(part.key, cursor)


def _holds_numbers(type_: Type) -> bool:
    """Whether all members of the struct *type_* are numbers, arrays of them or such structs."""
    layouts = [layout_of(member.type) for member in type_.get_canonical().get_fields()]
    return all(
        None not in found.extents and (found.dtype or (is_record(found.element) and _holds_numbers(found.element)))
        for found in layouts
    )


def _parts(path: Path) -> Iterator[Path]:
    """*path* itself, or all members of the struct that it is, nested ones included, if they are all numbers."""
    if not is_record(path.type) or not _holds_numbers(path.type):
        yield path
        return
    for member in path.type.get_canonical().get_fields():
        yield from _parts(path.member(member))


def written_by(cursor: Cursor) -> Cursor | None:
    """The lvalue that *cursor* itself assigns to, None if it assigns to none."""
    operator = ast.operator(cursor)
    assigns = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR or operator == "="
    if assigns or operator.replace("x", "") in ("++", "--"):
        return ast.children(cursor)[0]
    return None


# ----------------------------------------------------------------------------------------------------- parameters


def capture(ctx: Context, uses: Uses, site: Site) -> None:
    """Make a parameter of each host variable in *uses*, in the order of first use, sizes of arrays after them."""
    note(ctx, uses)
    plain_first = sorted(uses.paths, key=lambda use: use[1].field is not None)  # variables keep their own names
    outer = [path for _, path in (*uses.paths, *uses.foreign) if ast.key(path.root) not in uses.declared]
    members = [path for path in outer if path.field is not None and path.key in ctx.written]
    for cursor, path in plain_first:
        if ast.key(path.root) not in uses.declared and path.key not in ctx.counted:
            with ctx.collecting():
                if path.key not in ctx.locals:
                    _refuse_alias(ctx, cursor, path, members)
                capture_path(ctx, cursor, path, site)
    visible = site.visible() if uses.foreign else {}
    for cursor, path in uses.foreign:
        if ast.key(path.root) not in uses.declared:
            with ctx.collecting():
                _refuse_hidden(ctx, cursor, path, visible)
                _refuse_alias(ctx, cursor, path, members)
                capture_path(ctx, cursor, path, site)


def note(ctx: Context, uses: Uses) -> None:
    """Put into the context what *uses* says of variables declared, written and counted with."""
    ctx.locals.update((key, None) for key in uses.declared)
    ctx.plain |= uses.counters & uses.strays
    ctx.counted = uses.counters - ctx.plain
    ctx.written = (set(uses.written) | uses.counters) - ctx.counted | ctx.late
    ctx.records = uses.records
    ctx.addressed = uses.addressed


def capture_late(ctx: Context, site: Site, cursor: Cursor, path: Path) -> None:
    """Make a parameter of *path*, should *cursor* mean a member by a pointer to a struct."""
    if path.field is not None and ast.key(path.root) not in ctx.locals:
        _refuse_alias(ctx, cursor, path, [])
        capture_path(ctx, cursor, path, site)


def _refuse_hidden(ctx: Context, cursor: Cursor, path: Path, visible: dict[str, Cursor]) -> None:
    """Refuse a variable of the program that a called function uses and that cannot be named where the region stands."""
    root = visible.get(path.root.spelling)
    if root is None or ast.key(root) != ast.key(path.root):
        ctx.locals[path.key] = None
        advice = "pass it to the function"
        message = f"'{cursor.spelling}' uses '{path.host}', which cannot be seen here"
        raise ctx.refusal("N208", cursor, message, advice)


def _refuse_alias(ctx: Context, cursor: Cursor, path: Path, written: list[Path]) -> None:
    """Refuse ``s->n`` where the loop writes ``t->n`` (*s* and *t* may point to one struct), and writes to unions.

    *written* are the members that the loop writes.
    """
    if path.key in ctx.written and path.union:
        ctx.locals[path.key] = None
        advice = "use a variable of its own for the value"
        raise ctx.refusal("N211", cursor, f"'{path.host}', a member of a union, is written", advice)
    for other in written if path.field is not None else ():
        if other.field == path.field and other.key != path.key and "*" in (*path.key, *other.key):
            ctx.locals[path.key] = None
            advice = "copy one of the two to a variable before the loop"
            message = f"'{path.host}' may be the same variable as '{other.host}', which the loop writes"
            raise ctx.refusal("N211", cursor, message, advice)


def capture_path(ctx: Context, cursor: Cursor, path: Path, site: Site) -> None:
    """Make a parameter of *path*, which *cursor* mentions, if it is none yet."""
    if path.key in ctx.params or path.key in ctx.locals or is_record(path.type):
        return
    _refuse_volatile(ctx, cursor, path)
    if ctx.is_element(path.key) or constant_of(path) is not None:
        return
    dtype = dtype_of(path.type)
    if dtype:
        _capture_scalar(ctx, cursor, path, dtype)
        return
    layout = layout_of(path.type)
    ctx.locals[path.key] = None  # until it is accepted: later uses of what is refused here stay silent
    if path.key in ctx.written and is_pointer(path.type):
        advice = "use a subscript that changes instead"
        raise ctx.refusal("N211", cursor, f"pointer '{path.host}' changes in the loop", advice)
    if layout.element.kind == TypeKind.FUNCTIONPROTO:
        return  # the call is refused
    if layout.extents and is_record(layout.element):
        del ctx.locals[path.key]
        return  # each member becomes an array where it is used
    if not layout.extents or layout.dtype is None:
        raise _unusable(ctx, cursor, path, layout)
    del ctx.locals[path.key]
    kind: ParamKind = "table" if is_table(path, layout) else "array"
    param = Param(ctx.names.unique(path.name), layout.dtype, kind, path.host, (None,), place=ctx.place(cursor))
    ctx.params[path.key] = param
    if path.union:
        ctx.unions.add(path.key)
    ctx.params[path.key] = replace(param, shape=_shape(ctx, cursor, path, layout, site))


def _capture_scalar(ctx: Context, cursor: Cursor, path: Path, dtype: str) -> None:
    name = f"{path.name}_last" if path.key in ctx.plain else path.name  # its loops' counters have the plain name
    name, place = ctx.names.unique(name), ctx.place(cursor)
    if path.key in ctx.written:
        ctx.params[path.key] = Param(name, dtype, "cell", f"&({path.host})", writes=True, place=place)
    else:
        ctx.params[path.key] = Param(name, dtype, "scalar", path.host, place=place)
        ctx.scalars[path.key] = path
    if path.field is not None:
        ctx.fields[path.key] = path.field


def by_address(ctx: Context, site: Site, region: Region) -> Region:
    """*region* with the address as *host* of each scalar that what it writes may be: the runtime sees if it is."""
    written = {param.dtype for param in region.params if param.writes and param.kind in ("array", "cell")}
    places = {
        ctx.params[key].name: f"&({path.host})"
        for key, path in ctx.scalars.items()
        if any(_may_be(ctx.params[key].dtype, dtype) for dtype in written) and _is_reachable(path, site)
    }
    params = (replace(p, host=places[p.name]) if p.kind == "scalar" and p.name in places else p for p in region.params)
    return replace(region, params=tuple(params))


def _may_be(dtype: str, other: str) -> bool:
    """Whether C lets a variable of the one type be accessed as the other (C11 6.5p7): signedness aside, or as bytes."""
    return dtype.removeprefix("u") == other.removeprefix("u") or other.removeprefix("u") == "int8"


def _is_reachable(path: Path, site: Site) -> bool:
    """Whether a pointer may point to *path* in the function around: its address is taken, or may be elsewhere."""
    root, through_pointer = path.root, "*" in path.key
    if root.storage_class == StorageClass.REGISTER or (path.field is not None and path.field.is_bitfield()):
        return False
    if path.type.is_const_qualified() and not through_pointer:
        return False
    elsewhere = root.semantic_parent.kind == CursorKind.TRANSLATION_UNIT
    return through_pointer or elsewhere or path.key[:2] in site.addressed()


def _refuse_volatile(ctx: Context, cursor: Cursor, path: Path) -> None:
    canonical = path.type.get_canonical()
    if canonical.is_volatile_qualified() or "_Atomic" in canonical.spelling:
        ctx.locals[path.key] = None
        advice = "copy it to an ordinary variable before the loop"
        raise ctx.refusal("N210", cursor, f"'{path.host}' is volatile or atomic", advice)


def _unusable(ctx: Context, cursor: Cursor, path: Path, layout: Layout) -> NompError:
    type_ = path.type.spelling
    if is_pointer(layout.element):
        advice = "use one array with two subscripts, or a pointer to one row"
        what = "points to pointers" if is_pointer(path.type) else "is an array of pointers"
        return ctx.refusal("N211", cursor, f"'{path.host}' {what} ('{type_}')", advice)
    advice = "kernels compute with _Bool, integers, float and double"
    return ctx.refusal("N210", cursor, f"'{path.host}' has type '{type_}', which cannot be used in a kernel", advice)


# --------------------------------------------------------------------------------------------------------- shapes


def _shape(ctx: Context, cursor: Cursor, path: Path, layout: Layout, site: Site) -> tuple[Expr | None, ...]:
    """An expression for each extent of the array *path*, None where C gives none: the first one of a parameter."""
    loose = path.root.kind == CursorKind.PARM_DECL and path.field is None
    shape: list[Expr | None] = []
    for rank, (extent, size) in enumerate(zip(layout.extents, sizes_of(path.root, layout), strict=True)):
        if extent is None or (loose and rank == 0):
            shape.append(None)
        elif isinstance(extent, int):
            shape.append(Const(extent, "int64"))
        else:
            shape.append(_variable_extent(ctx, cursor, path.root, size, site, (path.host, rank)))
    return tuple(shape)


def sizes_of(declared: Cursor, layout: Layout) -> list[Cursor | None]:
    """The expression in its declaration for each of the extents of an array, as far as there are any."""
    first = ast.initialiser(declared) if declared.kind == CursorKind.VAR_DECL else None
    inside = (child for child in ast.children(declared) if child.kind.is_expression())
    found = [child for child in inside if first is None or child != first]
    sizes = iter(found[::-1] if "" in layout.extents else ())
    return [None if extent is None else next(sizes, None) for extent in layout.extents]


def _variable_extent(
    ctx: Context, cursor: Cursor, declared: Cursor, size: Cursor | None, site: Site, host: tuple[str, int]
) -> Expr:
    """The extent *size* over parameters, or a parameter of its own where its variables may have changed since."""
    if size is None:
        return _measured(ctx, cursor, *host)
    mentioned = [path for inner in ast.walk(size) if (path := path_of(inner))]
    visible = site.visible()
    if any(path.field is not None or not _still(path, visible, declared, site) for path in mentioned):
        return _measured(ctx, cursor, *host)
    for path in mentioned:
        capture_path(ctx, cursor, path, site)
    return value(ctx, size)


def _still(path: Path, visible: dict[str, Cursor], declared: Cursor, site: Site) -> bool:
    """Whether the variable *path* has, at the region, the value that it had where *declared* was declared."""
    if path.host not in visible or ast.key(visible[path.host]) != path.key[:2]:
        return False
    if path.type.is_const_qualified():
        return True
    if path.root.semantic_parent.kind == CursorKind.TRANSLATION_UNIT:
        return False  # any function may change it
    later = (inner for inner in ast.walk(site.function) if ast.begin(inner) > ast.end(declared))
    return path.key not in site.addressed() and not any(may_change(inner, path.key) for inner in later)


def may_change(cursor: Cursor, key: Key) -> bool:
    """Whether *cursor* writes what *key* stands for, or takes its address."""
    taken = cursor.kind == CursorKind.UNARY_OPERATOR and ast.operator(cursor) == "&"
    target = ast.children(cursor)[0] if taken else written_by(cursor)
    found = path_of(target) if target is not None else None
    return found is not None and found.key == key


def _measured(ctx: Context, cursor: Cursor, host: str, rank: int) -> Expr:
    """A parameter that the host program computes from the array's own type."""
    part = f"({host})" + "[0]" * rank
    name = f"{host}_extent{rank}"
    key = (name,)
    if key not in ctx.params:
        text = f"sizeof({part}) / sizeof({part}[0])"
        ctx.params[key] = Param(ctx.names.unique(name), "uint64", "scalar", text, place=ctx.place(cursor))
    return Var(ctx.params[key].name, "uint64")
