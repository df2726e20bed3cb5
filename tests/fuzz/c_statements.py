"""Random statements of a kernel's body.

To add a kind of statement, write a method of `Statements` and name it in `MAKERS`, with the feature that it needs: a
feature that is not in `FEATURES` is off, so that what nomp will accept soon can be generated already.
"""

from __future__ import annotations

from collections.abc import Callable

from c_aggregates import Aggregates
from c_expressions import Scope
from c_loops import Nest, Reduction
from c_types import DOUBLE, INTEGERS, TYPES, CType, Value
from tree import Node, block, expr, fixed, number, stmt

FEATURES = frozenset(
    {
        "break",
        "continue",
        "local array",
        "data bounds",
        "early counters",
        "while",
        "do",
        "switch",
        "own functions",
        "wide extents",
        "structs",
        "aliasing",
        "annotations",
        "addresses",
    }
)
SHRINKING = ("+=", "-=", "%=", "/=", ">>=")
WRAPPING = (*SHRINKING, "*=", "&=", "|=", "^=", "<<=")
COUNTERS = ("j", "k", "l")


class Statements(Aggregates):
    """Makes statements."""

    def body(self, scope: Scope, nest: Nest, count: int) -> Node:
        """A block of about *count* statements, which sees *scope* and adds its own declarations to it."""
        kids: list[Node] = []
        for _ in range(count):
            usable = [(weight, make) for weight, feature, make in MAKERS if not feature or feature in nest.features]
            weights, makers = zip(*usable, strict=True)
            made = self.random.choices(makers, weights)[0](self, scope, nest)
            kids += made or [self.assignment(scope, nest)]
        return block(*(kid for kid in kids if kid))

    # ----------------------------------------------------------------------------------------------- assignments

    def _target(self, scope: Scope) -> tuple[Node, CType, bool] | None:
        """Something to assign to, its type, and whether it takes inexact results."""
        arrays = [a for a in scope.arrays if a.writable]
        if scope.places and (not arrays or self.random.random() < 0.3):
            return (*self.random.choice(scope.places), False)
        if not arrays:
            return None
        array = self.random.choice(arrays)
        return self.place(scope, array), array.type, array.loose

    def assignment(self, scope: Scope, nest: Nest) -> Node | None:
        target = self._target(scope)
        if target is None:
            return None
        place, ctype, loose = target
        value = self.any(scope, self.random.randint(1, 3), ctype)
        if loose:
            return stmt("@ = @;", place, self._fused(scope))
        return stmt("@ = @;", place, self.stored(value, ctype))

    def _fused(self, scope: Scope) -> Node:
        """A sum of products, which a compiler may contract."""
        factors = [self.leaf(scope, floating=True).node for _ in range(3)]
        return expr("@ * @ + @", *factors)

    def update(self, scope: Scope, nest: Nest) -> list[Node]:
        """A compound assignment, an increment or a decrement."""
        target = self._target(scope)
        if target is None or target[2]:
            return []
        place, ctype, _ = target
        place = expr("(@)", place) if str(place).startswith("*") else place
        if self.random.random() < 0.25:
            form = self.random.choice(["@++;", "@--;", "++@;", "--@;"])
            return [stmt(form, place)]
        if ctype.is_float:
            return [self._float_update(scope, place)]
        return [self._integer_update(scope, place, ctype)]

    def _float_update(self, scope: Scope, place: Node) -> Node:
        op = self.random.choice(["+=", "-=", "*=", "/="])
        if op in ("*=", "/="):
            return stmt(f"@ {op} @;", place, expr(self.random.choice(["0.5", "0.75f", "-1", "1"])))
        value = self.no_product(self.floating(scope, 1))
        return stmt(f"@ {op} @;", place, self._clamped(value, -10, 10).node)

    def _integer_update(self, scope: Scope, place: Node, ctype: CType) -> Node:
        wide = ctype.signed and ctype.bits >= 32
        op = self.random.choice(SHRINKING if wide else WRAPPING)
        if op == "<<=" and ctype.signed:
            op = ">>="  # a negative value must not be shifted to the left
        value = self.integer(scope, 1)
        if op in ("/=", "%="):
            return stmt(f"@ {op} @;", place, number(self.random.choice([2, 3, 7, 10])))
        if op in ("<<=", ">>="):
            return stmt(f"@ {op} @;", place, expr("(@ & 3)", value.node))
        if op == "*=":
            return stmt("@ *= @;", place, number(self.random.randint(2, 9)))
        small = value.node if value.within(-100, 100) else expr("(@ % 100)", value.node)
        return stmt(f"@ {op} @;", place, small)

    # ---------------------------------------------------------------------------------------------- declarations

    def local(self, scope: Scope, nest: Nest) -> list[Node]:
        ctype, name = self.random.choice(TYPES), f"v{self.made}"
        self.made += 1
        value = self.any(scope, 2, ctype)
        node = stmt(f"{self.spelled(ctype)} {name} = @;", self.stored(value, ctype))
        scope.values.append(Value(fixed(name), ctype, *ctype.bound))
        scope.places.append((fixed(name), ctype))
        return [node]

    # ---------------------------------------------------------------------------------------------- control flow

    def guard(self, scope: Scope, nest: Nest) -> list[Node]:
        was, nest.guarded = nest.guarded, True
        cond = self._test(scope)
        then = self.body(scope.inner(), nest, self.random.randint(1, 2))
        made = stmt("if (@) {\n@\n}", cond, then)
        if self.random.random() < 0.5:
            made = stmt("if (@) {\n@\n} else {\n@\n}", cond, then, self.body(scope.inner(), nest, 1))
        nest.guarded = was
        return [made]

    def _test(self, scope: Scope) -> Node:
        """A condition, which may change something if part of it holds."""
        cond, target = self.condition(scope, 2).node, self._target(scope)
        if target is None or target[2] or self.random.random() < 0.7:
            return cond
        place, ctype, _ = target
        value = self.stored(self.any(scope, 1, ctype), ctype)
        form = self.random.choice(["@ && ((@ = @), @)", "@ || (@ = @) && @", "(@ ? @ = @ : @)"])
        return expr(form, cond, place, value, self.condition(scope, 1).node)

    def inner_loop(self, scope: Scope, nest: Nest) -> list[Node]:
        if nest.depth >= 3:
            return []
        kind = "header"
        if "early counters" in nest.features and self.random.random() < 0.2:
            kind = "outer" if nest.depth == 1 and not nest.guarded and not nest.jumps else "body"
        name = self.random.choice(COUNTERS) if kind == "header" else f"e{self.made}"
        self.made += 1
        data = kind == "header" and "data bounds" in nest.features
        loop = self.loop(scope.inner(name), nest.given, name, declare=kind == "header", trips=9, data=data)
        if kind == "outer":
            nest.outer.append((name, loop.counter.type))
        inner = scope.inner(name)
        inner.counters.append(loop.counter)
        was = nest.depth, nest.breakable
        nest.depth, nest.breakable = nest.depth + 1, kind != "outer"
        body = self.body(inner, nest, self.random.randint(1, 3))
        nest.depth, nest.breakable = was
        before = [stmt(f"{loop.counter.type.name} {name};")] if kind == "body" else []
        return [*before, stmt("@ {\n@\n}", loop.header, body)]

    def jump(self, scope: Scope, nest: Nest) -> list[Node]:
        """``break`` out of an inner loop, or ``continue``."""
        kinds = [kind for kind in ("break", "continue") if kind in nest.features]
        if not nest.breakable:
            kinds = [kind for kind in kinds if kind == "continue"]
        if nest.depth == 1 and (nest.outer or self.random.random() < 0.5):
            kinds = []
        if not kinds:
            return []
        nest.jumps = nest.jumps or nest.depth == 1
        return [stmt(f"if (@) {self.random.choice(kinds)};", self.condition(scope, 1).node)]

    def accumulate(self, scope: Scope, nest: Nest) -> list[Node]:
        if not nest.reductions:
            return []
        return [self.accumulation(scope, self.random.choice(nest.reductions))]

    def accumulation(self, scope: Scope, reduction: Reduction) -> Node:
        """One statement that accumulates, in one of the forms that C programs use."""
        made = self._accumulation(scope, reduction)
        guarded = stmt("if (@) {\n@\n}", self.condition(scope, 1).node, block(made))
        return made if self.random.random() < 0.75 else guarded

    def _accumulation(self, scope: Scope, reduction: Reduction) -> Node:
        s, op, ctype = reduction.variable, reduction.op, reduction.ctype
        if op in ("min", "max"):
            return self._extreme(scope, s, op, ctype)
        if op in ("&&", "||"):
            return stmt(f"{s} = {s} {op} @;", self.condition(scope, 2).node)
        term = self._term(scope, op, ctype)
        forms = [f"{s} {op}= @;", f"{s} {op}= @;", f"{s} = {s} {op} @;", f"{s} = @ {op} {s};"]
        return stmt(self.random.choice([*forms, f"{s} -= @;"] if op == "+" else forms), term)

    def _term(self, scope: Scope, op: str, ctype: CType) -> Node:
        """A term whose reduction is exact in every order."""
        if ctype.is_float:
            return self._exact_term(scope, op)
        value = self.integer(scope, 2)
        if ctype.signed and ctype.bits >= 32:
            if op == "*":
                return expr("(@ ? -1 : 1)", self.condition(scope, 1).node)
            return value.node if value.within(-(10**4), 10**4) else expr("(@ % 1000)", value.node)
        return expr("(@ | 1)", value.node) if op == "*" else expr("(@ % 1000)", value.node)

    def _exact_term(self, scope: Scope, op: str) -> Node:
        arrays = [a for a in scope.arrays if a.name.endswith("exact")]
        if op == "*":
            return expr("(@ ? 2.0f : 0.5f)", self.condition(scope, 1).node)
        if not arrays:
            return expr("(@ & 15)", self.integer(scope, 1).node)
        node = self.element(scope, self.random.choice(arrays)).node
        return self.random.choice([node, expr("2 * @", node), expr("fabs(@)", node), expr("(@ + 0.5f)", node)])

    def _extreme(self, scope: Scope, s: str, op: str, ctype: CType) -> Node:
        name, sign = f"m{self.made}", "<" if op == "min" else ">"
        self.made += 1
        forms = [f"if ({name} {sign} {s}) {s} = {name};", f"{s} = {name} {sign} {s} ? {name} : {s};",
                 f"{s} = {s} {sign}= {name} ? {s} : {name};"]  # fmt: skip
        if ctype == DOUBLE:
            forms.append(f"{s} = f{op}({s}, {name});")
        value = self.stored(self.any(scope, 2, ctype), ctype)
        return stmt(f"{{ {ctype.name} {name} = @; {self.random.choice(forms)} }}", value)

    # ------------------------------------------------------------------------- loops that do not count, switches

    def while_loop(self, scope: Scope, nest: Nest) -> list[Node]:
        name = f"w{self.made}"
        self.made += 1
        inner = scope.inner()
        inner.counters.append(Value(fixed(name), INTEGERS[4], 0, 4))
        body = self.body(inner, nest, 1)
        text = f"int {name} = 4; while ({name} > 0 && @) {{\n{name}--;\n@\n}}"
        return [stmt(text, self.condition(scope, 1).node, body)]

    def do_loop(self, scope: Scope, nest: Nest) -> list[Node]:
        name = f"w{self.made}"
        self.made += 1
        was = nest.depth, nest.breakable
        nest.depth, nest.breakable = nest.depth + 1, True
        body = self.body(scope.inner(), nest, 2)
        nest.depth, nest.breakable = was
        return [stmt(f"int {name} = 0; do {{\n@\n}} while (++{name} < @);", body, number(3))]

    def switch(self, scope: Scope, nest: Nest) -> list[Node]:
        first, second = (self._labelled(scope.inner(), nest) for _ in range(2))
        text = "switch (@ & 3) {\ncase 1:\n@\nbreak;\ncase 2:\ndefault:\n@\n}"
        return [stmt(text, expr("(@ & 255)", self.integer(scope, 1).node), first, second)]

    def _labelled(self, scope: Scope, nest: Nest) -> Node:
        """What may follow a label: no declaration at first, and no array whose size only a clause makes constant."""
        was, nest.jit = nest.jit, ()
        found = block(*(_plain(self, scope, nest) or [stmt(";")]), self.body(scope, nest, 1))
        nest.jit = was
        return found


def _plain(statements: Statements, scope: Scope, nest: Nest) -> list[Node]:
    made = statements.assignment(scope, nest)
    return [made] if made else []


MAKERS: tuple[tuple[int, str, Callable[[Statements, Scope, Nest], list[Node]]], ...] = (
    (6, "", _plain), (3, "", Statements.update), (3, "", Statements.local), (1, "local array", Statements.local_array),
    (2, "", Statements.guard), (3, "", Statements.inner_loop), (1, "break", Statements.jump),
    (2, "", Statements.accumulate), (1, "while", Statements.while_loop), (1, "do", Statements.do_loop),
    (1, "switch", Statements.switch), (1, "structs", Statements.local_struct), (1, "structs", Statements.whole_struct),
    (1, "structs", Statements.struct_pointer), (1, "addresses", Statements.pointer),
    (1, "addresses", Statements.taken),
)  # fmt: skip
