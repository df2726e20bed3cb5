"""Schedules against the truth: random ones of random nests, and typical ones with their messages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import loopy as lp
import nests
import pytest
from schedules import compiled, judged, made, region_of

from nomp.arithmetic import evaluate
from nomp.loops import signed_step
from nomp.region import Const, For, Region
from nomp.walks import walk

MANY = 240

Item = Callable[[int], Any]
"""What tells apart the items that run the iterations of a loop, of what loopy counts."""


# -------------------------------------------------------------------------------------------------- random schedules


def scheduled(
    region: Region, random: Random, items: dict[str, Item], kernel: lp.TranslationUnit
) -> lp.TranslationUnit:
    """A random schedule of *region*, whose *kernel* that is; *items* gets how it gives iterations to items."""
    axes = iter(["g.0", "g.1", "g.2", "l.0", "l.1", "l.2"])
    for loop in (stmt for stmt in walk(region.body) if isinstance(stmt, For)):
        name, size = loop.iname, random.choice([2, 3])
        unit = signed_step(loop) == Const(1, "int64")
        kinds = ["none", "whole", *(["split", "outer", "inner", "middle", "outermost"] if unit else [])]
        kind = random.choice(kinds)
        if len(items) > 2 or kind == "none":
            continue
        if kind == "whole":
            kernel, items[name] = lp.tag_inames(kernel, {name: next(axes)}), lambda i: i
        elif kind == "split":
            kernel = lp.split_iname(kernel, name, size, outer_tag=next(axes), inner_tag=next(axes))
            items[name] = lambda i: i
        elif kind == "outer":
            kernel = lp.split_iname(kernel, name, size, outer_tag=next(axes))
            items[name] = lambda i, size=size: i // size
        elif kind == "inner":
            kernel = lp.split_iname(kernel, name, size, inner_tag=next(axes))
            items[name] = lambda i, size=size: i % size
        elif kind == "middle":
            kernel = lp.split_iname(kernel, name, size * 2)
            kernel = lp.split_iname(kernel, f"{name}_inner", size, outer_tag=next(axes))
            items[name] = lambda i, size=size: i % (2 * size) // size
        else:
            kernel = lp.split_iname(kernel, name, size)
            kernel = lp.split_iname(kernel, f"{name}_outer", 2, inner_tag=next(axes))
            items[name] = lambda i, size=size: i // size % 2
    return kernel


def counted(loop: For, env: Mapping[str, int]) -> int:
    """What loopy counts in *loop*: trips, where the step is not 1."""
    step = signed_step(loop)
    assert isinstance(step, Const)
    value, step = env[loop.iname], int(step.value)
    return value if step == 1 else (value - int(evaluate(loop.lower, env))) // step


def meet(region: Region, env: Mapping[str, int], items: Mapping[str, Item]) -> bool:
    """Whether two items touch one element that one of them writes; all of them run what is in no parallel loop."""
    seen = defaultdict(list)
    for loops, (array, element, writes, point) in nests.touches(region, env):
        counters = {**env, **{loop.iname: value for loop, value in zip(loops, point, strict=True)}}
        values = {loop.iname: items[loop.iname](counted(loop, counters)) for loop in loops if loop.iname in items}
        seen[array, element].append((values, writes, (loops, point)))
    for mentions in seen.values():
        for (one, writes, where), (two, wrote, there) in combinations(mentions, 2):
            if (writes or wrote) and where != there and (one != two or items.keys() - one.keys()):
                return True
    return False


@pytest.mark.slow
def test_random_schedules_against_enumeration() -> None:
    answers: Counter[str] = Counter()
    for seed in range(MANY):
        region = nests.nest(seed)
        items = dict[str, Item]()
        found = made(region, partial(scheduled, region, Random(seed), items))
        answers["schedules" if found else "refused by loopy"] += 1
        if found is None:
            continue
        _, watch = found
        for n, m in product(nests.SIZES, repeat=2):
            try:
                truth = meet(region, {"n": n, "m": m}, items)
            except nests.OutOfBounds:
                continue
            refused = watch.refusal({"n": n, "m": m}) is not None
            doubtful = watch.unproven() is not None
            assert refused <= truth, f"seed {seed}, n = {n}, m = {m}: refused, and no two items meet"
            assert truth <= (refused or doubtful), f"seed {seed}, n = {n}, m = {m}: two items meet"
            answers["refused" if refused else "doubtful" if doubtful else "right"] += 1
    assert answers["schedules"] > MANY // 2 and answers["refused"] > 100 and answers["right"] > 2000, answers
    assert answers["doubtful"] < answers["right"] // 8, answers


# ------------------------------------------------------------------------------------------------- typical schedules


SHARED = (
    "for (int i = 0; i < n; i++) { double s[4]; for (int j = 0; j < 4; j++) s[j] = b[j]; "
    "for (int j = 0; j < 4; j++) "
)


@pytest.mark.parametrize(
    ("loop", "tags", "scalars", "answer"),
    [
        ("for (int i = 0; i < n; i++) a[i] = a[i + off];", "i:g.0", {"n": 9, "off": 1}, "N403"),
        ("for (int i = 0; i < n; i++) a[i] = a[i + off];", "i:g.0", {"n": 9, "off": 9}, None),
        ("for (int i = 0; i < n; i++) a[i] = a[i + off];", "i:g.0", {"n": 9, "off": 0}, None),
        ("for (int i = 0; i < n; i++) a[k[i]] = 1;", "i:g.0", {"n": 9}, "N404"),
        ("for (int i = 0; i < n; i++) b[i] = a[k[i]];", "i:g.0", {"n": 9}, None),
        ("for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) a[i] = a[i + 1];", "i:g.0", {"n": 9, "m": 1}, "N403"),
        ("for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) a[i] += b[i];", "i:g.0", {"n": 9, "m": 3}, None),
        ("for (int t = 0; t < m; t++) for (int i = 0; i < n; i++) a[i] += b[i];", "t:g.0", {"n": 9, "m": 3}, "N403"),
        ("for (int i = 0; i < n; i++) a[0] += b[i];", "i:g.0", {"n": 9}, "N403"),
        (SHARED + "q[i][j] = s[3 - j]; }", "i:g.0, j:l.0, j_:l.0", {"n": 9}, None),
    ],
)  # fmt: skip
def test_typical(loop: str, tags: str, scalars: dict[str, int], answer: str | None, tmp_path: Path) -> None:
    region = region_of(tmp_path, loop)
    found = judged(region, lambda kernel: lp.tag_inames(kernel, tags), {"n": 1, "m": 1, "off": 1, **scalars})
    assert (found and found.code) == answer


def test_the_program_may_vouch_for_a_loop(tmp_path: Path) -> None:
    clauses = 'transform("m", "f") annotate("independent", "i")'
    for loop, code in (("a[k[i]] = 1;", None), ("a[i] = a[i + 1];", "N403"), ("a[k[i]] = 1; b[0] = i;", "N403")):
        region = region_of(tmp_path, f"for (int i = 0; i < n; i++) {{ {loop} }}", clauses)
        found = judged(region, lambda kernel: lp.tag_inames(kernel, "i:g.0"), {"n": 5, "m": 5, "off": 0})
        assert (found and found.code) == code


def test_a_loop_split_again_is_bounded_once(tmp_path: Path) -> None:
    """Each bound more doubles what isl has to look at: without care, 50 s for a loop that is split twice."""
    region = region_of(tmp_path, "for (unsigned i = n + 2; i < m - 3u; i++) a[i] = a[i + 1];")

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = lp.split_iname(kernel, "i", 4)
        return lp.split_iname(kernel, "i_outer", 2, outer_tag="g.0")

    source, _ = compiled(region, script)
    assert source.schedule and all("exists" not in placement.when for placement in source.schedule.placements)
