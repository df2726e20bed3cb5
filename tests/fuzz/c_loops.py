"""Random headers of C ``for`` loops that end, and whose counters stay in a known interval."""

from __future__ import annotations

from dataclasses import dataclass, field

from c_addresses import Addresses
from c_expressions import Scope
from c_types import INT, INTEGERS, LONG, UINT, UINT8, UINT16, ULONG, CType, Value, common
from tree import Node, expr, fixed, number


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop's *header*, its *counter* in the body, and whether the host can tell its bounds (*known*)."""

    header: Node
    counter: Value
    declared: bool
    known: bool = True


@dataclass(frozen=True, slots=True)
class Parameters:
    """Integers that do not change in a region: *sizes* for bounds, *steps* (at least 1), *starts* (index arrays)."""

    sizes: tuple[Value, ...] = ()
    steps: tuple[Value, ...] = ()
    starts: str = ""


@dataclass(frozen=True, slots=True)
class Reduction:
    """``reduce(variable, op)`` over a variable of *ctype*."""

    variable: str
    op: str
    ctype: CType


@dataclass(slots=True)
class Nest:
    """What holds for the region at hand.

    *depth*: the loops around the statement.  *breakable*: the innermost loop may be left.  *guarded*: an ``if`` is
    around the statement.  *outer* collects counters that are declared before the region; *jumps*: the annotated loop
    has a ``continue``.  *jit*: integers whose value is known when the kernel is compiled.
    """

    given: Parameters
    features: frozenset[str]
    depth: int = 1
    breakable: bool = False
    guarded: bool = False
    reductions: tuple[Reduction, ...] = ()
    jit: tuple[Value, ...] = ()
    outer: list[tuple[str, CType]] = field(default_factory=list)
    jumps: bool = False


