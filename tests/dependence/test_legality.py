"""Schedules against the truth: random ones of random nests, and typical ones with their messages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

import loopy as lp
import nests
import pytest

from nomp.device_source import Spread, Variant
from nomp.frontend.clang import parse
from nomp.legality import Watch, spread
from nomp.loops import signed_step
from nomp.lower import lower
from nomp.region import Const, For, Region
from nomp.walks import walk

USUAL = Variant(no_wrap=True)
Item = Callable[[int], Any]
"""What tells apart the items that run the iterations of a loop, of the counter's value."""


def lowered(region: Region) -> lp.TranslationUnit:
    return lower(region, USUAL, "opencl", for_script=True).kernel


# -------------------------------------------------------------------------------------------------- random schedules


def scheduled(region: Region, random: Random) -> tuple[lp.TranslationUnit, dict[str, Item]]:
    """A random schedule of *region*, and how it gives iterations to items."""
    kernel, items = lowered(region), dict[str, Item]()
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
    return kernel, items


def meet(region: Region, env: Mapping[str, int], items: Mapping[str, Item]) -> bool:
    """Whether two items touch one element that one of them writes, so that a loop around both tells them apart."""
    seen = defaultdict(list)
    for loops, (array, element, writes, point) in nests.touches(region, env):
        seen[array, element].append((loops, writes, point))
    for mentions in seen.values():
        for (loops, writes, point), (others, wrote, other) in combinations(mentions, 2):
            common = [n for n, (one, two) in enumerate(zip(loops, others, strict=False)) if one is two]
            apart = any(items[loops[n].iname](point[n]) != items[loops[n].iname](other[n])
                        for n in common if loops[n].iname in items)  # fmt: skip
            if (writes or wrote) and apart:
                return True
    return False


def test_random_schedules_against_enumeration() -> None:
    answers: Counter[str] = Counter()
    for seed in range(120):
        region = nests.nest(seed)
        kernel, items = scheduled(region, Random(seed))
        spreads = spread(region, lowered(region), kernel)
        assert spreads is not None and {s.loop for s in spreads} <= items.keys()
        watch = Watch(region, spreads)
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
    assert min(answers["refused"], answers["right"]) > 200 and answers["doubtful"] < 0.15 * answers.total(), answers


# ------------------------------------------------------------------------------------------------- typical schedules


def region_of(folder: Path, loop: str, clauses: str = 'transform("m", "f")') -> Region:
    file = folder / "t.c"
    parameters = "int n, int m, int off, double *a, double *b, int *k, double q[n][8]"
    file.write_text(f"void f({parameters}) {{\n#pragma nomp for {clauses}\n{loop}\n}}\n")
    (source,) = parse(str(file), [])
    (directive,) = source.directives
    assert directive.region is not None
    return directive.region


def test_what_is_spread(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j += 2) a[i * m + j] = 0;"
    region = region_of(tmp_path, loops)
    kernel = lowered(region)

    def found(changed: lp.TranslationUnit) -> tuple[Spread, ...] | None:
        return spread(region, kernel, changed)

    assert found(kernel) == ()
    assert found(lp.tag_inames(kernel, "i:g.0, j:l.0")) == (Spread("i", ("{}",)), Spread("j", ("{}",)))
    split = lp.split_iname(kernel, "i", 8)
    assert found(lp.tag_inames(split, "i_outer:g.0, i_inner:l.0")) == (Spread("i", ("{}",)),)
    assert found(lp.tag_inames(split, "i_outer:g.0")) == (Spread("i", ("floor(({})/8)",)),)
    assert found(lp.tag_inames(split, "i_inner:l.0")) == (Spread("i", ("floor((({}) mod 8)/1)",)),)
    assert found(lp.split_iname(kernel, "j", 4, outer_tag="g.0")) == (Spread("j", ("{}",), False),)
    assert found(lp.tag_inames(kernel, "i:unr")) == ()
    assert found(lp.tag_inames(lp.rename_iname(kernel, "i", "row"), "row:g.0")) is None


def test_what_is_beyond_recognition(tmp_path: Path) -> None:
    region = region_of(tmp_path, "for (int i = 0; i < n; i++) { for (int j = 0; j < 8; j++) q[i][j] = 0; a[i] = 1; }")
    kernel = lowered(region)
    part = lp.split_iname(kernel, "i", 8, outer_tag="g.0", within="writes:a")
    assert spread(region, kernel, part) is None
    kernel = combined(kernel)
    buffered = lp.buffer_array(lp.tag_inames(kernel, "i:g.0"), "q", buffer_inames=["j"], init_expression="base")
    assert spread(region, kernel, buffered) is None


def combined(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* with its two domains in one, which transformations over both loops need."""
    entry = kernel.default_entrypoint
    return kernel.with_kernel(entry.copy(domains=[entry.combine_domains((0, 1))]))


def test_loops_that_a_prefetch_adds(tmp_path: Path) -> None:
    for inner, known in (("a[i] += q[i][j];", True), ("{ a[i] += q[i][j]; q[i][j] = 0; }", False)):
        region = region_of(tmp_path, f"for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) {inner}")
        kernel, outer = lp.tag_inames(combined(lowered(region)), "i:g.0"), frozenset(["i"])
        fetched = lp.add_prefetch(kernel, "q", sweep_inames=["j"], fetch_outer_inames=outer, default_tag="l.0")
        assert spread(region, lowered(region), fetched) == ((Spread("i", ("{}",)),) if known else None)


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
        ("for (int i = 0; i < n; i++) { double s[4]; for (int j = 0; j < 4; j++) s[j] = b[j]; a[i] = s[1]; }",
         "i:g.0, j:l.0", {"n": 9}, None),
    ],
)  # fmt: skip
def test_typical(loop: str, tags: str, scalars: dict[str, int], answer: str | None, tmp_path: Path) -> None:
    region = region_of(tmp_path, loop)
    spreads = spread(region, lowered(region), lp.tag_inames(lowered(region), tags))
    assert spreads
    watch = Watch(region, spreads)
    found = watch.refusal({"n": 1, "m": 1, "off": 1, **scalars}) or watch.unproven()
    assert (found and found.code) == answer


def test_the_program_may_vouch_for_a_loop(tmp_path: Path) -> None:
    clauses = 'transform("m", "f") annotate("independent", "i")'
    for loop, code in (("a[k[i]] = 1;", None), ("a[i] = a[i + 1];", "N403"), ("a[k[i]] = 1; b[0] = i;", "N403")):
        region = region_of(tmp_path, f"for (int i = 0; i < n; i++) {{ {loop} }}", clauses)
        watch = Watch(region, (Spread("i", ("{}",)),))
        found = watch.refusal({"n": 5, "m": 5, "off": 0}) or watch.unproven()
        assert (found and found.code) == code
