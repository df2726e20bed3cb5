"""Which choices are tried: each once, the scripts' own first, whatever has been tried before."""

from __future__ import annotations

import sys

import pytest

from nomp.diagnostics import NompError
from nomp.tuning import search
from nomp.tuning.database import Point, Trial

SPACE = {"block": (64, 128, 256), "how": ("a", "b")}


def tried(sampler: str, most: int, before: int = 0) -> list[Point]:
    """What is tried after *before* choices of a run that ended."""
    trials: list[Trial] = []
    points: list[Point] = []
    for most_now in ([before] if before else []) + [most]:
        for point in search.points(SPACE, sampler, most_now, trials):
            points.append(point)
            trials.append(Trial(point, float(point["block"])) if point["how"] == "a" else Trial(point, skipped="x: y"))
    return points


@pytest.mark.parametrize("sampler", search.SAMPLERS)
@pytest.mark.parametrize("before", [0, 2, 6])
def test_each_is_tried_once(sampler: str, before: int) -> None:
    points = tried(sampler, 64, before)
    assert points[0] == {"block": 64, "how": "a"}
    assert len(points) == 6 == len({tuple(point.items()) for point in points})


@pytest.mark.parametrize("sampler", search.SAMPLERS)
def test_no_more_than_asked_for(sampler: str) -> None:
    assert len(tried(sampler, 4)) == 4 == len(tried(sampler, 4, 3))
    assert tried("exhaustive", 3) == [{"block": 64, "how": "a"}, {"block": 64, "how": "b"}, {"block": 128, "how": "a"}]


def test_what_is_random_is_the_same_each_time() -> None:
    assert tried("random", 5) == tried("random", 5) != tried("exhaustive", 5)


def test_trials_of_another_space_do_not_count() -> None:
    old = [Trial({"block": 64}, 1.0), Trial({"block": 64, "how": "a", "more": 1}, 1.0)]
    old += [Trial({"block": block, "how": "a"}, 1.0) for block in (8, 16, 32, 512, 1024, 2048)]
    for sampler in search.SAMPLERS:
        assert len(list(search.points(SPACE, sampler, 6, list(old)))) == 6
    assert search.left(SPACE, 4, old) == 4
    assert search.left(SPACE, 64, [*old, Trial({"block": 64, "how": "a"}, 1.0)]) == 5


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert len(tried("auto", 4)) == 4
    with pytest.raises(NompError, match=r"Optuna is not installed \[N703\]\nhelp: pip install 'nomp\[tune\]'"):
        tried("tpe", 4)
