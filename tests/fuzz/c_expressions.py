"""Random C expressions that are defined: no overflow, no division by zero, no subscript out of range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from c_structs import Records
from c_types import BOOL, DOUBLE, FLOAT, INT, INTEGERS, LONG, UINT, ULONG, CType, Value, common, converted, promoted
from tree import Node, expr, fixed, number


@dataclass(frozen=True, slots=True)
class Array:
    """An array as a region sees it: elements *low* to *high* (exclusive) of *name* may be used.

    *columns* is the row length of a two-dimensional array.  *held* is the interval of the elements.  *writable* and
    *readable* say what may be done with it; a *loose* one takes results that may differ in the last bits.  *member*
    (``.x``) is the one that is meant of an array of structs; then *columns* is the length of a member array.
    """

    name: str
    type: CType
    low: int
    high: int
    columns: int = 0
    held: tuple[int, int] | None = None
    writable: bool = True
    readable: bool = True
    loose: bool = False
    member: str = ""

    @property
    def values(self) -> tuple[int, int]:
        return self.held or self.type.bound


@dataclass(slots=True)
class Scope:
    """What a statement may use.

    *values* are scalars and single elements, *counters* those that count loops, *places* scalars that may be written,
    *records* whole structs.
    """

    values: list[Value] = field(default_factory=list)
    counters: list[Value] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    places: list[tuple[Node, CType]] = field(default_factory=list)
    records: list[Records] = field(default_factory=list)

    def inner(self, hidden: str = "") -> Scope:
        """A scope of its own for a block in this one, in which the name *hidden* means something else."""
        values, counters = ([v for v in some if str(v.node) != hidden] for some in (self.values, self.counters))
        return Scope(values, counters, list(self.arrays), list(self.places), list(self.records))


class Expressions:
    """Makes expressions over a scope."""

    def __init__(self, random: Random, features: frozenset[str] = frozenset()) -> None:
        self.random = random
        self.features = features

    def spelled(self, ctype: CType) -> str:
        return self.random.choice(ctype.spellings)

    def number(self, low: int, high: int) -> Value:
        value = self.random.randint(low, high)
        return Value(number(value), INT, value, value)

    # ------------------------------------------------------------------------------------------------- leaves

    def leaf(self, scope: Scope, floating: bool) -> Value:
        """Something that needs no operation."""
        named = [v for v in scope.values + scope.counters if v.type.is_float == floating]
        arrays = [a for a in scope.arrays if a.readable and a.type.is_float == floating]
        choice = self.random.random()
        if arrays and choice < 0.5:
            return self.element(scope, self.random.choice(arrays))
        if named and choice < 0.85:
            return self.random.choice(named)
        return self.literal(floating)

    def literal(self, floating: bool) -> Value:
        if floating:
            text, ctype = self.random.choice(
                [("0.1", DOUBLE), ("0.1f", FLOAT), ("2.3", DOUBLE), ("1e-3", DOUBLE), ("0.7", DOUBLE), ("3.f", FLOAT),
             ("1e2", DOUBLE), ("HALF", DOUBLE), ("0x1.8p1", DOUBLE), ("1.0 / 3", DOUBLE), ("-0.7f", FLOAT)]
        )  # fmt: skip
            return Value(expr(f"({text})"), ctype, -1, 100)
        text, ctype, value = self.random.choice(
            [("SEVEN", INT, 7), ("BLUE", INT, 5), ("GREEN", INT, -2), ("'a'", INT, 97), ("3u", UINT, 3),
             ("0x7fffffff", INT, 2**31 - 1), ("0xffffffff", UINT, 2**32 - 1), ("5L", LONG, 5), ("9ull", ULONG, 9),
             ("017", INT, 15), ("sizeof(double)", ULONG, 8), ("sizeof(short)", ULONG, 2), ("TWICE(6)", INT, 12)]
        )  # fmt: skip
        if self.random.random() < 0.5:
            return self.number(-9, 20)
        return Value(expr(text), ctype, value, value)

    def subscript(self, scope: Scope, low: int, high: int) -> Node:
        """An expression from *low* to *high* (exclusive), made of counters where there are any."""
        fits = [c for c in scope.counters if c.high - c.low < high - max(low, 0)]
        choice = self.random.random()
        if fits and choice < 0.75:
            return self.affine(self.random.choice(fits), low, high)
        if scope.counters and choice < 0.95:
            # No arrays in its own subscripts again: one index array is enough.
            arrays = [a for a in scope.arrays if a.name in ("columns", "starts") and choice < 0.85]
            shift = f"{low} + " if low else ""
            node = self._simple(replace(scope, arrays=arrays)).node
            return expr(f"{shift}(int)((unsigned)(@) % {high - low})", node)
        return number(self.random.randrange(low, high))

    def _simple(self, scope: Scope) -> Value:
        """A small integer expression, or an element of an index array."""
        if scope.arrays:
            array = self.random.choice(scope.arrays)
            return self.element(replace(scope, arrays=[]), array)
        return self.integer(scope, 1)

    def affine(self, counter: Value, low: int, high: int) -> Node:
        """The counter shifted, stretched or turned around so that it stays in range."""
        low = low if promoted(counter.type).signed else max(low, 0)
        span = counter.high - counter.low
        stretch = self.random.choice([1, 1, 1, 2, 3, -1])
        if span * abs(stretch) >= high - low:
            stretch = -1 if stretch < 0 else 1
        first = counter.low if stretch > 0 else counter.high
        shift = self.random.randint(low, high - 1 - span * abs(stretch)) - first * stretch
        if stretch == 1 and counter.within(low, high - 1) and self.random.random() < 0.6:
            return counter.node
        if stretch == -1:
            return expr(f"{shift} - @", counter.node)
        factor = "" if stretch == 1 else f"{stretch} * "
        return expr(f"{factor}@ {'-' if shift < 0 else '+'} {abs(shift)}", counter.node)

    def place(self, scope: Scope, array: Array) -> Node:
        """An element of *array*, as something that can be assigned to."""
        index = self.subscript(scope, array.low, array.high)
        if array.columns:
            return fixed(f"{array.name}[@]{array.member}[@]", index, self.subscript(scope, 0, array.columns))
        form = self.random.random()
        if array.member:
            name = f"({array.name} + (@))->{array.member[1:]}" if form < 0.1 else f"{array.name}[@]{array.member}"
            return fixed(name, index)
        if form < 0.1:
            return fixed(f"*({array.name} + (@))", index)
        if form < 0.14 and array.low <= 0 < array.high:
            return fixed(f"*{array.name}")
        return fixed(f"{array.name}[@]", index)

    def element(self, scope: Scope, array: Array) -> Value:
        low, high = array.values
        return Value(expr("@", self.place(scope, array)), array.type, low, high)

    # ----------------------------------------------------------------------------------------------- integers

    def integer(self, scope: Scope, depth: int) -> Value:
        if depth <= 0:
            return self.leaf(scope, floating=False)
        weights, makers = zip(*self.integer_makers(), strict=True)
        made: Value = self.random.choices(makers, weights)[0](scope, depth)
        return made

    def integer_makers(self) -> list[tuple[int, Callable[[Scope, int], Value]]]:
        """What makes integers, with how often it does."""
        choices = [(4, self._arithmetic), (2, self._division), (2, self._shift), (2, self._bitwise), (1, self._unary),
                   (2, self._cast), (1, self._choice), (1, self.condition), (1, self._from_float),
                   (1, self._bits)]  # fmt: skip
        return [*choices, (1, self._clip)] if "own functions" in self.features else choices

    def _pair(self, scope: Scope, depth: int) -> tuple[Value, Value]:
        left, right = self.integer(scope, depth - 1), self.integer(scope, self.random.randrange(depth))
        return (right, left) if self.random.random() < 0.3 else (left, right)

    def _arithmetic(self, scope: Scope, depth: int) -> Value:
        op = self.random.choice("+-*")
        left, right = self._pair(scope, depth)
        ctype = common(left.type, right.type)
        low, high = _combined(op, converted(left, ctype), converted(right, ctype))
        if ctype.signed and not (ctype.range[0] <= low and high <= ctype.range[1]):
            left = self.cast(left, UINT if ctype == INT else ULONG)
            ctype = common(left.type, right.type)
            low, high = ctype.range
        elif not (ctype.range[0] <= low and high <= ctype.range[1]):
            low, high = ctype.range
        return Value(expr(f"(@ {op} @)", left.node, right.node), ctype, low, high)

    def _division(self, scope: Scope, depth: int) -> Value:
        op = self.random.choice("/%")
        left, right = self._pair(scope, depth)
        if self.random.random() < 0.4:
            right = self.number(2, 9)
        elif right.low <= 0 <= right.high:
            right = Value(expr("(@ | 1)", right.node), promoted(right.type), *promoted(right.type).range)
        ctype = common(left.type, right.type)
        if ctype.signed and converted(left, ctype).low == ctype.range[0]:
            left = self.number(-40, 40)
            ctype = common(left.type, right.type)
        left, right = converted(left, ctype), converted(right, ctype)
        size = max(abs(left.low), abs(left.high)) if op == "/" else max(abs(right.low), abs(right.high))
        low, high = max(-size, ctype.range[0]), min(size, ctype.range[1])
        return Value(expr(f"(@ {op} @)", left.node, right.node), ctype, low, high)

    def _shift(self, scope: Scope, depth: int) -> Value:
        left, count = self.integer(scope, depth - 1), self.integer(scope, 0)
        most = self.random.choice([3, 7, 31])
        amount = number(self.random.randint(0, most))
        if self.random.random() < 0.6:
            amount = expr(f"(@ & {most})", count.node)
        ctype = promoted(left.type)
        if self.random.random() < 0.5:
            low, high = min(left.low, 0), max(left.high, 0)
            return Value(expr("(@ >> @)", left.node, amount), ctype, low, high)
        if ctype.signed and (left.low < 0 or left.high << most > ctype.range[1]):
            left = self.cast(left, UINT if ctype == INT else ULONG)
            ctype = left.type
        low, high = (0, left.high << most) if left.high << most <= ctype.range[1] else ctype.range
        return Value(expr("(@ << @)", left.node, amount), ctype, low, high)

    def _bitwise(self, scope: Scope, depth: int) -> Value:
        op = self.random.choice("&|^")
        left, right = self._pair(scope, depth)
        ctype = common(left.type, right.type)
        left, right = converted(left, ctype), converted(right, ctype)
        size = 1 << max(value.bit_length() for v in (left, right) for value in (v.low, v.high))
        low = 0 if left.low >= 0 and right.low >= 0 else -size
        return Value(expr(f"(@ {op} @)", left.node, right.node), ctype, max(low, ctype.range[0]),
                     min(size - 1, ctype.range[1]))  # fmt: skip

    def _unary(self, scope: Scope, depth: int) -> Value:
        operand = self.integer(scope, depth - 1)
        ctype = promoted(operand.type)
        op = self.random.choice("-~!+")
        if op == "!":
            return Value(expr("!@", operand.node), INT, 0, 1)
        if op == "+":
            return Value(expr("(+@)", operand.node), ctype, operand.low, operand.high)
        if not ctype.signed:
            return Value(expr(f"({op}@)", operand.node), ctype, *ctype.range)
        if op == "-" and operand.low == ctype.range[0]:
            op = "~"
        less = 1 if op == "~" else 0
        return Value(expr(f"({op} @)", operand.node), ctype, -operand.high - less, -operand.low - less)

    def _cast(self, scope: Scope, depth: int) -> Value:
        return self.cast(self.integer(scope, depth - 1), self.random.choice((*INTEGERS, BOOL)))

    def cast(self, value: Value, ctype: CType) -> Value:
        """*value* with an explicit conversion."""
        if value.type.is_float and not ctype.is_float and ctype != BOOL:
            value = self._clamped(value, max(ctype.range[0], -100), min(ctype.range[1], 100))
        return replace(converted(value, ctype), node=expr(f"(({self.spelled(ctype)})@)", value.node))

    def _choice(self, scope: Scope, depth: int) -> Value:
        cond, (then, other) = self.condition(scope, depth - 1), self._pair(scope, depth)
        return _selected(cond, then, other)

    def condition(self, scope: Scope, depth: int) -> Value:
        """A truth value."""
        form = self.random.random()
        if depth > 1 and form < 0.25:
            left, right = self.condition(scope, depth - 1), self.condition(scope, depth - 2)
            return Value(expr(f"(@ {self.random.choice(['&&', '||'])} @)", left.node, right.node), INT, 0, 1)
        if form < 0.35:
            return Value(expr("!@", self.integer(scope, depth - 1).node), INT, 0, 1)
        make = self.floating if form < 0.5 else self.integer
        left, right = make(scope, depth - 1), make(scope, 0)
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        return Value(expr(f"(@ {op} @)", left.node, right.node), INT, 0, 1)

    def _from_float(self, scope: Scope, depth: int) -> Value:
        return self.cast(self.floating(scope, depth - 1), self.random.choice(INTEGERS))

    def _clip(self, scope: Scope, depth: int) -> Value:
        """A call of one of the program's own functions (see `generate.HEADER`)."""
        value, most = self.integer(scope, depth - 1), self.random.randint(1, 50)
        return Value(expr("clip(@, @)", value.node, number(most)), INT, 0, most)

    def _bits(self, scope: Scope, depth: int) -> Value:
        name = self.random.choice(["popcount", "parity", "clz", "ctz", "ffs"]) + self.random.choice(["", "l", "ll"])
        return Value(expr(f"__builtin_{name}(@ | 64)", self.integer(scope, depth - 1).node), INT, 0, 64)

    # ------------------------------------------------------------------------------------------------- floats

    def floating(self, scope: Scope, depth: int) -> Value:
        if depth <= 0:
            return self.leaf(scope, floating=True)
        choices = [(4, self._sum), (3, self._product), (2, self._quotient), (3, self._function),
                   (1, self._float_choice), (1, self._float_cast), (1, self._negated)]  # fmt: skip
        if "own functions" in self.features:
            choices.append((1, self._mix))
        weights, makers = zip(*choices, strict=True)
        value: Value = self.random.choices(makers, weights)[0](scope, depth)
        return value if value.within(-(10**6), 10**6) else self._clamped(value, -1000, 1000)

    def _operands(self, scope: Scope, depth: int) -> tuple[Value, Value]:
        """Two operands, at least one of them of a floating-point type."""
        left = self.floating(scope, depth - 1)
        right = self.integer(scope, depth - 1) if self.random.random() < 0.3 else self.floating(scope, 0)
        return (right, left) if self.random.random() < 0.5 else (left, right)

    def _sum(self, scope: Scope, depth: int) -> Value:
        left, right = map(self.no_product, self._operands(scope, depth))
        op = self.random.choice("+-")
        node = expr(f"(@ {op} @)", left.node, right.node)
        return Value(node, common(left.type, right.type), *_combined(op, left, right))

    def no_product(self, value: Value) -> Value:
        """*value*, in a form that no compiler fuses with an addition."""
        return self._call(self.random.choice(["fabs", "floor"]), value) if value.product else value

    def _product(self, scope: Scope, depth: int) -> Value:
        left, right = self._operands(scope, depth)
        node = expr("(@ * @)", left.node, right.node)
        return Value(node, common(left.type, right.type), *_combined("*", left, right), product=True)

    def _quotient(self, scope: Scope, depth: int) -> Value:
        left, right = self._operands(scope, depth)
        positive = self._call("fabs", right)
        size = max(abs(left.low), abs(left.high))
        node = expr("(@ / (@ + 1))", left.node, positive.node)
        return Value(node, common(left.type, positive.type), -size, size)

    def _call(self, function: str, value: Value) -> Value:
        single = value.type == FLOAT and self.random.random() < 0.5
        size = max(abs(value.low), abs(value.high)) + 1
        low = 0 if function in ("fabs", "sqrt") else -size
        return Value(expr(f"{function}{'f' if single else ''}(@)", value.node), FLOAT if single else DOUBLE, low, size)

    def _function(self, scope: Scope, depth: int) -> Value:
        name = self.random.choice(["sqrt", "fabs", "floor", "ceil", "trunc", "fmin", "fmax"])
        value = self.floating(scope, depth - 1)
        if name == "sqrt":
            return self._call(name, self._call("fabs", value))
        if name.startswith("fm"):
            limit = Value(expr("INFINITY" if name == "fmin" else "(-INFINITY)"), FLOAT, value.low, value.high)
            other = self.random.choice([self.floating(scope, 0), self.floating(scope, 0), limit])
            low, high = min(value.low, other.low), max(value.high, other.high)
            return Value(expr(f"{name}(@, @)", value.node, other.node), DOUBLE, low, high)
        return self._call(name, value)

    def _float_choice(self, scope: Scope, depth: int) -> Value:
        return _selected(self.condition(scope, depth - 1), *self._operands(scope, depth))

    def _float_cast(self, scope: Scope, depth: int) -> Value:
        make = self.random.choice([self.floating, self.integer])
        return self.cast(make(scope, depth - 1), self.random.choice([FLOAT, DOUBLE]))

    def _mix(self, scope: Scope, depth: int) -> Value:
        left, right = map(self.no_product, self._operands(scope, depth))
        size = max(abs(v) for v in (left.low, left.high, right.low, right.high))
        return Value(expr("mix(@, @)", left.node, right.node), DOUBLE, -size, size)

    def _negated(self, scope: Scope, depth: int) -> Value:
        value = self.floating(scope, depth - 1)
        return replace(value, node=expr("(-@)", value.node), low=-value.high, high=-value.low)

    # ------------------------------------------------------------------------------------------------- storing

    def any(self, scope: Scope, depth: int, ctype: CType) -> Value:
        """A value that suits *ctype*, of this or another type."""
        floating = self.random.random() < (0.8 if ctype.is_float else 0.15)
        return self.floating(scope, depth) if floating else self.integer(scope, depth)

    def stored(self, value: Value, ctype: CType, held: tuple[int, int] | None = None) -> Node:
        """*value* for an assignment to something of *ctype* that holds values in *held*."""
        low, high = held or ctype.bound
        if ctype == BOOL:
            return value.node
        if ctype.is_float:
            return value.node if value.within(low, high) else self._clamped(value, low, high).node
        if value.type.is_float:
            value = self._clamped(value, max(low, -100), min(high, 100))
        if value.within(low, high) or ctype.bits < 32 or not ctype.signed:
            return value.node
        return expr(f"(@ % {high})", value.node)

    def _clamped(self, value: Value, low: int, high: int) -> Value:
        return Value(expr(f"fmin(fmax(@, {low}), {high})", value.node), DOUBLE, low, high)


def _selected(cond: Value, then: Value, other: Value) -> Value:
    ctype = common(then.type, other.type)
    then, other = converted(then, ctype), converted(other, ctype)
    low, high = min(then.low, other.low), max(then.high, other.high)
    node = expr("(@ ? @ : @)", cond.node, then.node, other.node)
    return Value(node, ctype, low, high, then.product or other.product)


def _combined(op: str, left: Value, right: Value) -> tuple[int, int]:
    if op == "+":
        return left.low + right.low, left.high + right.high
    if op == "-":
        return left.low - right.high, left.high - right.low
    corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return min(corners), max(corners)
