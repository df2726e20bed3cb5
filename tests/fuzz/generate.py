"""Random annotated C programs: `generate` makes the same one for the same seed.

A program declares some arrays, maps them, calls regions (each a function of its own, or a block of ``main``), copies
everything back and prints it.  What the unannotated program prints is right.  Every region is defined C by
construction, nearly always (the runner drops a program that the sanitizers complain about).  A region with a transform
script has iterations that are independent: each writes elements of its own.

    python generate.py SEED      prints a program
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from random import Random

from c_expressions import Array, Scope
from c_loops import Parameters
from c_statements import FEATURES, Nest, Reduction, Statements
from c_types import (
    BOOL,
    DOUBLE,
    FLOAT,
    FLOATS,
    INT,
    INT16,
    INTEGERS,
    LONG,
    TYPEDEFS,
    TYPES,
    UINT,
    ULONG,
    CType,
    Value,
)
from tree import Node, block, expr, fixed, number, stmt

HEADER = (
    """#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
"""
    + TYPEDEFS
    + """
enum { BLUE = 5, GREEN = -2 };
#define SEVEN 7
#define HALF 0.5
#define TWICE(x) ((x) * 2)
struct box { int n; double w; unsigned char k; float x[16]; const short *q; };
#define SHOW(label, format, type, a, n) do { printf("%s", label); unsigned long long sum_ = 5381; \\
  for (size_t k_ = 0; k_ < (size_t)(n); k_++) if ((n) <= 64) printf(" " format, (type)(a)[k_]); \\
  else sum_ = sum_ * 33 + (unsigned long long)(long long)(a)[k_]; \\
  if ((n) > 64) printf(" %llx", sum_); printf("\\n"); } while (0)
#define FILL(a, n, value) do { for (long k = 0; k < (long)(n); k++) (a)[k] = (value); } while (0)
"""
)

SCRIPTS = '''"""The transform scripts of the fuzzer's programs."""

import loopy as lp


def groups(knl, context, iname="i"):
    """One iteration a group."""
    return lp.tag_inames(knl, {iname: "g.0"})


def blocks(knl, context, iname="i", size=8):
    """*size* iterations a group, one an item."""
    return lp.split_iname(knl, iname, size, outer_tag="g.0", inner_tag="l.0")


def strips(knl, context, iname="i", size=4):
    """*size* iterations at a time, in order."""
    return lp.split_iname(knl, iname, size)


def tiles(knl, context, outer="i", inner="j", size=4):
    """The outer loop over groups, the inner one over items."""
    return lp.tag_inames(lp.split_iname(knl, inner, size, inner_tag="l.0"), {outer: "g.0"})


def swapped(knl, context, outer="i", inner="j"):
    """The inner loop outside of the outer one."""
    kernel = knl.default_entrypoint
    return lp.prioritize_loops(knl.with_kernel(kernel.copy(loop_priority=frozenset())), (inner, outer))
