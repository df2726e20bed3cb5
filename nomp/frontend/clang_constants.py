"""Variables that never change: constants are folded, constant tables need no map.

In: the path of a variable.  Out: its value, or whether it is a table.  Called by the modules that capture variables and
translate expressions.
"""

from __future__ import annotations

from clang.cindex import CursorKind, StorageClass

from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_elements import number
from nomp.frontend.clang_paths import Path
from nomp.frontend.clang_types import Layout, dtype_of
from nomp.region import Expr


def constant_of(path: Path) -> Expr | None:
    """The value of a ``const`` variable with a constant initialiser, None for every other variable."""
    dtype = dtype_of(path.type)
    if dtype is None or path.field is not None or not path.type.get_canonical().is_const_qualified():
        return None
    first = initialiser_of(path.root)
    found = ast.evaluate(first) if first is not None and dtype_of(first.type) else None
    return None if found is None else number(found, dtype)


def initialiser_of(declared: Cursor) -> Cursor | None:
    """The initialiser of a variable that *declared* (any of its declarations) declares."""
    if declared.kind != CursorKind.VAR_DECL:
        return None
    definition = declared.get_definition()
    return ast.initialiser(definition if definition is not None else declared)


def is_table(path: Path, layout: Layout) -> bool:
    """Whether *path* is an array, or one in a struct, that is constant, with its values in sight."""
    known = bool(layout.extents) and all(isinstance(extent, int) for extent in layout.extents)
    constant = "*" not in path.key and path.root.type.get_canonical().is_const_qualified()
    return known and constant and initialiser_of(path.root) is not None


def is_static_constant(declared: Cursor) -> bool:
    """Whether *declared*, a ``static`` variable, may be treated as an automatic one."""
    constant = declared.type.get_canonical().is_const_qualified() and ast.initialiser(declared) is not None
    return declared.storage_class == StorageClass.STATIC and bool(constant)
