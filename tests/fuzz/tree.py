"""Programs as trees of text, so that the shrinker can take them apart without knowing C.

A node's *text* has a hole ``@`` for each of its *kids*.  Its *kind* says what may be done with it: an ``expr`` may be
replaced by one of its kids or by a number, a ``list`` (its text is what separates the kids) may lose some, a ``stmt``
may be replaced by a list inside it, a ``number`` may get smaller; a ``fixed`` node stays, but its kids may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a program."""

    kind: str
    text: str
    kids: tuple[Node, ...] = ()

    def __str__(self) -> str:
        if self.kind == "list":
            return (self.text or "\n").join(map(str, self.kids))
        first, *rest = self.text.split("@")
        return first + "".join(str(kid) + text for kid, text in zip(self.kids, rest, strict=True))


def expr(text: str, *kids: Node) -> Node:
    return Node("expr", text, kids)


def number(value: int) -> Node:
    return Node("number", str(value) if value >= 0 else f"({value})")


def stmt(text: str, *kids: Node) -> Node:
    return Node("stmt", text, kids)


def fixed(text: str, *kids: Node) -> Node:
    return Node("fixed", text, kids)


def block(*kids: Node) -> Node:
    return Node("list", "", kids)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """All nodes in *node*, outermost first, each with the positions that lead to it."""
    yield path, node
    for position, kid in enumerate(node.kids):
        yield from walk(kid, (*path, position))


def replaced(node: Node, path: Path, new: Node) -> Node:
    """*node* with the one at *path* replaced by *new*."""
    if not path:
        return new
    position, *rest = path
    changed = replaced(node.kids[position], tuple(rest), new)
    return replace(node, kids=(*node.kids[:position], changed, *node.kids[position + 1 :]))
