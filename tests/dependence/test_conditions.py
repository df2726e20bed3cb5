"""Conditions without isl: they hold where the sets of isl's do that they were made of."""

from __future__ import annotations

from itertools import product
from random import Random

import islpy as isl
import pytest

from nomp import decided, source_json
from nomp.conditions import Condition, Piece
from nomp.decided import condition
from nomp.region_json import decode, encode

SETS = [
    "[a, b] -> { : false }",
    "[a, b] -> { : }",
    "[a, b] -> { : a > 3 and b = 2a or b < -5 }",
    "[a, b] -> { : exists e: a = 3e + 1 and b >= e }",
    "[a, b] -> { : (a mod 4) >= 2 and floor((b + (a mod 4)) / 3) = a }",
    "[a, b] -> { : exists e, f: 2e + 3f = a and 0 <= e <= b and 0 <= f <= b }",
    "[a, b] -> { : exists e, f: e < b and f >= 0 and 3f > -a + 3e and 6f < -a + 6e }",
]


def random_set(seed: int) -> str:
    """What two counters in a box leave of some constraints on them and on a and b."""
    random, constraints = Random(seed), ["-5 <= x <= 5", "-5 <= y <= 5"]
    for _ in range(random.randint(1, 4)):
        factors = [random.randint(-4, 4) for _ in "abxy1"]
        terms = " + ".join(f"{factor}{name}" for factor, name in zip(factors, ("a", "b", "x", "y", ""), strict=True))
        constraints.append(f"{terms} {random.choice(['=', '>=', '>='])} 0")
    return f"[a, b] -> {{ [x, y] : {' and '.join(constraints)} }}"


@pytest.mark.parametrize("text", [*SETS, *map(random_set, range(12))])
def test_they_hold_where_the_set_does(text: str) -> None:
    points = isl.Set(text).params()
    made = condition(points, ("a", "b"))
    assert made is not None
    assert decode(encode(made), source_json._NODES) == made
    for a, b in product(range(-8, 9), repeat=2):
        inside = points & isl.Set(f"[a, b] -> {{ : a = {a} and b = {b} }}")
        assert made.holds({"a": a, "b": b, "c": 1.5}) != inside.is_empty(), (a, b)


def test_what_has_many_pieces_has_no_form() -> None:
    names = tuple(f"p{k}" for k in range(7))
    points = isl.Set(f"[{', '.join(names)}] -> {{ : {' and '.join(f'({name} < 0 or {name} > 0)' for name in names)} }}")
    assert condition(points, names) is None


def test_what_takes_long_has_no_form_and_leaves_isl_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    points = isl.Set(SETS[-1])
    monkeypatch.setattr(decided, "_MOST_WORK", 1)
    assert condition(points, ("a", "b")) is None
    monkeypatch.undo()
    assert condition(points, ("a", "b")) is not None


def test_quotients_may_use_those_before_them() -> None:
    half = ((0, 1), 2)
    quarter = ((0, 0, 1), 2)
    multiples_of_four = Condition(("n",), (Piece((half, quarter), zero=((0, 1, 0, -4),)),))
    assert [n for n in range(-8, 9) if multiples_of_four.holds({"n": n})] == [-8, -4, 0, 4, 8]
