"""Loops that a script puts into one: random ones against enumeration, and typical ones.

    python test_fusion.py -n 1000 [-s SEED]      tries many random scripts and prints what came out
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

import loopy as lp
import pytest
from schedules import Script, made

from nomp.arithmetic import evaluate
from nomp.device_source import DeviceSource
from nomp.region import Assign, Binary, Const, Declare, Expr, For, If, Load, Param, Region, Stmt, Var
from nomp.walks import walk_expr

I64, F64 = "int64", "float64"
MANY = 100
SIZES = (1, 2, 4, 5)


def _sum(one: Expr, other: Expr) -> Expr:
    return Binary("+", one, other, I64)


@dataclass
class Case:
    """A nest of sibling loops (over *counters*, in a loop over ``e`` or not), and a *script* that makes them one."""

    region: Region
    counters: tuple[str, ...]
    script: Script
    size: int | None


def case(seed: int) -> Case:
    random = Random(seed)
    counters = ("j1", "j2", "j3")[: random.choice([2, 2, 3])]

    def index(counter: str) -> Expr:
        expr: Expr = Binary("*", Const(random.choice([1, 1, 1, 1, 2, -1]), I64), Var(counter, I64), I64)
        if random.random() < 0.6:
            expr = _sum(expr, Binary("*", Const(random.choice([1, 5, 6]), I64), Var("e", I64), I64))
        if random.random() < 0.2:
            expr = _sum(expr, Var("n", I64))
        return _sum(expr, Const(random.choice([0, 0, 0, 1, -1, 2]), I64))

    def statement(counter: str) -> Stmt:
        target = Load(random.choice("aabc"), (index(counter),), F64)
        value: Expr = Load(random.choice("aabc"), (index(counter),), F64)
        if random.random() < 0.3:
            value = Binary("+", target, value, F64)
        assign = Assign(target, value)
        if random.random() < 0.15:
            return If(Binary(random.choice(["<", "!="]), Var(counter, I64), index("e"), "int32"), (assign,))
        return assign

    def loop(counter: str) -> For:
        least = Const(spared, I64)
        upper, relation = random.choice([(Var("n", I64), "<"), (_sum(Var("n", I64), Const(-1, I64)), "<=")])
        body = [statement(counter) for _ in range(random.choice([1, 1, 2]))]
        if random.random() < 0.25:
            local = Var(f"t_{counter}", F64)
            use = Assign(Load(random.choice("abc"), (index(counter),), F64), local)
            body = [Declare(local.name, F64, (), Load(random.choice("abc"), (index(counter),), F64)), *body, use]
        return For(counter, I64, least, relation, upper, Const(1, I64), tuple(body))  # type: ignore[arg-type]

    spared = random.choice([0, 0, 1])
    nest = For("e", I64, Const(0, I64), "<", Var("m", I64), Const(1, I64), tuple(map(loop, counters)))
    arrays = [Param(name, F64, "array", "", (None,), writes=True) for name in "abc"]
    region = Region("siblings", "siblings.c", 1, (Param("n", I64), Param("m", I64), *arrays), (nest,))
    size, order = random.choice([None, None, 2, 3]), random.choice([None, None, "inside out", "tiles"])

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        if random.random() < 0.5:
            kernel = lp.rename_inames(kernel, counters[1:], counters[0], existing_ok=True)
        else:
            kernel = lp.rename_inames(kernel, counters, "j1_new")
        final = "j1_new" if "j1_new" in kernel.default_entrypoint.all_inames() else "j1"
        inner = [final]
        if size:
            kernel = lp.split_iname(kernel, final, size)
            inner = [f"{final}_outer", f"{final}_inner"]
        if order:
            inner.insert(len(inner) if order == "inside out" else 1, "e")
            kernel = lp.prioritize_loops(kernel, inner)
        return kernel

    return Case(region, counters, script, size)


# -------------------------------------------------------------------------------------------------------- the truth

Touch = tuple[str, int, bool, tuple[object, ...]]
"""A variable, its element, whether it is written, and when the schedule does that."""


def touches(made_of: Case, env: Mapping[str, int], source: DeviceSource) -> Iterator[Touch]:
    """Everything that the program touches, in its order."""
    paths, numbers = _paths(source), Counter[str]()
    (nest,) = made_of.region.body
    assert isinstance(nest, For)
    ids = {}
    for loop in nest.body:
        assert isinstance(loop, For)
        for stmt in loop.body:
            assign = stmt.then[0] if isinstance(stmt, If) else stmt
            assert isinstance(assign, Assign | Declare)
            name = assign.name if isinstance(assign, Declare) else assign.target.array  # type: ignore[union-attr]
            ids[id(assign)] = f"{name}_{numbers[name]}"
            numbers[name] += 1
    for e in range(env["m"]):
        for loop in nest.body:
            assert isinstance(loop, For)
            for j in range(int(evaluate(loop.lower, env)), env["n"]):
                for stmt in loop.body:
                    here = {**env, "e": e, loop.iname: j}
                    if isinstance(stmt, If):
                        if not evaluate(stmt.cond, here):
                            continue
                        stmt = stmt.then[0]
                    time = _time(paths[ids[id(stmt)]], e, j, made_of.size)
                    yield from _touched(stmt, here, time, (e, j))


def _touched(stmt: Stmt, env: Mapping[str, int], time: tuple[object, ...], now: tuple[int, int]) -> Iterator[Touch]:
    value = stmt.init if isinstance(stmt, Declare) else stmt.value  # type: ignore[union-attr]
    for node in walk_expr(value):
        if isinstance(node, Load):
            yield node.array, int(evaluate(node.index[0], env)), False, time
        elif isinstance(node, Var) and node.name.startswith("t_"):
            yield f"{node.name} of {now}", 0, False, time
    if isinstance(stmt, Declare):
        yield f"{stmt.name} of {now}", 0, True, time
    elif isinstance(stmt, Assign) and isinstance(stmt.target, Load):
        yield stmt.target.array, int(evaluate(stmt.target.index[0], env)), True, time


def _paths(source: DeviceSource) -> dict[str, tuple[int | str, ...]]:
    paths: dict[str, tuple[int | str, ...]] = {}
    around: list[int | str] = []
    for place, (kind, name) in enumerate(source.steps):
        if kind == "loop":
            around += [place, name]
        elif kind == "end":
            del around[-2:]
        elif kind == "run":
            paths[name] = (*around, place)
    return paths


def _time(path: tuple[int | str, ...], e: int, j: int, size: int | None) -> tuple[object, ...]:
    def value(iname: str) -> int:
        if iname == "e":
            return e
        ends = {"_outer": j // (size or 1), "_inner": j % (size or 1)}
        return next((number for end, number in ends.items() if iname.endswith(end)), j)

    return tuple(step if isinstance(step, int) else value(step) for step in path)


def reverses(made_of: Case, env: Mapping[str, int], source: DeviceSource) -> bool:
    """Whether two mentions of an element, one a write, are run the other way round."""
    seen: dict[tuple[str, int], list[tuple[bool, tuple[object, ...]]]] = {}
    for name, element, writes, time in touches(made_of, env, source):
        seen.setdefault((name, element), []).append((writes, time))
    return any(
        (writes or wrote) and time > later
        for mentions in seen.values()
        for (writes, time), (wrote, later) in combinations(mentions, 2)
    )


def tried(seed: int, answers: Counter[str]) -> None:
    """Compare what is said of the case of *seed* with the truth."""
    made_of = case(seed)
    found = made(made_of.region, made_of.script)
    answers["refused by loopy" if found is None else "cases"] += 1
    if found is None:
        return
    source, watch = found
    assert watch.unproven() is None, f"seed {seed}"
    answers["fused"] += len({nest for nest in source.nests if nest[-1].startswith("j1")}) == (2 if made_of.size else 1)
    for n, m in product(SIZES, (1, 3)):
        wrong = watch.refusal({"n": n, "m": m})
        truth = reverses(made_of, {"n": n, "m": m}, source)
        assert (wrong is not None) == truth, f"seed {seed}, n = {n}, m = {m}: {wrong and wrong.message}"
        answers["refused" if wrong else "right"] += 1


@pytest.mark.slow
def test_random_fusions_against_enumeration() -> None:
    answers: Counter[str] = Counter()
    for seed in range(MANY):
        tried(seed, answers)
    assert min(answers["refused"], answers["right"], 2 * answers["fused"]) > MANY, answers


# -------------------------------------------------------------------------------------------------------------- main


def main() -> None:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("-s", "--seed", type=int, default=0)
    options = parser.parse_args()
    answers: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.n):
        try:
            tried(seed, answers)
        except AssertionError as problem:
            answers["WRONG"] += 1
            print(problem)
    print(answers)


if __name__ == "__main__":
    main()
