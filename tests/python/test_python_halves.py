"""``float16``: each operation gives the very number that it gives in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quick import first_of
from test_python_meaning import same, table

from nomp.diagnostics import NompError

Load = Callable[[str], ModuleType]

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
_rng = np.random.default_rng(16)
OTHER = _rng.permutation(ALL)
NEAR = np.sort(ALL[np.isfinite(ALL)].astype(np.float64))
_NARROWER = ["float32", "int64", "uint8", "bool"]
MIDDLES = (NEAR[:-1] + NEAR[1:]) / 2


def exact(load: Load, text: str, *arrays: Any) -> None:
    """``f(*arrays)`` leaves the same bits in the last one with and without nomp, but for those of NaNs."""
    module = load(text)
    expected, found = [a.copy() for a in arrays], [a.copy() for a in arrays]
    with np.errstate(all="ignore"):
        module.f.__wrapped__(*expected)
    module.f(*found)
    one, other = expected[-1], found[-1]
    same_bits = one.view(np.uint16) == other.view(np.uint16)
    wrong = np.argwhere(~(same_bits | (np.isnan(one) & np.isnan(other))))
    assert not wrong.size, [(place, one[tuple(place)], other[tuple(place)]) for place in wrong[:5]]


_EXPRESSIONS = """
    a[i] + b[i]; a[i] - b[i]; a[i] * b[i]; a[i] / b[i]; a[i] // b[i]; a[i] % b[i]; -a[i]; abs(a[i]);
    a[i] + 1; a[i] * 0.1;
    1 / a[i]; a[i] * b[i] + a[i]; a[i] + b[i] * a[i] - 2.5; np.float16(np.float32(a[i]) * np.float32(1.0004885));
    np.float16(float(a[i]) * 1.0004885); np.sqrt(a[i]); np.maximum(a[i], b[i]); np.minimum(a[i], b[i]);
    min(a[i], b[i]); max(a[i], b[i]); a[i] if a[i] < b[i] else b[i]; np.float16(i); np.float16(i * 1000 - 30000000);
    i; a[i] * np.float32(3); (a[i] > b[i]) + a[i]; twice(a[i]); twice(a[i] / 3) * b[i]; np.copysign(a[i], b[i]);
    np.floor(a[i]); np.rint(b[i]); np.sign(a[i]); np.square(a[i]); np.fmod(a[i], b[i]); bool(a[i]) + np.float16(0.1);
    a[i] ** 2; np.float16(65519.99); a[i] + 1e6; a[i] + 70000; a[-1 - i] + a[i - 1];
    np.isnan(a[i]) + (a[i] == b[i]) * a[i]
"""


@pytest.mark.parametrize("part", first_of(range(4)))
def test_arithmetic(load: Load, part: int) -> None:
    """Of all 65536 numbers, each with another one."""
    chosen = [e.strip() for e in _EXPRESSIONS.split(";")][part::4]
    text = "def twice(x):\n    y = x * 1.5\n    return y + x * 0.5\n" + table(chosen, "a, b, out")
    exact(load, text, ALL, OTHER, np.zeros((len(chosen), len(ALL)), np.float16))


@pytest.mark.parametrize("dtype", ["float64", *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in _NARROWER)])
def test_conversions(load: Load, dtype: str) -> None:
    """To the nearest, also where a float32 between would make it the wrong one."""
    if dtype.startswith("float"):
        wide = np.concatenate([MIDDLES, MIDDLES * (1 + 1e-12), MIDDLES * (1 - 1e-12), np.geomspace(1e-320, 1e6, 999)])
        wide = np.concatenate([wide, -wide, [np.inf, -np.inf, np.nan, 65519.999, 65520.0, 0.0, -0.0]])
        with np.errstate(all="ignore"):
            wide = wide.astype(dtype)
    else:
        wide = np.concatenate([np.arange(-70000, 70000, 7), _rng.integers(-(1 << 40), 1 << 40, 999)]).astype(dtype)
    text = "@nomp.jit\ndef f(a, out):\n    #pragma nomp for\n    for i in range(len(a)):\n        out[i] = a[i]\n"
    exact(load, text, wide, np.zeros(len(wide), np.float16))
    finite = ALL[np.isfinite(ALL)] if dtype.startswith("float") else np.arange(0, 200, 3).astype(np.float16)
    same(load, text, finite, np.zeros(len(finite), dtype))


@pytest.mark.slow
def test_variables(load: Load) -> None:
    """Sums in their order, scalars, starts that are Python's, functions, and views."""
    text = """
    def near(x, y):
        return x if abs(x - y) < 0.5 else y
    @nomp.jit
    def f(a, c, h):
        s, t, low, last, n = 0, h, np.float16(1000), h, 0
        #pragma nomp for
        for i in range(len(a)):
            s += a[i] * h
            t = t * 0.5 + a[i]
            low = min(low, a[i])
            x = near(a[i], h)
            a[i] -= x
            if a[i] > 0:
                last = a[i]
                n += 1
            for j in range(c.shape[1]):
                c[i, j] += x * j
        return s, t, low, last, n, x, h
    """
    a = np.linspace(-9.3, 11.7, 40).astype(np.float16)
    same(load, text, a, np.ones((40, 3), np.float16), np.float16(1.1))
    same(load, text, a[::-2], np.ones((3, 60), np.float16).T[:40:2], np.float16(-3.3))


@pytest.mark.parametrize("text, code, message", [
    ("t = 0.1\nFOR\n    t += a[i]", "N233", "'t' is 0.1, which float16 does not hold exactly"),
    ("t = 10 ** 400\nFOR\n    t += a[i]", "N236", "'t' is an int of 1329 bits, which does not fit into float16"),
    ("FOR\n    a[i] = np.nextafter(a[i], a[i])", "N233", "devices have no neighbours of a float16"),
    ("FOR\n    a[i] = a[i] + 10 ** 400", "N236", "does not fit into float16"),
    ("t = np.float16(0)\n#pragma nomp for reduce(+ : t)\nfor i in range(3):\n    t += a[i]", "N215", ""),
])  # fmt: skip
def test_refused(load: Load, text: str, code: str, message: str) -> None:
    body = text.replace("FOR", "#pragma nomp for\nfor i in range(3):").replace("\n", "\n    ")
    f = load(f"@nomp.jit\ndef f(a):\n    {body}\n    return a\n").f
    with pytest.raises(NompError) as caught:
        f(np.ones(3, np.float16))
    assert caught.value.code == code and message in str(caught.value) and ".py:" in str(caught.value)
