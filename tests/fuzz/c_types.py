"""C's arithmetic types and the intervals of values that the generator reckons with."""

from __future__ import annotations

from dataclasses import dataclass

from tree import Node


@dataclass(frozen=True, slots=True)
class CType:
    """An arithmetic type: *kind* is ``int``, ``bool`` or ``float``; *spellings* are ways to write it."""

    kind: str
    bits: int
    signed: bool
    spellings: tuple[str, ...]
    format: str

    @property
    def name(self) -> str:
        return self.spellings[0]

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def range(self) -> tuple[int, int]:
        """The least and the largest value; for floating-point types, what the generator lets them reach."""
        if self.is_float:
            return -(10**6), 10**6
        if self.kind == "bool":
            return 0, 1
        return (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1) if self.signed else (0, 2**self.bits - 1)

    @property
    def bound(self) -> tuple[int, int]:
        """Where stored values stay: wide signed integers well inside their range, so that sums do not overflow."""
        if self.is_float:
            return -1000, 1000
        return (-(10**4), 10**4) if self.signed and self.bits >= 32 else self.range


BOOL = CType("bool", 8, False, ("_Bool", "bool"), "%d")
INT8 = CType("int", 8, True, ("signed char", "char", "int8_t"), "%d")
UINT8 = CType("int", 8, False, ("unsigned char", "uint8_t", "byte"), "%d")
INT16 = CType("int", 16, True, ("short", "int16_t"), "%d")
UINT16 = CType("int", 16, False, ("unsigned short", "uint16_t"), "%d")
INT = CType("int", 32, True, ("int", "int32_t", "count"), "%d")
UINT = CType("int", 32, False, ("unsigned", "uint32_t", "u32"), "%u")
LONG = CType("int", 64, True, ("long", "int64_t", "long long", "ptrdiff_t"), "%lld")
ULONG = CType("int", 64, False, ("unsigned long", "size_t", "unsigned long long"), "%llu")
FLOAT = CType("float", 32, True, ("float", "real"), "%a")
DOUBLE = CType("float", 64, True, ("double",), "%a")

INTEGERS = (INT8, UINT8, INT16, UINT16, INT, UINT, LONG, ULONG)
FLOATS = (FLOAT, DOUBLE)
TYPES = (BOOL, *INTEGERS, *FLOATS)
TYPEDEFS = "typedef unsigned int u32;\ntypedef unsigned char byte;\ntypedef int count;\ntypedef float real;"


@dataclass(frozen=True, slots=True)
class Value:
    """An expression, its type, and an interval that holds its value.

    *product*: a compiler might fuse it with an addition, so no exact result may add to it.
    """

    node: Node
    type: CType
    low: int
    high: int
    product: bool = False

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


def promoted(ctype: CType) -> CType:
    return INT if not ctype.is_float and ctype.bits < 32 else ctype


def common(left: CType, right: CType) -> CType:
    """The type of ``left + right``."""
    left, right = promoted(left), promoted(right)
    if left.is_float or right.is_float:
        return DOUBLE if DOUBLE in (left, right) else FLOAT
    if left.bits != right.bits:
        return left if left.bits > right.bits else right
    return right if left.signed else left


def converted(value: Value, ctype: CType) -> Value:
    """*value* as the compiler converts it to *ctype*, without a change of its text (never from float to integer)."""
    if ctype.kind == "bool":
        return Value(value.node, ctype, 0, 1)
    inside = ctype.is_float or value.within(*ctype.range)
    low, high = (value.low, value.high) if inside else ctype.range
    return Value(value.node, ctype, low, high, value.product)
