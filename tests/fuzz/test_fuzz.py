"""The fuzzer in the normal test run: fixed programs, and proof that it notices broken lowering.

``NOMP_FUZZ_PROGRAMS=500 pytest tests/fuzz`` runs more programs; `make fuzz` shows more and saves what fails.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import coverage
import pytest
import run
import sabotage
from c_statements import FEATURES
from generate import generate
from shrink import shrink
from tree import block, expr, number, stmt

COUNT = int(os.environ.get("NOMP_FUZZ_PROGRAMS", "150"))
FIRST = 5000
PLAIN = FEATURES - {"while", "do", "switch", "wide extents"}
"""What the sabotaged programs have: more of what loopy sees, less that it carries as text."""
BOUND = 20
"""Programs within which each sabotage must show."""
SHOWN_BY = {
    "unsigned_bounds": 5011, "flooring_division": 5006, "short_literals": 5009, "lost_order": 5001,
    "lost_last_iteration": 5002,
}  # fmt: skip
"""Small programs that show them, which are tried first."""


def test_the_same_seed_makes_the_same_program() -> None:
    assert str(generate(7).tree()) == str(generate(7).tree())
    assert str(generate(7).tree()) != str(generate(8).tree())


@pytest.mark.parametrize(
    ("first", "count", "regions"),
    [
        pytest.param(FIRST + 1, 1, 4, id="few", marks=pytest.mark.slow),
        pytest.param(2 * FIRST, COUNT, 2, id="many", marks=pytest.mark.slow),
    ],
)
def test_programs_print_what_gcc_alone_makes_them_print(
    first: int, count: int, regions: int, pool: ProcessPoolExecutor
) -> None:
    outcomes = list(pool.map(run.one, range(first, first + count), [regions] * count))
    assert not [(o.seed, o.failure) for o in outcomes if o.failure]
    assert sum(o.regions for o in outcomes if not o.dropped) > 0.7 * count * regions, run.report(outcomes)
    seen = set(sum((o.seen for o in outcomes), Counter[str]()))
    assert not {item for item in seen if item.split()[0] in ("Unary", "Binary", "For")} - coverage.kinds()
    if count * regions >= 300:
        assert not coverage.kinds() - seen


@pytest.mark.slow
@pytest.mark.parametrize("broken", sabotage.ALL, ids=lambda broken: broken.__name__)
def test_a_planted_bug_is_found(broken: Callable[[], None], pool: ProcessPoolExecutor) -> None:
    kinds: Counter[str] = Counter()
    for seed, regions in ((SHOWN_BY[broken.__name__], 3), *((seed, 8) for seed in range(FIRST, FIRST + BOUND))):
        outcome = pool.submit(run.one, seed, regions, broken, PLAIN).result()
        assert "status 99" not in outcome.kind, outcome.failure  # the sabotage itself failed
        if outcome.kind.startswith("mismatch"):
            return
        kinds[outcome.kind or outcome.dropped or "same"] += 1
    pytest.fail(f"{BOUND} programs did not show it: {kinds}")


def test_outputs_compare_exactly_where_they_must() -> None:
    assert run.compare("exact a: 1 0x1p+0\n", "exact a: 1 0x1p+0\n") == ""
    assert "nomp: exact a: 2" in run.compare("exact a: 1\n", "exact a: 2\n")
    assert run.compare("exact a: 0x1p+0\n", "exact a: 0x1.0000002p+0\n") != ""
    assert run.compare("loose a: 0x1p+0\n", "loose a: 0x1.0000002p+0\n") == ""
    assert run.compare("loose a: 0x1p+0\n", "loose a: 0x1.1p+0\n") != ""
    assert run.compare("exact a: -nan\n", "exact a: nan\n") == ""
    assert run.compare("exact a: 1\nexact b: 2\n", "exact a: 1\n") != ""
    for label in ("exact", "loose"):
        for one in ("inf", "-inf", "nan"):
            assert run.compare(f"{label} a: {one}\n", f"{label} a: {one}\n") == ""
            for other in {"0x1p+0", "0x1.fffffep+1023", "inf", "-inf", "nan"} - {one}:
                assert run.compare(f"{label} a: {one}\n", f"{label} a: {other}\n") != ""
                assert run.compare(f"{label} a: {other}\n", f"{label} a: {one}\n") != ""
    assert run.compare("loose a: -nan\n", "loose a: nan\n") == ""


def test_shrinking_keeps_what_fails() -> None:
    statements = [stmt(f"a{k} = @;", expr("(@ + @)", number(k), expr("f(@)", number(9)))) for k in range(20)]
    small = shrink(block(*statements), lambda text: "a13 = " in text and "9" in text, 10)
    assert str(small) == "a13 = 9;"


def test_a_refused_region_is_taken_out() -> None:
    program = generate(3)
    line = next(n for n, text in enumerate(str(program.tree()).split("\n"), 1) if text.startswith("/* region 2 */"))
    assert program.region_at(line + 3) == 2
    assert "/* region 2 */" not in str(program.without({2}).tree())
