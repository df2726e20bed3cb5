"""Planes at the edge of a grid are copied without waiting for what is computed between them, and are right."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from nomp_backends.opencl import OpenCLDevice

import nomp

pytestmark = pytest.mark.usefixtures("on_opencl")

Load = Callable[[str], ModuleType]

PROGRAM = """
@nomp.jit
def smooth(u, new, first, last):
    #pragma nomp for
    for i in range(first, last):
        for j in range(1, u.shape[1] - 1):
            new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

@nomp.jit
def clear(u, places):
    #pragma nomp for
    for i in range(len(places)):
        u[places[i], 1] = 0
"""


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For each copy, how many launches there have been behind what it waits for, on a device with points."""
    found: list[int] = []
    points: list[None] = []

    def copying(plain: Callable[..., None]) -> Callable[..., None]:
        def copy(self: Any, buffer: int, offset: int, address: int, nbytes: int, after: Any = None) -> None:
            found.append(0 if after is None else len(points) - after)
            plain(self, buffer, offset, address, nbytes)

        return copy

    def point(_: Any) -> int:
        points.append(None)
        return len(points)

    monkeypatch.setattr(OpenCLDevice, "copy_to", copying(OpenCLDevice.copy_to))
    monkeypatch.setattr(OpenCLDevice, "copy_from", copying(OpenCLDevice.copy_from))
    monkeypatch.setattr(OpenCLDevice, "point", point)
    return found


def grids() -> tuple[np.ndarray, np.ndarray]:
    u = np.random.default_rng(3).random((12, 9))
    return u, u.copy()


def plain(u: np.ndarray, new: np.ndarray, first: int, last: int) -> None:
    """What `smooth` does."""
    around = u[first - 1 : last - 1, 1:-1] + u[first + 1 : last + 1, 1:-1]
    new[first:last, 1:-1] = 0.25 * (around + u[first:last, :-2] + u[first:last, 2:])


def step(smooth: Callable[..., None], u: np.ndarray, new: np.ndarray, update: Callable[..., Any]) -> None:
    """All rows but the first and the last, which come from elsewhere."""
    last = len(u) - 2
    smooth(u, new, 1, 2)
    smooth(u, new, last, last + 1)
    smooth(u, new, 2, last)
    update(from_=[new[1], new[last]])
    new[0], new[last + 1] = 2 * new[last], 3 * new[1]
    update(to=[new[0], new[last + 1]])


def test_copies_at_the_edge_wait_for_what_is_computed_there_only(load: Load, behind: list[int]) -> None:
    smooth = load(PROGRAM).smooth
    (u, new), (one, other) = grids(), grids()
    nomp.update(to=[u, new])
    for _ in range(6):
        del behind[:]
        step(smooth, u, new, nomp.update)
        step(plain, one, other, lambda **_: None)
        u, new, one, other = new, u, other, one
    # The first of our rows was found by the last launch but two, the last one by the one after that.  The others' rows
    # were read by the step before, of which the middle does not come near them.
    assert behind == [2, 1, 5, 4]
    nomp.update(from_=u)
    assert np.allclose(u, one, rtol=1e-14)


def test_a_copy_waits_for_what_may_be_anywhere(load: Load, behind: list[int]) -> None:
    program, (u, new) = load(PROGRAM), grids()
    places = np.array([3, 8])
    nomp.update(to=[u, new, places])
    nomp.update(from_=u[1])
    for _ in range(3):
        program.smooth(new, u, 5, 6)
        program.clear(u, places)
        program.smooth(u, new, 5, 6)
        nomp.update(from_=u[3:4])
        assert u[3, 1] == 0
        u[3, 1] = 9
        nomp.update(to=u[3:4])
    assert behind[-2:] == [1, 1]


def test_a_copy_waits_for_copies_inside_the_device(load: Load, behind: list[int]) -> None:
    program, (u, new) = load(PROGRAM), grids()
    nomp.update(to=[u, new])
    nomp.update(from_=u[1])
    for _ in range(3):
        program.smooth(u, new, 5, 6)
    held = nomp.mapped(u).copy()
    u[1] = 5
    nomp.update(to=u[1])
    assert behind[-1] == 0
    assert (held.get()[1] != 5).all()