'''


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


@dataclass(frozen=True, slots=True)
class Program:
    """A program in parts.  *regions* can be taken out one by one."""

    globals: Node
    regions: tuple[RegionCode, ...]
    before: Node
    after: Node

    def tree(self) -> Node:
        """The whole program as one tree."""
        functions = block(*(r.function for r in self.regions if r.function))
        calls = block(*(call for r in self.regions for call in r.calls))
        text = f"{HEADER}@\n@\nint main(int argc, char **argv) {{\n@\n@\n@\nreturn 0;\n}}\n"
        return fixed(text, self.globals, functions, self.before, calls, self.after)

    def without(self, numbers: set[int]) -> Program:
        """This program without the regions of these *numbers*."""
        return replace(self, regions=tuple(r for r in self.regions if r.number not in numbers))

    def region_at(self, line: int) -> int | None:
        """The number of the region that has *line* in the program's text."""
        for text in reversed(str(self.tree()).split("\n")[:line]):
            if text.startswith("/* region "):
                return int(text.split()[2])
        return None


def generate(seed: int, regions: int = 8, features: frozenset[str] = FEATURES) -> Program:
    """The program of *seed*."""
    return _Generator(Random(seed), features).program(regions)


class _Generator(Statements):
    def __init__(self, random: Random, features: frozenset[str]) -> None:
        super().__init__(random)
        self.features = features
        self.wholes: list[Whole] = []

    def program(self, count: int) -> Program:
        self.wholes = self._arrays()
        regions = tuple(self._region(number) for number in range(count))
        outside = [self._declaration(w) for w in self.wholes if w.storage == "file"]
        inside = [self._declaration(w) for w in self.wholes if w.storage != "file"]
        return Program(block(*outside), regions, self._before(inside), self._after())

    # ------------------------------------------------------------------------------------------------ arrays

    def _arrays(self) -> list[Whole]:
        fixed_ones = [
            Whole("starts", INT, 13, 0, 0, 13, "main", False, (0, 30)),
            Whole("columns", INT, 30, 0, 0, 30, "main", False, (0, 15)),
            Whole("fexact", FLOAT, 40, 0, 0, 40, "main", False, (-13, 13)),
            Whole("dexact", DOUBLE, 40, 0, 0, 40, "file", False, (-13, 13)),
            Whole("loose", self.random.choice(FLOATS), 40, 0, 0, 40, "main", loose=True),
        ]
        made = [self._array(f"a{n}", self.random.choice(TYPES)) for n in range(6)]
        return [*fixed_ones, *made, self._array("b0", self.random.choice(FLOATS)), self._array("b1", INT)]

    def _array(self, name: str, ctype: CType) -> Whole:
        storage = self.random.choice(["main", "main", "file", "heap"])
        if self.random.random() < 0.3:
            rows, columns = self.random.randint(5, 12), self.random.randint(3, 8)
            return Whole(name, ctype, rows, columns, 0, rows, "main" if storage == "heap" else storage)
        length = self.random.choice([16, 24, 40, 40, 64, 100])
        low, high = 0, length
        if self.random.random() < 0.2:
            low, high = self.random.randint(1, 5), length - self.random.randint(0, 3)
        return Whole(name, ctype, length, 0, low, high, storage)

    def _declaration(self, whole: Whole) -> Node:
        ctype = self.spelled(whole.type)
        if whole.storage == "heap":
            return stmt(f"{ctype} *{whole.name} = malloc({whole.length} * sizeof *{whole.name});")
        columns = f"[{whole.columns}]" if whole.columns else ""
        prefix = "static " if whole.storage == "file" else ""
        return stmt(f"{prefix}{ctype} {whole.name}[{whole.length}]{columns};")

    def _before(self, declarations: list[Node]) -> Node:
        """The start of ``main``: arrays declared, filled and mapped."""
        fills = [stmt(f"FILL({_flat(w)}, {w.size}, {self._filling(w)});") for w in self.wholes]
        maps = [stmt(f"#pragma nomp update(to : {self._section(w)})") for w in self.wholes]
        box = [
            stmt("static const short q[20] = {1, -2, 3, 44, 5, -6, 7, 8, 9, -10, 11, 12, 13, 14, 1000, 16};"),
            stmt("struct box box = {9, 0.3, 200, {1, -2.5f, 3}, q}; const struct box *p = &box;"),
        ]
        mapped = [stmt("#pragma nomp update(to : p->x[0, 16], box.q[0:20])")]
        return block(*declarations, *box, *fills, stmt("#pragma nomp init(argc, argv)"), *maps, *mapped)

    def _filling(self, whole: Whole) -> str:
        special = {"starts": "k * 5 / 2", "columns": "(k * 7 + 3) % 16"}
        if whole.name in special:
            return special[whole.name]
        if whole.type == BOOL:
            return "k % 3 == 1"
        value = f"(k * {self.random.choice([37, 53, 71])} + {self.random.randint(0, 50)}) % 101 - 50"
        if whole.type.is_float:
            return f"({value}) * {'0.25' if whole.name.endswith('exact') else self.random.choice(['0.25', '0.1', '3.7'])}"
        return value if whole.type.signed or self.random.random() < 0.5 else f"({value}) * 12345678"

    def _section(self, whole: Whole) -> str:
        forms = [f"{whole.name}[{whole.low}, {whole.high}]", f"{whole.name}[{whole.low}:{whole.high - whole.low}]"]
        if whole.storage != "heap" and (whole.low, whole.high) == (0, whole.length):
            forms.append(whole.name)
        return self.random.choice(forms)

    def _after(self) -> Node:
        """The end of ``main``: everything copied back and printed."""
        changed = [w for w in self.wholes if w.writable]
        back = [stmt(f"#pragma nomp update(from : {self._section(w)})") for w in changed]
        if self.random.random() < 0.3:
            back.insert(0, stmt("#pragma nomp sync"))
        shows = [stmt(_show("loose" if w.loose else "exact", w.name, w.type, _flat(w), w.size)) for w in changed]
        return block(*back, stmt("#pragma nomp finalize"), *shows)

    # ------------------------------------------------------------------------------------------------ regions

    def _region(self, index: int) -> RegionCode:
        made = _Region(self, index)
        kind = self.random.choices(["ordered", "independent", "grid", "reduction"], [4, 3, 1, 3])[0]
        loops = {"ordered": made.ordered, "independent": made.independent, "grid": made.grid, "reduction": made.reduction}
        return made.code(loops[kind]())


class _Region:
    """One region under construction; *make* is the program's generator."""

    def __init__(self, make: _Generator, index: int) -> None:
        self.make, self.random, self.index = make, make.random, index
        self.inline = self.random.random() < 0.3
        self.runs = 1 if self.inline else self.random.randint(1, 3)
        self.parameters: list[tuple[str, list[str]]] = []
        self.before: list[Node] = []
        self.shows: list[Node] = []
        self.clauses: list[Node] = []
        self.scope = Scope()
        self.nest = Nest(self._integers(), make.features)
        self._scalars()
        self._pass_arrays()

    # --------------------------------------------------------------------------------------------- parameters

    def _integers(self) -> Parameters:
        sizes = [self._integer(f"n{k}", self.random.choice(INTEGERS), 0 if k else 1, 12) for k in range(2)]
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
            self.clauses.append(stmt(self.random.choice([f"jit({', '.join(names)})", " ".join(f'jit("{n}")' for n in names)])))
        if self.random.random() < 0.3:
            self.parameters.append(("const struct box *p", ["p"] * self.runs))
            self.scope.values += [Value(expr("p->n"), INT, 9, 9), Value(expr("p->w"), DOUBLE, 0, 1),
                                  Value(expr("p->k"), INTEGERS[1], 200, 200)]  # fmt: skip
            self.scope.arrays += [Array("p->x", FLOAT, 0, 16, 0, (-3, 3), False),
                                  Array("p->q", INT16, 0, 20, 0, (-10, 1000), False)]  # fmt: skip

    def _pass_arrays(self) -> None:
        chosen = self.random.sample(self.make.wholes[4:], self.random.randint(2, 5))
        for whole in [*self.make.wholes[:4], *chosen]:
            self.scope.arrays.append(self._passed(whole))

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
        integer = self.random.choice([INT, ULONG])
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
        self.shows.append(stmt(_show("exact", f"{name} of r{self.index}", ctype, f"&{name}", 1)))

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
        self.shows.append(stmt(_show("exact", f"{name} of r{self.index}", ctype, f"&{name}", 1)))
        scope.places.append((fixed(name), ctype))
        if self.random.random() < 0.5:
            scope.values.append(Value(fixed(name), ctype, *ctype.bound))

    def independent(self) -> Node:
        """Each iteration writes elements of its own, and reads these and arrays that nobody writes."""
        header, scope = self._loop()
        counter = scope.counters[-1]
        owned = [a for a in scope.arrays if a.writable and counter.high - counter.low < a.high - a.low]
        scope.arrays = [replace(a, writable=False) for a in scope.arrays if a not in owned and a.readable]
        for array in owned:
            place = fixed(f"{array.name}[@]", self.make._affine(counter, array.low, array.high))
            if array.columns:
                scope.arrays.append(Array(str(place), array.type, 0, array.columns))
            elif not array.loose:
                scope.places.append((place, array.type))
                scope.values.append(Value(expr("@", place), array.type, *array.values))
        self.nest.features -= {"early counters"}
        body = self.make.body(scope, self.nest, self.random.randint(2, 5))
        if self.random.random() < 0.7:
            name, values = self.random.choice([("groups", ""), ("blocks", ", size=4"), ("blocks", ""), ("strips", "")])
            self._script(name, f', iname="i"{values}')
        return self._finish(header, body)

    def _script(self, function: str, arguments: str) -> None:
        self.clauses.append(stmt(f'transform("schedules", "{function}"{arguments})'))

    def grid(self) -> Node:
        """Two nested loops whose iterations write one element each."""
        rows = [a for a in self.scope.arrays if a.columns and a.writable]
        if not rows:
            return self.independent()
        array = self.random.choice(rows)
        given, make = self.nest.given, self.make
        outer = make.loop(self.scope, given, "i", declare=True, trips=array.high - array.low)
        self.scope.counters.append(outer.counter)
        inner = make.loop(self.scope, given, "j", declare=True, trips=array.columns)
        spans = [(c.counter.high - c.counter.low) for c in (outer, inner)]
        if spans[0] >= array.high - array.low or spans[1] >= array.columns:
            self.scope.counters.pop()
            return self.independent()
        self.scope.counters.append(inner.counter)
        place = fixed(f"{array.name}[@][@]", make._affine(outer.counter, 0, array.high),
                      make._affine(inner.counter, 0, array.columns))  # fmt: skip
        scope = self.scope.inner()
        scope.arrays = [replace(a, writable=False) for a in scope.arrays if a is not array and a.readable]
        scope.places, scope.values = [(place, array.type)], [*scope.values, Value(expr("@", place), array.type, *array.values)]
        self.nest.depth, self.nest.features = 3, self.nest.features - {"early counters"}
        body = make.body(scope, self.nest, self.random.randint(1, 3))
        dependent = "i" in str(inner.header).replace("int", "").replace("signed", "").replace("diff", "")
        if self.random.random() < 0.6:
            self._script(*self.random.choice([("tiles", ""), ("groups", ""), ("tiles" if dependent else "swapped", "")]))
        return stmt("@\n@ {\n@\n}", outer.header, inner.header, body)

    def reduction(self) -> Node:
        """Loops that accumulate, and sometimes do more."""
        header, scope = self._loop(trips=40)
        for k in range(self.random.choice([1, 1, 2, 3])):
            self._reduced(k)
        pure = self.random.random() < 0.7
        if pure:
            scope.arrays = [replace(a, writable=False) for a in scope.arrays]
            self.nest.features -= {"early counters"}
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
            show, name = name, f"{name}[1]"
        else:
            self.before.append(stmt(f"{ctype.name} {name} = @;", number(self.random.randint(0, 9))))
            show = f"&{name}"
        self.shows.append(stmt(_show("exact", f"s{k} of r{self.index}", ctype, show, 1 if show[0] == "&" else 2)))
        form = self.random.choice([f'reduce("{name}", "{op}")', f"reduce({op} : {name})"])
        self.clauses.append(stmt(form))
        self.nest.reductions += (Reduction(name, op, ctype),)

    # --------------------------------------------------------------------------------------------------- text

    def code(self, loop: Node) -> RegionCode:
        """The region with its function and its calls, or its block."""
        if self.random.random() < 0.2:
            self.clauses.append(stmt(f'name("kernel_{self.index}")'))
        self.random.shuffle(self.clauses)
        pragma = fixed("#pragma nomp for @", Node("list", " ", tuple(self.clauses)))
        body = block(*self.before, fixed("@\n@", pragma, loop), *self.shows)
        title = f"/* region {self.index} */"
        if self.inline:
            own = [stmt(f"{declaration} = {values[0]};") for declaration, values in self.parameters if declaration[-1] != "p"]
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
        whole = self.random.choice([w for w in self.make.wholes if w.writable])
        section = self.make._section(whole)
        change = f"{_flat(whole)}[{whole.low}] = {self.random.randint(0, 1)};"
        free = f"#pragma nomp update(free : {section})\n" if self.random.random() < 0.3 else ""
        text = f"#pragma nomp update(from : {section})\n{free}{change}\n#pragma nomp update(to : {section})"
        return (stmt(text),)


def _flat(whole: Whole) -> str:
    return f"(&{whole.name}[0][0])" if whole.columns else whole.name


def _show(label: str, name: str, ctype: CType, text: str, size: int) -> str:
    wide = {"%lld": "long long", "%llu": "unsigned long long", "%u": "unsigned", "%d": "int", "%a": "double"}
    return f'SHOW("{label} {name}:", "{ctype.format}", {wide[ctype.format]}, {text}, {size});'


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    print(generate(seed).tree())


if __name__ == "__main__":
    main()
