"""Random affine loop nests, and the truth about their loops by running through all iterations.

    python nests.py -n 10000 [-s SEED]      compares verdicts with the truth and prints a table

`nest` makes the same region for the same seed.  `conflicts` enumerates: for given parameters, what pairs of iterations
of a loop touch one element, one of them writing it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

from nomp.arithmetic import evaluate
from nomp.dependence import Verdict, verdicts
from nomp.region import Assign, Binary, Const, Expr, For, If, Load, Param, Region, Stmt, Var
from nomp.walks import expressions, walk_expr

I64, F64 = "int64", "float64"
SIZES = (0, 1, 2, 3, 5)
"""The values that the parameters take when the truth is enumerated."""

Point = tuple[int, ...]
Touch = tuple[str, Point, bool, Point]
"""A variable, the element, whether it is written, and the counters of the loops around, outermost first."""


# ----------------------------------------------------------------------------------------------------- random nests


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random, self.count = random, 0

    def number(self, least: int, most: int) -> Const:
        return Const(self.random.randint(least, most), I64)

    def affine(self, counters: list[str]) -> Expr:
        """A subscript or a side of a condition."""
        expr: Expr = self.number(-1, 3)
        for name in self.random.sample(counters, min(len(counters), self.random.choice([1, 1, 1, 2]))):
            factor = self.random.choice([1, 1, 1, 2, -1])
            term: Expr = Var(name, I64) if factor == 1 else Binary("*", Const(factor, I64), Var(name, I64), I64)
            expr = term if expr == Const(0, I64) else Binary("+", term, expr, I64)
        if self.random.random() < 0.15:
            expr = Binary("+", expr, Var(self.random.choice("nm"), I64), I64)
        return expr

    def loop(self, depth: int, counters: list[str]) -> For:
        self.count += 1
        name = f"i{self.count}"
        outer = [*map(_var, counters)]
        end = self.random.choice([_var("n"), _var("m"), self.number(0, 4), *outer])
        start = self.random.choice([self.number(0, 2), self.number(0, 0), *outer])
        step = self.random.choice([1, 1, 1, 2, 3, -1, -2])
        lower, upper, relation = (start, end, self.random.choice(["<", "<", "<="]))
        if step < 0:
            lower, upper, relation = end, start, self.random.choice([">", ">="])
        body = self.body(depth + 1, [*counters, name])
        return For(name, I64, lower, relation, upper, Const(step, I64), body)  # type: ignore[arg-type]

    def body(self, depth: int, counters: list[str]) -> tuple[Stmt, ...]:
        made = [self.statement(depth, counters) for _ in range(self.random.choice([1, 1, 2, 2, 3]))]
        return tuple(made)

    def statement(self, depth: int, counters: list[str]) -> Stmt:
        kind = self.random.random()
        if depth < 3 and kind < (0.6 if depth == 1 else 0.35):
            return self.loop(depth, counters)
        if kind > 0.85:
            relation = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            cond = Binary(relation, self.affine(counters), self.affine(counters), "int32")
            other = (self.assign(counters),) if self.random.random() < 0.4 else ()
            return If(cond, (self.assign(counters),), other)
        return self.assign(counters)

    def assign(self, counters: list[str]) -> Assign:
        target = self.load(counters)
        value: Expr = self.load(counters)
        if self.random.random() < 0.3:
            value = Binary(self.random.choice(["+", "*", "-"]), target, value, F64)
        return Assign(target, value)

    def load(self, counters: list[str]) -> Load:
        array = self.random.choice(["a", "a", "b", "r", "q"])
        if array == "q":
            return Load("q", (self.affine(counters), self.affine(counters)), F64)
        if array == "r":  # rows of m elements, by hand
            row = Binary("*", self.affine(counters), _var("m"), I64)
            return Load("r", (Binary("+", row, self.affine(counters), I64),), F64)
        return Load(array, (self.affine(counters),), F64)


def _var(name: str) -> Var:
    return Var(name, I64)


def nest(seed: int) -> Region:
    """The region of *seed*: a loop over arrays a, b, r of one dimension and q of two, with parameters n and m."""
    loop = _Maker(Random(seed)).loop(0, [])
    arrays = [Param(name, F64, "array", "", (None,), writes=True) for name in ("a", "b", "r")]
    q = Param("q", F64, "array", "", (None, _var("m")), writes=True)
    return Region("nest", "nest.c", 1, (Param("n", I64), Param("m", I64), *arrays, q), (loop,))


# ------------------------------------------------------------------------------------------------------- the truth


class OutOfBounds(Exception):
    """The nest is not defined for these parameters: a subscript of an inner dimension is out of bounds."""


def touches(region: Region, env: Mapping[str, int]) -> list[tuple[tuple[For, ...], Touch]]:
    """Everything that *region* touches with the scalars *env*, in order, with the loops around."""
    found: list[tuple[tuple[For, ...], Touch]] = []

    def note(load: Load, writes: bool, loops: tuple[For, ...], env: Mapping[str, int]) -> None:
        element = tuple(int(evaluate(part, env)) for part in load.index)
        if load.array == "q" and not 0 <= element[1] < env["m"]:
            raise OutOfBounds
        found.append((loops, (load.array, element, writes, tuple(env[loop.iname] for loop in loops))))

    def run(body: tuple[Stmt, ...], loops: tuple[For, ...], env: Mapping[str, int]) -> None:
        for stmt in body:
            for expr in expressions(stmt):
                for node in walk_expr(expr):
                    if isinstance(node, Load):
                        note(node, False, loops, env)
            match stmt:
                case Assign(target=Load() as target):
                    note(target, True, loops, env)
                case If(cond=cond, then=then, other=other):
                    run(then if evaluate(cond, env) else other, loops, env)
                case For():
                    for value in _values(stmt, env):
                        run(stmt.body, (*loops, stmt), {**env, stmt.iname: value})

    run(region.body, (), env)
    return found


def _values(loop: For, env: Mapping[str, int]) -> Iterator[int]:
    value, upper, step = (int(evaluate(expr, env)) for expr in (loop.lower, loop.upper, loop.step))
    while {"<": value < upper, "<=": value <= upper, ">": value > upper, ">=": value >= upper}[loop.relation]:
        yield value
        value += step


def conflicts(region: Region, env: Mapping[str, int]) -> dict[str, set[tuple[Point, Point]]]:
    """For each loop, the pairs of iterations that conflict, the earlier one first; counters from the outermost on."""
    found: dict[str, set[tuple[Point, Point]]] = defaultdict(set)
    seen: dict[tuple[str, Point], list[tuple[tuple[For, ...], Point, bool]]] = defaultdict(list)
    for loops, (array, element, writes, point) in touches(region, env):
        for earlier, other, wrote in seen[array, element]:
            if wrote or writes:
                for depth, loop in enumerate(loops):
                    if depth >= len(earlier) or earlier[depth] is not loop:
                        break
                    if other[depth] != point[depth]:
                        found[loop.iname].add((other, point))
                        break
        seen[array, element].append((loops, point, writes))
    return found


def all_conflicts(region: Region) -> dict[str, dict[tuple[int, int], set[tuple[Point, Point]]]]:
    """`conflicts` for all parameters of `SIZES` with which the nest is defined."""
    found: dict[str, dict[tuple[int, int], set[tuple[Point, Point]]]] = defaultdict(dict)
    for n, m in product(SIZES, SIZES):
        try:
            for iname, pairs in conflicts(region, {"n": n, "m": m}).items():
                found[iname][n, m] = pairs
        except OutOfBounds:
            continue
    return found


# ------------------------------------------------------------------------------------------------------ comparison


def fault(region: Region, verdict: Verdict, found: Mapping[tuple[int, int], set[tuple[Point, Point]]]) -> str:
    """What is wrong with *verdict* in view of the conflicts *found*; empty if nothing is."""
    if verdict.parallel == "yes" and found:
        return f"a 'yes' although iterations conflict: {next(iter(found.items()))}"
    witness = verdict.witness
    if verdict.parallel == "no" and witness:
        source, sink = tuple(witness.source.values()), tuple(witness.sink.values())
        try:
            real = conflicts(region, witness.parameters).get(verdict.loop.iname, set())
        except OutOfBounds:
            return f"{witness} is for a nest that is out of bounds"
        if (source, sink) not in real:
            return f"{witness} is no conflict"
    return ""


def main() -> int:
    """Compare many nests and print what came out; status 1 if a verdict was wrong."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("-n", type=int, default=10000, help="how many nests")
    parser.add_argument("-s", "--seed", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    table: Counter[tuple[str, bool]] = Counter()
    wrong, spent, longest = 0, 0.0, 0.0
    for seed in range(options.seed, options.seed + options.n):
        region = nest(seed)
        begin = time.perf_counter()
        found = verdicts(region)
        elapsed = time.perf_counter() - begin
        spent, longest = spent + elapsed, max(longest, elapsed)
        truth = all_conflicts(region)
        for verdict in found:
            pairs = truth.get(verdict.loop.iname, {})
            table[verdict.parallel, bool(pairs)] += 1
            if problem := fault(region, verdict, pairs):
                wrong += 1
                print(f"seed {seed}, loop {verdict.loop.iname}: {problem}")
    print(f"{options.n} nests, {sum(table.values())} loops, {wrong} wrong verdicts")
    for (answer, conflicting), number in sorted(table.items()):
        print(f"  {answer:9} {'conflicts found' if conflicting else 'none found'}: {number}")
    print(f"{1e3 * spent / options.n:.1f} ms a nest, at most {1e3 * longest:.0f} ms")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
