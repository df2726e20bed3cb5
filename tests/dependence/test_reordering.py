"""Sequential loops in another order than the program's: random ones against enumeration, and typical ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from pathlib import Path
from random import Random

import loopy as lp
import nests
import pytest
from schedules import Script, judged, made, region_of

from nomp.device_source import DeviceSource
from nomp.loops import signed_step
from nomp.region import Const, For, Region, Stmt

Chain = tuple[For, ...]
MANY = 150


def chains(body: tuple[Stmt, ...], around: Chain = ()) -> Iterator[Chain]:
    for stmt in body:
        if isinstance(stmt, For):
            yield (*around, stmt)
            yield from chains(stmt.body, (*around, stmt))


# -------------------------------------------------------------------------------------------------------- random ones


def shuffled(region: Region, random: Random) -> tuple[Script, dict[str, int]]:
    """A script that splits loops and puts them in a random order, and the sizes by which it splits them."""
    sizes = dict[str, int]()
    chain = random.choice([chain for chain in chains(region.body) if len(chain) > 1])
    inames = []
    for loop in chain:
        if signed_step(loop) == Const(1, "int64") and random.random() < 0.4:
            sizes[loop.iname] = random.choice([2, 3])
            inames += [f"{loop.iname}_outer", f"{loop.iname}_inner"]
        else:
            inames.append(loop.iname)
    random.shuffle(inames)

    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        for name, size in sizes.items():
            kernel = lp.split_iname(kernel, name, size)
        return lp.prioritize_loops(kernel, inames)

    return script, sizes


def when(
    chain: Chain, point: nests.Point, nest: tuple[str, ...], sizes: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """The values of the loops of *nest* in the iteration *point*; counters that go down, negative."""
    counters = {loop.iname: (value, loop) for loop, value in zip(chain, point, strict=True)}
    for iname in nest:
        name = iname.removesuffix("_outer").removesuffix("_inner")
        value, loop = counters[name]
        step = signed_step(loop)
        assert isinstance(step, Const)
        if name in sizes:
            yield iname, value // sizes[name] if iname.endswith("_outer") else value % sizes[name]
        else:
            yield iname, value if step.value > 0 else -value


def reverses(region: Region, env: Mapping[str, int], source: DeviceSource, sizes: Mapping[str, int]) -> bool:
    """Whether two mentions of an element, one a write, are run the other way round."""
    by_names = {frozenset(nest): nest for nest in source.nests}
    touched = []
    for chain, (array, element, writes, point) in nests.touches(region, env):
        ends = {loop.iname: ("_outer", "_inner") if loop.iname in sizes else ("",) for loop in chain}
        nest = by_names[frozenset(f"{name}{end}" for name in ends for end in ends[name])]
        touched.append((array, element, writes, tuple(when(chain, point, nest, sizes))))
    for (array, element, writes, time), (other, place, wrote, later) in combinations(touched, 2):
        if array == other and element == place and (writes or wrote):
            pairs = ((one, two) for one, two in zip(time, later, strict=False))
            first = next(((one, two) for one, two in pairs if one != two), None)
            if first and first[0][0] == first[1][0] and first[0][1] > first[1][1]:
                return True
    return False


@pytest.mark.slow
def test_random_orders_against_enumeration() -> None:
    answers: Counter[str] = Counter()
    seed = 5000
    while answers["nests"] < MANY:
        seed += 1
        region = nests.nest(seed)
        if not any(len(chain) > 1 for chain in chains(region.body)):
            continue
        script, sizes = shuffled(region, Random(seed))
        found = made(region, script)
        answers["nests" if found else "refused by loopy"] += 1
        if found is None:
            continue
        source, watch = found
        for n, m in product(nests.SIZES, repeat=2):
            try:
                truth = reverses(region, {"n": n, "m": m}, source, sizes)
            except nests.OutOfBounds:
                continue
            refused = watch.refusal({"n": n, "m": m}) is not None
            assert refused <= truth, f"seed {seed}, n = {n}, m = {m}: refused, and nothing is reversed"
            assert truth <= (refused or watch.unproven() is not None), f"seed {seed}, n = {n}, m = {m}: reversed"
            answers["refused" if refused else "right"] += 1
    assert min(answers["refused"], answers["right"]) > 40, answers


# ------------------------------------------------------------------------------------------------------- typical ones

SCALARS = {"n": 9, "m": 8, "off": 0}
NEST = "for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) "


@pytest.mark.parametrize(
    ("loop", "order", "code"),
    [
        (NEST + "a[i * 9 + j] = a[(i - 1) * 9 + j];", "j, i", None),
        (NEST + "a[i * 9 + j] = a[(i - 1) * 9 + j + 1];", "j, i", "N403"),
        (NEST + "a[i * 9 + j] = a[(i - 1) * 9 + j + 1];", "i, j", None),
        (NEST + "a[i] += q[i][j];", "j, i", None),
        (NEST + "k[i] = k[i] * 3 + j;", "j, i", None),
        (NEST + "k[0] += i * j;", "j, i", None),
        (NEST + "a[0] += i * j;", "j, i", "N403"),
        (NEST + "a[k[i]] += j;", "j, i", "N404"),
        (NEST + "{ double t = q[i][j]; a[i * 9 + j] = t * t; }", "j, i", None),
        ("for (int i = 0; i < n; i++) for (int j = 8; j > 0; j--) a[i * 9 + j] = a[i * 9 + j + 10];", "j, i", "N403"),
        ("for (int i = 0; i < n; i++) for (int j = 8; j > 0; j--) a[i * 9 + j] = a[i * 9 + j + 8];", "j, i", None),
    ],
)
def test_typical_interchanges(loop: str, order: str, code: str | None, tmp_path: Path) -> None:
    region = region_of(tmp_path, loop)
    wrong = judged(region, lambda kernel: lp.prioritize_loops(kernel, order), SCALARS)
    assert (wrong and wrong.code) == code


def tiles(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    kernel = lp.split_iname(lp.split_iname(kernel, "i", 4), "j", 4)
    return lp.prioritize_loops(kernel, "i_outer, j_outer, i_inner, j_inner")


def test_tiles(tmp_path: Path) -> None:
    for source, code in (("j", None), ("j + 1", "N403")):
        region = region_of(tmp_path, f"{NEST} a[i * 9 + j] = a[(i - 1) * 9 + {source}];")
        found = made(region, tiles)
        assert found is not None and ("i_outer", "j_outer", "i_inner", "j_inner") in found[0].nests
        wrong = found[1].refusal(SCALARS)
        assert (wrong and wrong.code) == code


def test_a_scalar_that_outlives_an_iteration(tmp_path: Path) -> None:
    """What is declared around a loop keeps that loop where it is, whatever the arrays allow; loopy sees to that."""
    loop = "for (int i = 0; i < n; i++) { double t = 0; for (int j = 0; j < m; j++) { t += b[j]; q[i][j] = t; } }"
    region = region_of(tmp_path, loop)
    found = made(region, lambda kernel: lp.prioritize_loops(kernel, "j, i"))
    assert found is None or ("i", "j") in found[0].nests


def test_a_loop_that_runs_backwards(tmp_path: Path) -> None:
    for text, code in (("a[i] = a[i - 1];", "N403"), ("a[i] = b[i];", None)):
        region = region_of(tmp_path, f"for (int i = 1; i < n; i++) {text}")
        wrong = judged(region, lambda knl: lp.affine_map_inames(knl, "i", "back", "back + i = 99"), SCALARS)
        assert (wrong and wrong.code) == code


def test_the_message(tmp_path: Path) -> None:
    region = region_of(tmp_path, NEST + "\n  a[i * 9 + j] = a[(i - 1) * 9 + j + 1];")
    found = made(region, lambda kernel: lp.prioritize_loops(kernel, "j, i"))
    assert found is not None
    wrong = found[1].refusal(SCALARS)
    assert wrong is not None
    assert wrong.message == (
        "iterations i = 1, j = 1 and i = 2, j = 0 of kernel '_nomp_kernel_l2' do not run in the program's order, and "
        "both touch one element of 'a' (where n = 9, m = 8)"
    )