class Loops(Addresses):
    """Makes loop headers."""

    def loop(self, scope: Scope, given: Parameters, name: str, *, declare: bool, trips: int, data: bool = False
    ) -> Loop:  # fmt: skip
        """A loop over *name* with at most *trips* iterations; *data*: its bounds may be read from an index array."""
        rows = [c for c in scope.counters if c.within(0, 11)]
        if data and rows and given.starts and self.random.random() < 0.3:
            return self._ragged(self.random.choice(rows), given.starts, name)
        if scope.counters and declare and self.random.random() < 0.06:
            return self._odd(name)
        for _ in range(60):
            down = self.random.random() < 0.35
            found = (self._down if down else self._up)(scope, given, name, declare, trips)
            if found:
                return found
        header = fixed(f"for ({'int ' if declare else ''}{name} = 0; {name} < @; {name}++)", number(3))
        return Loop(header, Value(Node("fixed", name), INT, 0, 2), declare)

    def _ragged(self, row: Value, starts: str, name: str) -> Loop:
        header = fixed(f"for (int {name} = {starts}[@]; {name} < {starts}[@ + 1]; {name}++)", row.node, row.node)
        return Loop(header, Value(Node("fixed", name), INT, 0, 29), True, known=False)

    def _odd(self, name: str) -> Loop:
        """A loop whose counter passes zero, the end of its type, or a bound of another signedness."""
        count = self.random.randint(1, 7)
        form, ctype, low, high = self.random.choice([
            (f"unsigned {name} = {count}; {name} != (unsigned)-1; {name}--", UINT, 0, count),
            (f"size_t {name} = {count}; {name} < {count + 1}; {name}--", ULONG, 0, count),
            (f"int {name} = -{count}; {name} < {2**32 - 1}u; {name}++", INT, -count, -2),
            (f"long {name} = -1; {name} >= {2**64 - count}u; {name}--", LONG, -count, -1),
            (f"unsigned char {name} = {256 - count}; {name} != {count}; {name}++", UINT8, 0, 255),
            (f"unsigned char {name} = 0; {name} < 140; {name} += {count + 140}", UINT8, 0, 0),
            (f"unsigned short {name} = {count}; {name} < 9; {name} -= {count}", UINT16, 0, count),
        ])  # fmt: skip
        return Loop(fixed(f"for ({form})"), Value(Node("fixed", name), ctype, low, max(low, high)), True, known=False)

    def _bounds(self, scope: Scope, given: Parameters) -> tuple[Value, Value]:
        counters = [c for c in scope.counters if c.type.signed]
        lower = (
            self.number(-3, self.random.choice([-1, 5]))
            if self.random.random() < 0.7
            else self._shifted([*given.sizes, *counters])
        )
        return lower, self._shifted([*given.sizes, *given.sizes, *counters, self.number(2, 12)])

    def _shifted(self, values: list[Value]) -> Value:
        """One of *values*, possibly plus or minus a little, or half of it."""
        value = self.random.choice(values or [self.number(0, 6)])
        form = self.random.random()
        shift = self.random.randint(1, 4)
        if form < 0.5:
            return value
        ctype = common(value.type, INT)
        if form < 0.7:
            return Value(expr(f"@ + {shift}", value.node), ctype, value.low + shift, value.high + shift)
        if form < 0.8 and value.low >= 0:
            return Value(expr("@ / 2", value.node), ctype, value.low // 2, value.high // 2)
        if not ctype.signed and value.low < shift:
            return value
        return Value(expr(f"@ - {shift}", value.node), ctype, value.low - shift, value.high - shift)

    def _step(self, given: Parameters) -> tuple[Value, Node]:
        if self.random.random() < 0.65:
            return Value(number(1), INT, 1, 1), number(1)
        if given.steps and self.random.random() < 0.5:
            value = self.random.choice(given.steps)
            return value, value.node
        step = self.random.randint(2, 3)
        return Value(number(step), INT, step, step), number(step)

    def _up(self, scope: Scope, given: Parameters, name: str, declare: bool, trips: int) -> Loop | None:
        (lower, upper), (step, amount) = self._bounds(scope, given), self._step(given)
        relation, ctype = self.random.choice(["<", "<", "<=", "!="]), self.random.choice(INTEGERS)
        last = upper.high if relation == "<=" else upper.high - 1
        compared = common(ctype, upper.type)
        if relation == "!=" and (step.high != 1 or lower.high > upper.low):
            return None
        if not compared.signed and upper.low < 0:
            return None
        if not _fits(ctype, lower.low, max(last, lower.high) + step.high) or (last - lower.low) // step.low >= trips:
            return None
        advance = self._advance(name, "+", step, amount, ctype)
        header = self._header(name, ctype, declare, lower.node, relation, upper.node, advance)
        return Loop(header, Value(Node("fixed", name), ctype, lower.low, max(last, lower.low)), declare)

    def _down(self, scope: Scope, given: Parameters, name: str, declare: bool, trips: int) -> Loop | None:
        (lower, upper), (step, amount) = self._bounds(scope, given), self._step(given)
        relation, ctype = self.random.choice([">", ">=", "!="]), self.random.choice(INTEGERS)
        compared = common(ctype, lower.type)
        if relation == "!=" and (step.high != 1 or lower.high > upper.low):
            return None
        # In an unsigned comparison the counter must meet the bound before it passes zero.
        meets = step.high == 1 and lower.low >= (1 if relation == ">=" else 0) and upper.low >= 0
        if not (compared.signed and ctype.signed) and not meets:
            return None
        if not _fits(ctype, min(lower.low - (step.high if compared.signed else 1), 0 if not ctype.signed else -1),
                     upper.high) and not (meets and _fits(ctype, 0, upper.high)):  # fmt: skip
            return None
        if (upper.high - lower.low) // step.low >= trips:
            return None
        advance = self._advance(name, "-", step, amount, ctype)
        header = self._header(name, ctype, declare, upper.node, relation, lower.node, advance)
        first = lower.low + (0 if relation == ">=" else 1)
        return Loop(header, Value(Node("fixed", name), ctype, min(first, upper.high), upper.high), declare)

    def _advance(self, name: str, sign: str, step: Value, amount: Node, ctype: CType) -> Node:
        forms = [f"{name} {sign}= @", f"{name} = {name} {sign} @"]
        if sign == "+":
            forms.append(f"{name} = @ + {name}")
        if step.low == step.high and step.type.signed and (ctype.signed or step.high == 1):
            forms.append(f"{name} {'-' if sign == '+' else '+'}= -@")
        if step.high == 1:
            forms = [f"{name}{sign * 2}"] * 4 + [f"{sign * 2}{name}", *forms]
        form = self.random.choice(forms)
        return fixed(form, amount) if "@" in form else fixed(form)

    def _header(self, name: str, ctype: CType, declare: bool, start: Node, relation: str, bound: Node, advance: Node
    ) -> Node:  # fmt: skip
        counter = name
        if self.random.random() < 0.15 and relation != "!=" and ctype.signed:
            shift = self.random.randint(1, 3)
            counter, bound = f"{name} + {shift}", expr(f"@ + {shift}", bound)
        condition = f"{counter} {relation} @"
        if self.random.random() < 0.2:
            condition = f"@ {relation.translate(str.maketrans('<>', '><'))} {counter}"
        declared = f"{self.spelled(ctype)} {name}" if declare else name
        return fixed(f"for ({declared} = @; {condition}; @)", start, bound, advance)


def _fits(ctype: CType, low: int, high: int) -> bool:
    return ctype.range[0] <= low and high <= ctype.range[1]
