"""Random structs, and the arrays of them that a program has."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from c_types import BOOL, TYPES, CType
from tree import Node, block, stmt

WIDE = {"%lld": "long long", "%llu": "unsigned long long", "%u": "unsigned", "%d": "int", "%a": "double"}
"""The type that each format prints."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct; an array where its *length* is not 0."""

    name: str
    type: CType
    length: int = 0


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct type.  The members from *unnamed* on stand in a struct without a name."""

    tag: str
    members: tuple[Member, ...]
    unnamed: int

    def listed(self, words: list[str], mark: str = "{{{}}}", comma: str = ", ") -> str:
        """*words*, one for each member, those of the struct without a name in *mark*."""
        inner = [mark.format(comma.join(words[self.unnamed :]))] if self.unnamed < len(words) else []
        return comma.join([*words[: self.unnamed], *inner])


@dataclass(frozen=True, slots=True)
class Records:
    """Structs that a statement may use: elements *low* to *high* (exclusive) of *name*, or just *place*.

    *static*: the array is declared outside of all functions.
    """

    name: str
    struct: Struct
    low: int
    high: int
    static: bool = False
    writable: bool = True
    place: Node | None = None


def made(random: Random, number: int) -> Records:
    """An array of structs with two to four members and sometimes a member array."""
    members = [Member(f"f{n}", random.choice(TYPES)) for n in range(random.randint(2, 4))]
    if random.random() < 0.7:
        members.insert(random.randint(0, len(members)), Member("v", random.choice(TYPES), random.randint(2, 4)))
    unnamed = random.randrange(len(members)) if random.random() < 0.3 else len(members)
    struct = Struct(f"record{number}", tuple(members), unnamed)
    return Records(f"u{number}", struct, 0, random.choice([16, 24, 40]), random.random() < 0.4)


def declared(random: Random, struct: Struct) -> Node:
    """The declaration of a struct type."""
    members = [f"{random.choice(m.type.spellings)} {m.name}{f'[{m.length}]' if m.length else ''};"
               for m in struct.members]  # fmt: skip
    return stmt(f"struct {struct.tag} {{ {struct.listed(members, 'struct {{ {} }};', ' ')} }};")


def filled(random: Random, records: Records) -> Node:
    """Statements that fill an array of structs."""
    return block(*(stmt(f"for (long k = 0; k < {size}; k++) {_element(records, member, 'k')} = {value};")
                   for member, size, value in ((m, _size(records, m), _value(random, m.type))
                                               for m in records.struct.members)))  # fmt: skip


def _value(random: Random, ctype: CType) -> str:
    if ctype == BOOL:
        return "k % 3 == 1"
    value = f"(k * {random.choice([37, 53, 71])} + {random.randint(0, 50)}) % 101 - 50"
    return f"({value}) * {random.choice(['0.25', '0.1'])}" if ctype.is_float else value


def shown(records: Records) -> Node:
    """Statements that print an array of structs, member by member."""
    return block(*(stmt(f'SHOW_EACH("exact {records.name}.{m.name}:", "{m.type.format}", {WIDE[m.type.format]}, '
                        f"{_element(records, m, 'k_')}, {_size(records, m)});")
                   for m in records.struct.members))  # fmt: skip


def _element(records: Records, member: Member, k: str) -> str:
    if not member.length:
        return f"{records.name}[{k}].{member.name}"
    return f"{records.name}[{k} / {member.length}].{member.name}[{k} % {member.length}]"


def _size(records: Records, member: Member) -> int:
    return records.high * (member.length or 1)
