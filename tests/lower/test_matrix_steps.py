"""Which loops units can run: kernels that differ in one thing from one that they can."""

from __future__ import annotations

from typing import Any

import loopy as lp
import numpy as np
import pytest

from nomp.lower.matrix_steps import runnable

BOUNDS = "0 <= s < n and 0 <= u < 8 and 0 <= t < 4 and 0 <= p < 2 and 0 <= q < 3 and 0 <= v < 2 and 0 <= k < 16"
TEXT = "sum[p, q, v] = sum[p, q, v] + x[8*p + u, k] * y[k, 8*q + 2*t + v]"
SHAPES = {"x": (16, 16), "y": (16, 24), "sum": (2, 3, 2)}


def kernel(bounds: str = BOUNDS, text: str = TEXT, dtype: type = np.float64, **shapes: tuple[int, ...]) -> Any:
    spaces = {"x": lp.AddressSpace.LOCAL, "y": lp.AddressSpace.LOCAL, "sum": lp.AddressSpace.PRIVATE}
    locals_ = [lp.TemporaryVariable(name, dtype, {**SHAPES, **shapes}[name], address_space=space)
               for name, space in spaces.items()]  # fmt: skip
    made = lp.make_kernel(
        f"[n] -> {{ [s, u, t, p, q, v, k] : {bounds} }}", text + " {inames=s:u:t:p:q:v:k}",
        [*locals_, lp.ValueArg("n", np.int64)], seq_dependencies=True, lang_version=(2018, 2),
    )  # fmt: skip
    tags = {"t": "l.0", "u": "l.1", "p": "ilp.unr", "q": "ilp.unr", "v": "ilp.unr"}
    return lp.tag_inames(made, tags).default_entrypoint


def test_what_units_run() -> None:
    step = runnable(kernel(), "k")
    assert step is not None and step.whole.is_universe()
    assert (step.t, step.u, step.p, step.q, step.v) == ("t", "u", "p", "q", "v")
    assert (step.depth, step.blocks, step.rows.array, step.columns.array) == (16, (2, 3), "x", "y")
    assert [step.rows.at(iname) for iname in "upk"] == [16, 128, 1]
    assert [step.columns.at(iname) for iname in "ktqv"] == [24, 2, 8, 1]


def test_when_the_loop_is_whole() -> None:
    step = runnable(kernel(BOUNDS + " and 16*s + k < n"), "k")
    assert step is not None and not step.whole.is_universe()
    assert step.whole.to_set().complement().n_basic_set() == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k < 16", "k < 15"), ("k < 16", "k < 16 and k <= u"), ("s < n", "s < n and s <= u"), ("p < 2", "p < 3"),
        ("u < 8", "u < 7"), ("t < 4", "t < 3"), ("v < 2", "v < 1"),
    ],
)  # fmt: skip
def test_other_loops(before: str, after: str) -> None:
    assert runnable(kernel(BOUNDS.replace(before, after), sum=(3, 3, 2), x=(24, 16)), "k") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" + x", " - x"), ("k] * y", "k] * 2 * y"), ("* y[k, 8*q + 2*t + v]", "* x[8*p + u, k]"),
        ("2*t + v", "t + 4*v"),
        ("8*p + u, k", "8*p + u, k + t"), ("[k, 8*q", "[k, 8*q + u"), ("[p, q, v] =", "[p, q, 0] ="),
        ("8*p + u, k", "8*p + u, 15 - k"), ("x[8*p + u, k]", "x[8*p + u, k % 8]"),
    ],
)  # fmt: skip
def test_other_statements(before: str, after: str) -> None:
    assert runnable(kernel(text=TEXT.replace(before, after)), "k") is None


def test_elements_that_are_not_there() -> None:
    """An item beyond the edge would read beyond the array."""
    assert runnable(kernel(x=(15, 16)), "k") is None


def test_singles() -> None:
    assert runnable(kernel(dtype=np.float32), "k") is None


def test_sums_that_others_use() -> None:
    """What items beyond the edge have added up must not be seen."""
    entry = kernel()
    within = frozenset("spqv")
    seen = entry.instructions[0].copy(id="seen", within_inames=within, expression=0.0, depends_on=frozenset())
    assert runnable(entry.copy(instructions=[*entry.instructions, seen]), "k") is None
