"""Random regions: a pragma, its loop nest, the function around it and the calls of that.

Called by `generate`.  To add a kind of region, write a method of `Region` and name it in `Region.code`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from random import Random

import c_scripts
from c_expressions import Array, Scope
from c_loops import Nest, Parameters, Reduction
from c_statements import Statements
from c_structs import WIDE, Records
from c_types import BOOL, DOUBLE, FLOAT, FLOATS, INT, INT16, INTEGERS, LONG, TYPES, UINT, ULONG, CType, Value
from tree import Node, block, expr, fixed, number, stmt

REACH = 20
"""The elements from each of its pointers on that an aliased region may use."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An array of the program: *length* elements, or rows of *columns*; elements *low* to *high* are mapped."""

    name: str
    type: CType
    length: int
    columns: int
    low: int
    high: int
    storage: str
    writable: bool = True
    held: tuple[int, int] | None = None
    loose: bool = False

    @property
    def size(self) -> int:
        return self.length * (self.columns or 1)


@dataclass(frozen=True, slots=True)
class RegionCode:
    """A region: the *function* that holds it (none where it stands in ``main``), and the statements that run it."""

    number: int
    function: Node | None
    calls: tuple[Node, ...]


class Region:
    """One region under construction; *make* makes its statements, *wholes* and *records* are the program's arrays.

    An *aliased* region is called with arrays that overlap, too.
    """

    def __init__(self, make: Statements, wholes: list[Whole], records: list[Records], features: frozenset[str],
                 index: int) -> None:  # fmt: skip
        self.make, self.random, self.wholes, self.index = make, make.random, wholes, index
        self.aliased = "aliasing" in features and self.random.random() < 0.2
        self.inline = not self.aliased and self.random.random() < 0.3
        self.runs = 1 if self.inline else self.random.randint(3, 5) if self.aliased else self.random.randint(1, 3)
        self.parameters: list[tuple[str, list[str]]] = []
        self.before: list[Node] = []
        self.shows: list[Node] = []
        self.clauses: list[Node] = []
        self.scope = Scope()
        self.nest = Nest(self._integers(), features)
        self._scalars()
        self._pass_arrays()
        for some in records:
            if self.random.random() < 0.4:
                self._pass_records(some)

    # --------------------------------------------------------------------------------------------- parameters

    def _integers(self) -> Parameters:
        sizes = [
            self._integer(f"n{k}", self.random.choice((*INTEGERS, UINT, ULONG)), 0 if k else 1, 12) for k in range(2)
        ]
        if self.random.random() < 0.2:
            sizes.append(self._integer("neg", INT, -2, 5))
        steps = [self._integer("st", self.random.choice([INT, UINT, LONG]), 1, 3)]
        return Parameters(tuple(sizes), tuple(steps), "starts")

    def _integer(self, name: str, ctype: CType, low: int, high: int) -> Value:
        values = [self.random.randint(low, high) for _ in range(self.runs)]
        self.parameters.append((f"{self.make.spelled(ctype)} {name}", [str(value) for value in values]))
        return Value(fixed(name), ctype, min(values), max(values))

    def _scalars(self) -> None:
        """Parameters that the body computes with, jit ones among them."""
        given = self.nest.given
        self.scope.values += [*given.sizes, *given.steps]
        for k in range(self.random.randint(1, 3)):
            ctype = self.random.choice(TYPES)
            values = [str(self.random.choice([-3, 0.25, 7.5, 2]) if ctype.is_float else self.random.randint(0, 90))
                      for _ in range(self.runs)]  # fmt: skip
            self.parameters.append((f"{self.make.spelled(ctype)} x{k}", values))
            self.scope.values.append(Value(fixed(f"x{k}"), ctype, *((-100, 100) if ctype.is_float else (0, 90))))
        if self.random.random() < 0.3:
            self.nest.jit = given.sizes[:1]
            names = [str(v.node) for v in self.nest.jit] + ["x0"] * (self.random.random() < 0.3)
            forms = [f"jit({', '.join(names)})", " ".join(f'jit("{name}")' for name in names)]
            self.clauses.append(stmt(self.random.choice(forms)))
        if self.random.random() < 0.3:
            self.parameters.append(("const struct box *p", ["p"] * self.runs))
            self.scope.values += [Value(expr("p->n"), INT, 9, 9), Value(expr("p->w"), DOUBLE, 0, 1),
                                  Value(expr("p->k"), INTEGERS[1], 200, 200)]  # fmt: skip
            self.scope.arrays += [Array("p->x", FLOAT, 0, 16, 0, (-3, 3), False),
                                  Array("p->q", INT16, 0, 20, 0, (-10, 1000), False)]  # fmt: skip
        if self.random.random() < 0.3:
            self.scope.arrays += [Array("primes", INT16, 0, 8, 0, (2, 19), False),
                                  Array("weights", FLOAT, 0, 2, 3, (-1, 1), False)]  # fmt: skip

    def _pass_arrays(self) -> None:
        if self.aliased:
            self.scope.arrays += [self._passed(whole) for whole in self.wholes[:2]]
            self._pass_pointers()
            return
        chosen = self.random.sample(self.wholes[4:], self.random.randint(2, 5))
        for whole in [*self.wholes[:4], *chosen]:
            self.scope.arrays.append(self._passed(whole))

    def _pass_pointers(self) -> None:
        """Two or three pointers that may be equal, or point into one array."""
        ctype, count = self.random.choice([DOUBLE, INT]), self.random.randint(2, 3)
        pool = [w.name for w in self.wholes if w.name.startswith("alias") and w.type == ctype]
        calls = [self._pointers(pool, count) for _ in range(self.runs)]
        for k in range(count):
            writable = k == 0 or self.random.random() < 0.5
            const = "" if writable else "const "
            self.parameters.append((f"{const}{self.make.spelled(ctype)} *p{k}", [call[k] for call in calls]))
            self.scope.arrays.append(Array(f"p{k}", ctype, 0, REACH, writable=writable))

    def _pointers(self, pool: list[str], count: int) -> list[str]:
        """What one call passes: arrays that are apart, or parts of one array and sometimes of another."""
        if self.random.random() < 0.3:
            return self.random.sample(pool, count)
        name, other = self.random.sample(pool, 2)
        shift = self.random.choice([0, 1, 1, 2, 5, 12, REACH])
        made = [name, f"{name} + {shift}" if shift else name]
        made += [self.random.choice([name, other, f"{name} + 1"])] * (count - 2)
        self.random.shuffle(made)
        return made

    def _pass_records(self, records: Records) -> None:
        """An array of structs, whole and as an array for each of its members."""
        tag, name = records.struct.tag, records.name
        if not self.inline and not (records.static and self.random.random() < 0.6):
            if self.random.random() < 0.2:
                records = replace(records, writable=False)
            const = "" if records.writable else "const "
            form = self.random.choice([f"*{name}", f"*restrict {name}", f"{name}[]"])
            argument = name
            if self.random.random() < 0.2:
                argument, records = f"{name} + 3", replace(records, low=-3, high=records.high - 3)
            self.parameters.append((f"{const}struct {tag} {form}", [argument] * self.runs))
        self.scope.records.append(records)
        self.scope.arrays += [Array(name, m.type, records.low, records.high, m.length, None, records.writable,
                                    member=f".{m.name}") for m in records.struct.members]  # fmt: skip

    def _passed(self, whole: Whole) -> Array:
        """*whole* as this region sees it."""
        same = Array(whole.name, whole.type, whole.low, whole.high, whole.columns, whole.held, whole.writable,
                     not whole.loose, whole.loose)  # fmt: skip
        if self.inline or (whole.storage == "file" and self.random.random() < 0.6):
            return same
        ctype = self.make.spelled(whole.type)
        const = "" if whole.writable or self.random.random() < 0.3 else "const "
        if whole.columns:
            return self._passed_rows(whole, same, ctype)
        if self.random.random() < 0.25 and whole.name not in ("starts", "columns"):
            shift = self.random.randint(max(1, whole.low), whole.low + 6)  # nomp finds what a pointer points into
            self.parameters.append((f"{const}{ctype} *{whole.name}", [f"{whole.name} + {shift}"] * self.runs))
            return replace(same, low=whole.low - shift, high=whole.high - shift)
        form = self.random.choice([f"*{whole.name}", f"*{whole.name}", f"{whole.name}[]", f"{whole.name}[restrict]"])
        self.parameters.append((f"{const}{ctype} {form}", [whole.name] * self.runs))
        return same

    def _passed_rows(self, whole: Whole, same: Array, ctype: str) -> Array:
        name, form = whole.name, self.random.random()
        if form < 0.3:
            self.parameters.append((f"{ctype} *{name}", [f"&{name}[0][0]"] * self.runs))
            return replace(same, columns=0, high=whole.size)
        if form < 0.6:
            self.parameters.append((f"{ctype} (*{name})[{whole.columns}]", [name] * self.runs))
            return same
        integer = self.random.choice([INT, ULONG] if "wide extents" in self.nest.features else [INT])
        self.parameters.append((f"{self.make.spelled(integer)} c{name}", [str(whole.columns)] * self.runs))
        self.parameters.append((f"{ctype} {name}[{whole.length}][c{name}]", [name] * self.runs))
        return same

    # -------------------------------------------------------------------------------------------------- kinds

    def _loop(self, name: str = "i", trips: int = 30) -> tuple[Node, Scope]:
        declare = self.random.random() < 0.8
        loop = self.make.loop(self.scope, self.nest.given, name, declare=declare, trips=trips)
        if not declare:
            self._outside(name, loop.counter.type)
        inner = self.scope.inner(name)
        inner.counters.append(loop.counter)
        return loop.header, inner

    def _outside(self, name: str, ctype: CType) -> None:
        """Declare a counter before the region, and print it after it."""
        self.before.append(stmt(f"{self.make.spelled(ctype)} {name} = 3;"))
        self.shows.append(stmt(show("exact", f"{name} of r{self.index}", ctype, f"&{name}", 1)))

    def _finish(self, header: Node, body: Node) -> Node:
        for name, ctype in self.nest.outer:
            self._outside(name, ctype)
        return stmt("@ {\n@\n}", header, body)

    def ordered(self) -> Node:
        """Any statements; each iteration may use what others wrote."""
        header, scope = self._loop()
        for k in range(self.random.choice([0, 0, 1, 2])):
            self._cell(scope, f"last{k}")
        return self._finish(header, self.make.body(scope, self.nest, self.random.randint(2, 5)))

    def _cell(self, scope: Scope, name: str) -> None:
        """A variable outside the region that the region writes."""
        ctype = self.random.choice(TYPES)
        self.before.append(stmt(f"{self.make.spelled(ctype)} {name} = @;", number(self.random.randint(0, 40))))
        self.shows.append(stmt(show("exact", f"{name} of r{self.index}", ctype, f"&{name}", 1)))
        scope.places.append((fixed(name), ctype))
        if self.random.random() < 0.5:
            scope.values.append(Value(fixed(name), ctype, *ctype.bound))

    def independent(self) -> Node:
        """Each iteration writes elements of its own, and reads these and arrays that nobody writes."""
        header, scope = self._loop()
        counter = scope.counters[-1]
        owned = [a for a in scope.arrays if a.writable and counter.high - counter.low < a.high - max(a.low, 0)]
        scope.arrays = [replace(a, writable=False) for a in scope.arrays if a not in owned and a.readable]
        own = {a.name: self.make.affine(counter, a.low, a.high) for a in owned}
        scope.records = [replace(r, place=fixed(f"{r.name}[@]", own[r.name])) if r.name in own
                         else replace(r, writable=False) for r in scope.records]  # fmt: skip
        for array in owned:
            place = fixed(f"{array.name}[@]{array.member}", own[array.name])
            if array.columns:
                scope.arrays.append(Array(str(place), array.type, 0, array.columns))
            elif not array.loose:
                scope.places.append((place, array.type))
                scope.values.append(Value(expr("@", place), array.type, *array.values))
        self.nest.features -= {"early counters"}
        body = self.make.body(scope, self.nest, self.random.randint(2, 5))
        if self.random.random() < 0.7:
            self._schedule(c_scripts.LOOP, c_scripts.LOOP_ANNOTATED)
        return self._finish(header, body)

    def _schedule(self, transformed: list[c_scripts.Clauses], annotated: list[c_scripts.Clauses]) -> None:
        """Clauses for a script."""
        some = annotated if "annotations" in self.nest.features and self.random.random() < 0.4 else transformed
        self.clauses += map(stmt, self.random.choice(some))

    def grid(self) -> Node:
        """Two nested loops whose iterations write one element each."""
        rows = [a for a in self.scope.arrays if a.columns and a.writable]
        if not rows:
            return self.independent()
        array = self.random.choice(rows)
        given, make = self.nest.given, self.make
        low = max(array.low, 0)  # an unsigned counter reaches no others
        outer = make.loop(self.scope, given, "i", declare=True, trips=array.high - low)
        self.scope.counters.append(outer.counter)
        inner = make.loop(self.scope, given, "j", declare=True, trips=array.columns)
        spans = [(c.counter.high - c.counter.low) for c in (outer, inner)]
        if spans[0] >= array.high - low or spans[1] >= array.columns:
            self.scope.counters.pop()
            return self.independent()
        self.scope.counters.append(inner.counter)
        place = fixed(f"{array.name}[@]{array.member}[@]", make.affine(outer.counter, low, array.high),
                      make.affine(inner.counter, 0, array.columns))  # fmt: skip
        scope = self.scope.inner()
        scope.arrays = [replace(a, writable=False) for a in scope.arrays if a is not array and a.readable]
        scope.places, scope.records = [(place, array.type)], []
        scope.values.append(Value(expr("@", place), array.type, *array.values))
        self.nest.depth, self.nest.features = 3, self.nest.features - {"early counters"}
        body = make.body(scope, self.nest, self.random.randint(1, 3))
        dependent = re.search(r"\bi\b", str(inner.header))
        if self.random.random() < 0.6:
            grids = c_scripts.GRID if dependent else c_scripts.GRID + c_scripts.SWAPPED
            self._schedule(grids, c_scripts.GRID_ANNOTATED)
        return stmt("@\n@ {\n@\n}", outer.header, inner.header, body)

    def reduction(self) -> Node:
        """Loops that accumulate, and sometimes do more."""
        header, scope = self._loop(trips=40)
        for k in range(self.random.choice([1, 1, 2, 3])):
            self._reduced(k)
        pure = self.random.random() < 0.7
        if pure:
            scope.arrays = [replace(a, writable=False) for a in scope.arrays]
            scope.records = [replace(r, writable=False) for r in scope.records]
            self.nest.features -= {"early counters"}
            if self.random.random() < 0.2:
                self._schedule(c_scripts.IN_STRIPS, c_scripts.IN_STRIPS_ANNOTATED)
        body = self.make.body(scope, self.nest, self.random.randint(0 if pure else 1, 3))
        terms = [self.make.accumulation(scope, reduction) for reduction in self.nest.reductions]
        return self._finish(header, block(*body.kids, *terms))

    def _reduced(self, k: int) -> None:
        op = self.random.choice(["+", "+", "*", "min", "max", "&", "|", "^", "&&", "||"])
        ctype = self.random.choice((*INTEGERS, *FLOATS, *FLOATS) if op in ("+", "*", "min", "max") else (*INTEGERS,))
        if op in ("&&", "||"):
            ctype = self.random.choice([INT, BOOL, UINT])
        name = f"s{k}"
        if self.random.random() < 0.2:
            self.before.append(stmt(f"{ctype.name} {name}[2] = {{@, @}};", number(4), number(5)))
            shown, name = name, f"{name}[1]"
        else:
            self.before.append(stmt(f"{ctype.name} {name} = @;", number(self.random.randint(0, 9))))
            shown = f"&{name}"
        self.shows.append(stmt(show("exact", f"s{k} of r{self.index}", ctype, shown, 1 if shown[0] == "&" else 2)))
        form = self.random.choice([f'reduce("{name}", "{op}")', f"reduce({op} : {name})"])
        self.clauses.append(stmt(form))
        self.nest.reductions += (Reduction(name, op, ctype),)

    # --------------------------------------------------------------------------------------------------- text

    def code(self) -> RegionCode:
        """A random region, with its function and its calls or as a block."""
        weights = [2, 5, 0, 2] if self.aliased else [4, 3, 1, 3]
        make_loop = self.random.choices([self.ordered, self.independent, self.grid, self.reduction], weights)[0]
        loop = make_loop()
        if self.random.random() < 0.2:
            self.clauses.append(stmt(f'name("kernel_{self.index}")'))
        if "annotations" in self.nest.features and self.random.random() < 0.1:
            self.clauses.append(stmt('annotate("unit", "m/s")'))
        self.random.shuffle(self.clauses)
        pragma = fixed("#pragma nomp for @", Node("list", " ", tuple(self.clauses)))
        body = block(*self.before, fixed("@\n@", pragma, loop), *self.shows)
        title = f"/* region {self.index} */"
        if self.inline:
            own = [stmt(f"{name} = {values[0]};") for name, values in self.parameters if name[-1] != "p"]
            return RegionCode(self.index, None, (stmt(f"{title}\n{{\n@\n@\n}}", block(*own), body),))
        names = ", ".join(declaration for declaration, _ in self.parameters)
        function = stmt(f"{title}\nstatic void r{self.index}({names}) {{\n@\n}}", body)
        calls = (", ".join(values[run] for _, values in self.parameters) for run in range(self.runs))
        extra = self._between()
        return RegionCode(self.index, function, (*(stmt(f"r{self.index}({call});") for call in calls), *extra))

    def _between(self) -> tuple[Node, ...]:
        """Sometimes: the host changes an array between two regions, or the device gets it anew."""
        if self.random.random() < 0.75:
            return ()
        whole = self.random.choice([w for w in self.wholes if w.writable])
        part = section(self.random, whole)
        change = f"{flat(whole)}[{whole.low}] = {self.random.randint(0, 1)};"
        free = f"#pragma nomp update(free : {part})\n" if self.random.random() < 0.3 else ""
        text = f"#pragma nomp update(from : {part})\n{free}{change}\n#pragma nomp update(to : {part})"
        return (stmt(text),)


def section(random: Random, whole: Whole) -> str:
    """The mapped part of *whole* as a pragma says it."""
    forms = [f"{whole.name}[{whole.low}, {whole.high}]", f"{whole.name}[{whole.low}:{whole.high - whole.low}]"]
    if whole.storage != "heap" and (whole.low, whole.high) == (0, whole.length):
        forms.append(whole.name)
    return random.choice(forms)


def flat(whole: Whole) -> str:
    return f"(&{whole.name}[0][0])" if whole.columns else whole.name


def show(label: str, name: str, ctype: CType, text: str, size: int) -> str:
    return f'SHOW("{label} {name}:", "{ctype.format}", {WIDE[ctype.format]}, {text}, {size});'
