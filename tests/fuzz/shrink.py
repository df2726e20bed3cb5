"""Makes a failing program small: whatever can go while it still fails goes, large pieces first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tree import Node, Path, expr, number, replaced, walk


def shrink(tree: Node, fails: Callable[[str], bool], budget: float) -> Node:
    """*tree* with all taken out that its failure does not need, as far as *budget* (seconds) goes."""
    deadline = time.monotonic() + budget
    for reduce in (_without_statements, _simpler, _without_statements, _simpler):
        tree = reduce(tree, fails, deadline)
    return tree


def _without_statements(tree: Node, fails: Callable[[str], bool], deadline: float) -> Node:
    """Take runs of statements out of lists, halving their length."""
    size = 16
    while size:
        for path in [path for path, node in walk(tree) if node.kind == "list"]:
            tree = _without_runs(tree, path, size, fails, deadline)
        size //= 2
    return tree


def _without_runs(tree: Node, path: Path, size: int, fails: Callable[[str], bool], deadline: float) -> Node:
    position = 0
    while (node := _at(tree, path)) is not None and position < len(node.kids) and time.monotonic() < deadline:
        if node.kind != "list" or len(node.kids) < size:
            break
        kids = node.kids[:position] + node.kids[position + size :]
        candidate = replaced(tree, path, Node(node.kind, node.text, kids))
        if fails(str(candidate)):
            tree = candidate
        else:
            position += size
    return tree


def _at(tree: Node, path: Path) -> Node | None:
    for position in path:
        if position >= len(tree.kids):
            return None
        tree = tree.kids[position]
    return tree


def _simpler(tree: Node, fails: Callable[[str], bool], deadline: float) -> Node:
    """Replace nodes by what is inside them or by small numbers, as long as that helps."""
    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        for path, node in list(walk(tree)):
            if time.monotonic() > deadline or _at(tree, path) is not node:
                continue
            for candidate in _replacements(node):
                smaller = replaced(tree, path, candidate)
                if fails(str(smaller)):
                    tree, changed = smaller, True
                    break
    return tree


def _replacements(node: Node) -> Iterator[Node]:
    if node.kind == "expr":
        if str(node) not in ("0", "1", "(0)", "(1)"):
            yield expr("0")
            yield expr("1")
        yield from (kid for kid in node.kids if kid.kind in ("expr", "number"))
    elif node.kind == "stmt":
        yield from (kid for kid in node.kids if kid.kind == "list")
    elif node.kind == "number" and node.text not in ("0", "1"):
        yield number(0)
        yield number(1)
