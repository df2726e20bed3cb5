"""Random annotated C programs: `generate` makes the same one for the same seed.

A program declares some arrays, maps them, calls regions (each a function of its own, or a block of ``main``), copies
everything back and prints it.  What the unannotated program prints is right.  Every region is defined C by
construction, nearly always (the runner drops a program that the sanitizers complain about).  A region that a script
rearranges has iterations that are independent: each writes elements of its own.

    python generate.py SEED      prints a program
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from random import Random

import c_structs
from c_regions import REACH, Region, RegionCode, Whole, flat, section, show
from c_statements import FEATURES, Statements
from c_types import BOOL, DOUBLE, FLOAT, FLOATS, INT, TYPEDEFS, TYPES, CType
from tree import Node, block, fixed, stmt

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
static int clip(int x, int most) { if (x < 0) return 0; return x < most ? x : most; }
static const short primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
static const float weights[2][3] = {{0.5f, -1, 0.25f}, {1, 0.75f, -0.5f}};
static double mix(double x, double y) { for (int k = 0; k < 3; k++) x = (x + y) / 2; return x; }
static int take(int *p, int k) { int o = p[1]; p[0] = k; if (k & 1) p[1] = k % 50 - o % 50; return o % 100; }
struct box { int n; double w; unsigned char k; float x[16]; const short *q; };
#define SHOW(label, format, type, a, n) do { printf("%s", label); unsigned long long sum_ = 5381; \\
  for (size_t k_ = 0; k_ < (size_t)(n); k_++) if ((n) <= 64) printf(" " format, (type)(a)[k_]); \\
  else sum_ = sum_ * 33 + (unsigned long long)(long long)(a)[k_]; \\
  if ((n) > 64) printf(" %llx", sum_); printf("\\n"); } while (0)
#define SHOW_EACH(label, format, type, element, n) do { printf("%s", label); \\
  for (size_t k_ = 0; k_ < (size_t)(n); k_++) printf(" " format, (type)(element)); printf("\\n"); } while (0)
#define FILL(a, n, value) do { for (long k = 0; k < (long)(n); k++) (a)[k] = (value); } while (0)
"""
)

SCRIPT = "schedules"
SCRIPTS = '''"""The transform scripts of the fuzzer's programs, and the annotation script."""

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
    return lp.prioritize_loops(knl, (inner, outer))


def squares(knl, context, outer="i", inner="j", size=3):
    """Tiles of *size* by *size* iterations, one after the other."""
    knl = lp.split_iname(lp.split_iname(knl, outer, size), inner, size)
    return lp.prioritize_loops(knl, (f"{outer}_outer", f"{inner}_outer", f"{outer}_inner", f"{inner}_inner"))


def marked(knl, context):
    """One iteration a group, of the loops that the annotations with the key ``parallel`` name."""
    for key, iname in context["region::annotations"]:
        if key == "parallel":
            knl = groups(knl, context, iname)
    return knl


def annotate(knl, annotation, context):
    """``annotate("groups", "i")`` is ``transform("schedules", "groups", iname="i")``; other keys say nothing here."""
    for key, iname in annotation.items():
        if key in ("groups", "blocks", "strips"):
            knl = globals()[key](knl, context, iname)
    return knl
'''


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
        super().__init__(random, features)
        self.wholes: list[Whole] = []
        self.records: list[c_structs.Records] = []

    def program(self, count: int) -> Program:
        self.wholes = self._arrays()
        if "structs" in self.features:
            self.records = [c_structs.made(self.random, n) for n in range(2)]
        regions = tuple(
            Region(self, self.wholes, self.records, self.features, number).code() for number in range(count)
        )
        outside = [c_structs.declared(self.random, r.struct) for r in self.records]
        outside += [self._declaration(w) for w in self.wholes if w.storage == "file"]
        outside += [_structs(r, "static ") for r in self.records if r.static]
        inside = [self._declaration(w) for w in self.wholes if w.storage != "file"]
        inside += [_structs(r) for r in self.records if not r.static]
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
        made += [self._array("b0", self.random.choice(FLOATS)), self._array("b1", INT)]
        if "aliasing" in self.features:
            made += [Whole(f"alias{t.name[0]}{n}", t, 2 * REACH, 0, 0, 2 * REACH, "main") for t in (DOUBLE, INT)
                     for n in range(3)]  # fmt: skip
        return [*fixed_ones, *made]

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
        fills = [stmt(f"FILL({flat(w)}, {w.size}, {self._filling(w)});") for w in self.wholes]
        fills += [c_structs.filled(self.random, r) for r in self.records]
        maps = [stmt(f"#pragma nomp update(to : {section(self.random, w)})") for w in self.wholes]
        maps += [stmt(f"#pragma nomp update(to : {r.name})") for r in self.records]
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
            factor = "0.25" if whole.name.endswith("exact") else self.random.choice(["0.25", "0.1", "3.7"])
            return f"({value}) * {factor}"
        return value if whole.type.signed or self.random.random() < 0.5 else f"({value}) * 12345678"

    def _after(self) -> Node:
        """The end of ``main``: everything copied back and printed."""
        changed = [w for w in self.wholes if w.writable]
        back = [stmt(f"#pragma nomp update(from : {section(self.random, w)})") for w in changed]
        back += [stmt(f"#pragma nomp update(from : {r.name})") for r in self.records]
        if self.random.random() < 0.3:
            back.insert(0, stmt("#pragma nomp sync"))
        shows = [stmt(show("loose" if w.loose else "exact", w.name, w.type, flat(w), w.size)) for w in changed]
        shows += [c_structs.shown(r) for r in self.records]
        return block(*back, stmt("#pragma nomp finalize"), *shows)


def _structs(records: c_structs.Records, prefix: str = "") -> Node:
    """The declaration of an array of structs."""
    return stmt(f"{prefix}struct {records.struct.tag} {records.name}[{records.high}];")


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    print(generate(seed).tree())


if __name__ == "__main__":
    main()
