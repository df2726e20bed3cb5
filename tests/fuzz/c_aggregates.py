"""Random declarations and assignments of arrays and structs in a kernel's body."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from c_expressions import Array, Scope
from c_loops import Loops, Nest
from c_structs import Records, Struct
from c_types import FLOATS, INT, INT8, INTEGERS, UINT8, ULONG, Value
from tree import Node, expr, fixed, stmt


class Aggregates(Loops):
    """Makes statements with arrays and structs of the body."""

    def __init__(self, random: Random, features: frozenset[str] = frozenset()) -> None:
        super().__init__(random, features)
        self.made = 0

    def local_array(self, scope: Scope, nest: Nest) -> list[Node]:
        """A small array of the body, filled by its initialiser or by a loop."""
        ctype, name, size = self.random.choice((*INTEGERS, *FLOATS)), f"t{self.made}", self.random.randint(2, 5)
        self.made += 1
        columns = self.random.choice([0, 0, 3])
        array = Array(name, ctype, 0, size, columns)
        jit = [v for v in nest.jit if v.low >= 1 and ("wide extents" in nest.features or v.type != ULONG)]
        if jit and not columns:
            length = self.random.choice(jit)
            array = Array(name, ctype, 0, length.low)
            fill = f"for (int f = 0; f < {length.node}; f++) {name}[f] = @;"
            node = stmt(f"{ctype.name} {name}[@]; {fill}", length.node, self.stored(self.any(scope, 1, ctype), ctype))
        elif ctype in (INT8, UINT8) and self.random.random() < 0.5:
            node = stmt(f"{ctype.name} {name}[{size}]{f'[{columns}]' * bool(columns)} = @;", self.text(array))
        elif self.random.random() < 0.4:
            size_ = f"[{size}]" + f"[{columns}]" * bool(columns)
            node = stmt(f"{ctype.name} {name}{size_} = @;", self.designated(scope, array))
        elif columns:
            cells = [self.stored(self.any(scope, 0, ctype), ctype) for _ in range(2 * columns)]
            rows = "{" + ", ".join(["@"] * columns) + "}"
            node = stmt(f"{ctype.name} {name}[{size}][{columns}] = {{{rows}, {rows}}};", *cells)
        else:
            cells = [self.stored(self.any(scope, 1, ctype), ctype) for _ in range(self.random.randint(1, size))]
            node = stmt(f"{ctype.name} {name}[{size}] = {{{', '.join('@' * len(cells))}}};", *cells)
        scope.arrays.append(array)
        return [node]

    # ------------------------------------------------------------------------------------------------- pointers

    def pointer(self, scope: Scope, nest: Nest) -> list[Node]:
        """A pointer into an array, by which statements that follow use it."""
        arrays = [a for a in scope.arrays if not a.member and ("->" not in a.name)]
        if not arrays:
            return []
        array, name = self.random.choice(arrays), f"q{self.made}"
        self.made += 1
        const, by = "" if array.writable else "const ", self.random.randrange(array.low, array.high)
        columns = f"[{array.columns}]" if array.columns else ""
        first = f"{array.name} + {by}" if by and self.random.random() < 0.5 else f"&{array.name}[{by}]"
        scope.arrays.append(replace(array, name=name, low=array.low - by, high=array.high - by))
        return [stmt(f"{const}{array.type.name} {f'(*{name}){columns}' if columns else f'*{name}'} = {first};")]

    def taken(self, scope: Scope, nest: Nest) -> list[Node]:
        """A call of a function that reads and writes what its argument points to (see `generate.HEADER`)."""
        arrays = [a for a in scope.arrays if a.writable and a.type == INT and not a.columns and not a.member]
        arrays = [a for a in arrays if a.high - max(a.low, 0) > 1 and not a.held]
        if not arrays:
            return []
        array, name = self.random.choice(arrays), f"v{self.made}"
        self.made += 1
        index = self.subscript(scope, array.low, array.high - 1)
        given = self.stored(self.any(scope, 1, INT), INT)
        scope.values.append(Value(fixed(name), INT, -100, 100))
        return [stmt(f"int {name} = take(&{array.name}[@], @);", index, given)]

    # -------------------------------------------------------------------------------------------------- structs

    def _record(self, scope: Scope, records: Records) -> Node:
        """One of *records*."""
        return records.place or fixed(f"{records.name}[@]", self.subscript(scope, records.low, records.high))

    def local_struct(self, scope: Scope, nest: Nest) -> list[Node]:
        """A struct of the body, filled from another one or by its initialiser."""
        if not scope.records:
            return []
        records, name = self.random.choice(scope.records), f"v{self.made}"
        self.made += 1
        value = self._record(scope, records)
        if self.random.random() < 0.4:
            cells = [self.stored(self.any(scope, 1, m.type), m.type) for m in records.struct.members]
            words = ["{@}" if member.length else "@" for member in records.struct.members]
            value = fixed(f"{{{records.struct.listed(words)}}}", *cells)
        elif self.random.random() < 0.4:
            value = self._by_names(scope, records.struct)
        for member in records.struct.members:
            text = f"{name}.{member.name}"
            if member.length:
                scope.arrays.append(Array(text, member.type, 0, member.length))
            else:
                scope.values.append(Value(fixed(text), member.type, *member.type.bound))
                scope.places.append((fixed(text), member.type))
        scope.records.append(Records(name, records.struct, 0, 1, place=fixed(name)))
        return [stmt(f"struct {records.struct.tag} {name} = @;", value)]

    def _by_names(self, scope: Scope, struct: Struct) -> Node:
        """An initialiser of a struct with designators, several of one member among them."""
        words, cells = [], []
        for member in self.random.choices(struct.members, k=self.random.randint(1, 4)):
            k = self.random.randrange(member.length) if member.length else 0
            forms = [f".{member.name} = {{@}}", f".{member.name}[{k}] = @", f".{member.name} = {{[{k}] = @}}"]
            words.append(self.random.choice(forms) if member.length else f".{member.name} = @")
            cells.append(self.stored(self.any(scope, 1, member.type), member.type))
        return fixed(f"{{{', '.join(words)}}}", *cells)

    def struct_pointer(self, scope: Scope, nest: Nest) -> list[Node]:
        """A pointer to a struct, and its members by it."""
        if not scope.records:
            return []
        records, name = self.random.choice(scope.records), f"q{self.made}"
        self.made += 1
        for member in records.struct.members:
            text = self.random.choice([f"{name}->{member.name}", f"(*{name}).{member.name}"])
            if not member.length:
                scope.values.append(Value(fixed(text), member.type, *member.type.bound))
                scope.places += [(fixed(text), member.type)] * records.writable
        return [stmt(f"struct {records.struct.tag} *{name} = &@;", self._record(scope, records))]

    def whole_struct(self, scope: Scope, nest: Nest) -> list[Node]:
        """A struct assigned to another one."""
        targets = [r for r in scope.records if r.writable]
        if not targets:
            return []
        target = self.random.choice(targets)
        source = self.random.choice([r for r in scope.records if r.struct == target.struct])
        place, read = self._record(scope, target), self._record(scope, source)
        if self.random.random() < 0.3:
            other = self._record(scope, source)
            return [stmt("@ = @ ? @ : @;", place, self.condition(scope, 1).node, read, other)]
        if self.random.random() < 0.5:
            return [stmt("@ = @;", place, read)]
        if self.random.random() < 0.3:  # the first of a chain must not depend on what the second one writes
            first = self._record(Scope(counters=scope.counters), target)
            return [stmt("@ = @ = @;", first, place, read)]
        if self.random.random() < 0.3:
            return [stmt(f"@ = (struct {target.struct.tag})@;", place, self._by_names(scope, target.struct))]
        members = target.struct.members
        picked = [self.random.choice(members) for _ in members]
        words = ["{@}" if member.length else "@" for member in members]
        cells = [expr(f"@.{m.name}{f'[{m.length - 1}]' if m.length else ''}", read) for m in picked]
        values = [self.stored(Value(cell, m.type, *m.type.bound), own.type)
                  for cell, m, own in zip(cells, picked, members, strict=True)]  # fmt: skip
        return [stmt(f"@ = (struct {target.struct.tag}){{{target.struct.listed(words)}}};", place, *values)]
