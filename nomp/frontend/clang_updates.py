"""Sections of ``update`` pragmas: from what the pragma says to a base and two bounds in C.

In: a parsed pragma and the place where it stands.  Out: an `Update`.  Called by `frontend.clang`.
Raises N217 for an unknown variable, N218 for a bare name whose type gives no extent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from clang.cindex import CursorKind

from nomp.diagnostics import Diagnostic, NompError, Span, did_you_mean, error
from nomp.frontend.clang_ast import Cursor, Type
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_types import dtype_of, is_array, is_pointer, is_record, members_of
from nomp.pragma import Direction, Pragma, Section

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class UpdateSection:
    """Elements *start* to *end* (half open) of *base*; all three are C expressions."""

    base: str
    start: str
    end: str


@dataclass(frozen=True, slots=True)
class Update:
    """``update(op : sections)``."""

    op: Direction
    sections: tuple[UpdateSection, ...]


def update(pragma: Pragma, site: Site, macros: frozenset[str]) -> Update:
    """The update that *pragma* asks for at *site*; names of *macros* are left to the host compiler."""
    assert pragma.direction is not None
    visible = site.visible()
    sections: list[UpdateSection] = []
    problems: list[Diagnostic] = []
    for section in pragma.sections:
        try:
            sections.append(_section(section, visible, macros))
        except NompError as problem:
            problems += problem.diagnostics
    if problems:
        raise NompError(tuple(problems))
    return Update(pragma.direction, tuple(sections))


def _section(section: Section, visible: dict[str, Cursor], macros: frozenset[str]) -> UpdateSection:
    name = _NAME.search(section.base)
    root = name.group() if name else section.base
    if root not in visible and root not in macros:
        advice = did_you_mean(root, visible) or "name a variable that can be seen here"
        raise error("N217", f"there is no variable '{root}' here", section.span, help=advice)
    texts = filter(None, (section.base, section.start, section.end, section.length))
    refuse_effects(section.span, f"a bound of '{section.base}'", *texts)
    if section.start is None:
        return _bare(section, visible.get(root))
    end = section.end if section.end is not None else f"(__PTRDIFF_TYPE__)({section.start}) + ({section.length})"
    return UpdateSection(section.base, section.start, end)


def refuse_effects(span: Span, what: str, *texts: str) -> None:
    """Refuse C expressions that change variables: a compiler without nomp would not evaluate them."""
    plain = (re.sub(r"'(\\.|[^'])'|\"(\\.|[^\"])*\"", "", text) for text in texts)
    if any(re.search(r"\+\+|--|(<<|>>)=|(?<![=!<>])=(?!=)", text) for text in plain):
        advice = "change the variable in a statement of its own, before the pragma"
        raise error("N106", f"{what} changes a variable", span, help=advice)


def _bare(section: Section, root: Cursor | None) -> UpdateSection:
    """The whole of an array, or a scalar or struct as one element."""
    type_ = None if root is None else _type_of(section.base, root)
    if type_ is not None and is_array(type_):
        return UpdateSection(section.base, "0", f"sizeof({section.base}) / sizeof(({section.base})[0])")
    if type_ is not None and (dtype_of(type_) or is_record(type_)):
        return UpdateSection(f"(&({section.base}))", "0", "1")
    advice = f"write {section.base}[0, n] with its number of elements n"
    message = f"the type of '{section.base}' does not say how many elements to move"
    raise error("N218", message, section.span, help=advice)


def _type_of(base: str, root: Cursor) -> Type | None:
    """The type of the path *base* (``s->a.b``), None where it is something else; an array parameter is a pointer."""
    if re.search(r"[^\w\s.>*()-]", base):
        return None
    _, *members = _NAME.findall(base)
    type_ = root.type
    if not members and root.kind == CursorKind.PARM_DECL and is_array(type_):
        return None
    for member in members:
        canonical = type_.get_canonical()
        record = canonical.get_pointee().get_canonical() if is_pointer(canonical) else canonical
        fields = {field.spelling: field.type for field in members_of(record)}
        if member not in fields:
            return None
        type_ = fields[member]
    return type_
