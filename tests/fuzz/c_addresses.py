"""Expressions with addresses that the loop IR does not have: pointers into one array, elements of literals."""

from __future__ import annotations

from collections.abc import Callable

from c_expressions import Array, Expressions, Scope
from c_types import INT, INT8, INT16, LONG, Value
from tree import Node, expr, fixed, number

TEXTS = (('"hello"', 5), (r'"a\200\0\n\x7f"', 5), ('"one" "two"', 6), ('""', 0))
"""Strings as C spells them, with the number of their characters."""


class Addresses(Expressions):
    """Makes such expressions, and initialisers of arrays."""

    def integer_makers(self) -> list[tuple[int, Callable[[Scope, int], Value]]]:
        more = [(1, self._distance), (1, self._element_of_literal)] if "addresses" in self.features else []
        return super().integer_makers() + more

    def _distance(self, scope: Scope, depth: int) -> Value:
        """How far two pointers into one row of an array, or to two structs of one, are apart, or which is behind."""
        arrays = [a for a in scope.arrays if not a.member and "." not in a.name and "->" not in a.name]
        rows = [(a.name, a.low, a.high) for a in arrays if not a.columns]
        rows += [(f"{a.name}[{self.random.randrange(a.low, a.high)}]", 0, a.columns) for a in arrays if a.columns]
        rows += [(r.name, r.low, r.high) for r in scope.records if not r.place]
        if not rows:
            return self.number(-9, 20)
        name, low, high = self.random.choice(rows)
        one, other = (self._pointer(scope, name, low, high) for _ in range(2))
        if self.random.random() < 0.4:
            op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            return Value(expr(f"(@ {op} @)", one, other), INT, 0, 1)
        reach = high - min(low, 0)
        return Value(expr("(@ - @)", one, other), LONG, -reach, reach)

    def _pointer(self, scope: Scope, name: str, low: int, high: int) -> Node:
        """A pointer to an element *low* to *high* of the row *name*."""
        form = self.random.random()
        if form < 0.2 and low <= 0:
            return fixed(name)
        index = self.subscript(scope, low, high)
        return fixed(f"&{name}[@]", index) if form < 0.6 else fixed(f"({name} + (@))", index)

    def _element_of_literal(self, scope: Scope, depth: int) -> Value:
        """A character of a string, or an element of a compound literal."""
        if self.random.random() < 0.5:
            text, length = self.random.choice(TEXTS)
            return Value(expr(f"{text}[@]", self.subscript(scope, 0, length + 1)), INT8, *INT8.range)
        cells = [self.stored(self.any(scope, depth - 1, INT16), INT16) for _ in range(self.random.randint(1, 3))]
        index = self.subscript(scope, 0, len(cells))
        return Value(expr(f"(short[]){{{', '.join('@' * len(cells))}}}[@]", *cells, index), INT16, *INT16.range)

    def designated(self, scope: Scope, array: Array) -> Node:
        """The initialiser of *array* as a list, whose designators go back and forth; what comes later counts."""
        columns, words, cells, position = array.columns or 1, [], [], 0
        for _ in range(self.random.randint(1, 4)):
            here, reach = self.random.randrange(array.high * columns), 1
            word, last = _subscripts(here, array.columns), self.random.randrange(here, array.high * columns)
            if not array.columns and self.random.random() < 0.3:
                word, reach = f"[{here} ... {last}] = @", last - here + 1
            if position < array.high * columns and self.random.random() < 0.4:
                here, word, reach = position, "@", 1
            position = here + reach
            words.append(word)
            cells.append(self.stored(self.any(scope, 0, array.type), array.type))
        return fixed(f"{{{', '.join(words)}}}", *cells)

    def text(self, array: Array) -> Node:
        """The initialiser of the array of characters *array*: a string, or one for each of some rows."""
        room = array.columns or array.high
        fits = [spelled for spelled, length in TEXTS if length <= room] or ['""']
        if not array.columns:
            return fixed(self.random.choice([self.random.choice(fits), f"{{{self.random.choice(fits)}}}"]))
        row = number(self.random.randrange(array.high))
        return self.random.choice([fixed(f"{{{fits[0]}}}"), fixed(f"{{[@] = {self.random.choice(fits)}}}", row)])


def _subscripts(position: int, columns: int) -> str:
    if not columns:
        return f"[{position}] = @"
    return f"[{position // columns}][{position % columns}] = @"
