"""Annotated Python loops compute what Python computes: results, their types, and all arrays afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quick import first_of

Load = Callable[[str], ModuleType]


def same(load: Load, text: str, *args: Any) -> Any:
    """What ``f(*args)`` of *text* returns, once it is the same as without nomp, and all arguments are afterwards."""
    f = load(text).f
    expected, found = copy.deepcopy(args), copy.deepcopy(args)
    with np.errstate(all="ignore"):
        wanted = f.__wrapped__(*expected)
    got = f(*found)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert repr(got) == repr(wanted)
    return got


def table(expressions: Sequence[str], arguments: str = "a, out") -> str:
    """A function ``f(arguments)`` of a loop that leaves expression k in row k of *out*."""
    lines = "".join(f"        out[{k}, i] = {expression}\n" for k, expression in enumerate(expressions))
    return f"@nomp.jit\ndef f({arguments}):\n    #pragma nomp for\n    for i in range(out.shape[1]):\n{lines}"


INTEGERS = np.array([-7, -3, -1, 0, 1, 2, 5, 9])
_EXPRESSIONS = """
    a[i] // 3; a[i] // -3; a[i] % 3; a[i] % -3; a[i] / 4; -a[i]; ~a[i]; a[i] << 2; a[i] >> 1; a[i] ** 3;
    a[i] & 6 | 1 ^ a[i]; a[i] // 0 * 0; i // 3 - 7 // (i + 1); (i - 4) % 3; (i - 4) // 3; 2 ** i; i ** 2;
    a[i] == 5; not a[i]; a[i] > 0 and a[i] < 5; 0 < a[i] <= 5; a[i] if a[i] > 0 else -a[i]; min(a[i], 3);
    max(a[i], a[i - 1]); abs(a[i]); int(a[i] / 2); float(a[i]) / 3; bool(a[i]) + 1; True + (i > 3); i and 7;
    i or 9; a[i] * 1.5; np.float32(a[i]) / 3; np.int8(a[i]) * np.int8(40); np.sign(a[i]); np.maximum(a[i], 2);
    math.floor(a[i] / 2); math.copysign(1, a[i]); math.fmod(a[i], 4); math.hypot(3, 4); a[i - 1]; a[i - 3];
    a[-1 - i]; a[-2]; a.shape[0] + len(a) + a.size + a.ndim; 1 << i; (a[i] >> 70) + (a[i] << 70);
    -7 // 2 + -7 % 3; 7.5 // -2; a[i] // 2.5; a[i] % -2.5; (i - 4) % 2.5; (i - 4) // 0.5; 1e300 * i;
    np.square(a[i]); np.isnan(a[i] / 1); a[int(b[i])]; a[a[i] % 8]
"""
ARITHMETIC = [expression.strip() for expression in _EXPRESSIONS.split(";")]


TYPES = ["int64", "int32", "int16", "int8", "uint8", "uint32", "uint64", "float64", "float32"]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_arithmetic(load: Load, dtype: str) -> None:
    """All expressions in one loop."""
    refused = {"float": ("<<", ">>", "&", "~", "a[a["), "uint": ("// -3", "% -3")}.get(dtype.rstrip("123468"), ())
    chosen = [e for e in ARITHMETIC if not ("a[" in e and any(op in e for op in refused))]
    values = INTEGERS.astype(dtype) if not dtype.startswith("uint") else abs(INTEGERS).astype(dtype)
    f = load(table(chosen, "a, b, out")).f
    expected, found = np.zeros((len(chosen), 8)), np.zeros((len(chosen), 8))
    with np.errstate(all="ignore"):
        f.__wrapped__(values, np.arange(8.0), expected)
    f(values, np.arange(8.0), found)
    wrong = [e for e, one, other in zip(chosen, expected, found, strict=True) if not np.array_equal(one, other, True)]
    assert wrong == []


STATEMENTS = {
    "scalars": """
@nomp.jit
def f(a, b):
    s, count, last, m = 0.0, 0, None, -np.inf
    #pragma nomp for
    for i in range(len(a)):
        s += a[i] * b[i]
        if a[i] > 2:
            count += 1
        last = a[i]
        if a[i] > m:
            m = a[i]
    return s, count, last, m, i
""",
    "nothing runs": """
@nomp.jit
def f(a, b):
    i, s = -1, 5
    #pragma nomp for
    for i in range(3, 3):
        s += 1
    return i, s
""",
    "steps": """
@nomp.jit
def f(a, b):
    for step in (1, 2, -1, -3):
        #pragma nomp for
        for i in range(len(a) - 1 if step < 0 else 0, -1 if step < 0 else len(a), step):
            a[i] += b[i] + step
    #pragma nomp for
    for i in range(9, 0, -2):
        a[i] = i
        for j in range(i, i + 4, 2):
            b[i] += j
    return i
""",
    "control": """
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        k = i
        steps = 0
        while True:
            if k == 1 or steps > 20:
                break
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
            if k > 50:
                continue
            a[i] += 1
        if i < 3:
            b[i] = steps
        elif i < 6:
            b[i] = -steps
        else:
            b[i] = 0.5
            continue
        b[i] += 1
""",
    "counter is changed, bounds are changed": """
@nomp.jit
def f(a, b):
    n = 3
    #pragma nomp for
    for i in range(10):
        n = 3
        for j in range(n):
            n = j + 5
            j = j * 2
            a[i] += j
        i = i % 4
        b[i] += n + j
    return i, j, n
""",
    "small integers": """
@nomp.jit
def f(a, b):
    bytes_, words = np.zeros(10, np.uint8), np.zeros(10, np.int16)
    #pragma nomp for
    for i in range(10):
        bytes_[i] = a[i] * 3
        words[i] = b[i] * -2000.5
        bytes_[i] += np.uint8(200)
        words[i] <<= 2
    return bytes_.tolist(), words.tolist()
""",
    "bounds are read from what the loop writes": """
@nomp.jit
def f(a, b):
    ends = np.array([3, 1, 4, 1, 5])
    #pragma nomp for
    for i in range(5):
        for j in range(ends[i]):
            ends[i] = 1
            a[i] += b[j]
    return ends.tolist()
""",
    "swap": """
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        x, y = a[i], b[i]
        x, y = y, x + y
        a[i], b[i] = x, y
        p = q = i * 2
        a[i] += p - q
""",
    "prefix sum": """
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(1, 10):
        a[i] += a[i - 1]
""",
    "histogram": """
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        a[int(b[i]) % 3] += 1
""",
    "words of C": """
@nomp.jit
def f(a, b):
    double, int_, half = 2.0, 3, 4
    register = a
    #pragma nomp for
    for default in range(10):
        static = b[default] * double + half
        register[default] = static - int_
""",
    "functions": """
SCALE = 3
def inner(x, power=2, *, shift=0.5):
    return x ** power + shift
def outer(x):
    total = 0.0
    for k in range(3):
        if k == 2 and x > 4:
            return total
        total += inner(x, shift=k) * SCALE
    return total
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(10):
        a[i] = outer(b[i]) + inner(i)
""",
    "functions of one definition": """
def maker(k):
    def add(x):
        return x + k
    def twice(x):
        return add(add(x))
    return twice
one, thirty = maker(1), maker(30)
@nomp.jit
def f(a, b):
    nested = maker(500)
    #pragma nomp for
    for i in range(10):
        a[i] = one(b[i]) * 1000 + thirty(b[i])
        b[i] = one(i) + nested(i)
""",
    "a name that a library has, too": """
pi = 0
@nomp.jit
def f(a, b):
    global pi
    #pragma nomp for
    for i in range(10):
        pi = i + 1
        a[i] = math.pi * b[i]
    return pi
""",
    "jit and name": """
@nomp.jit
def f(a, b, n=4):
    #pragma nomp for jit(n) name("mine") \\
    #    annotate("independent", "i")
    for i in range(n):
        a[i] = b[i] * n
""",
    "reductions": """
@nomp.jit
def f(a, b):
    s, p, m, bits = 0, 1.0, 1e9, 255
    #pragma nomp for reduce(* : p) reduce("m", "min") reduce(& : bits)
    for i in range(10):
        s += i * i
        p *= 0.5
        m = min(m, b[i])
        bits &= i | 8
    return s, p, float(m), bits
""",
    "closure and method": """
class Thing:
    def __init__(self, factor):
        self.__factor = factor
    @nomp.jit
    def scale(self, a):
        factor = self.__factor
        #pragma nomp for
        for i in range(len(a)):
            a[i] *= factor
def maker(k):
    @nomp.jit
    def add(a, b):
        #pragma nomp for
        for i in range(10):
            a[i] += b[i] * k
    return add
def f(a, b):
    maker(3)(a, b)
    maker(5)(a, b)
    Thing(0.5).scale(b)
def wrapped(a, b):
    maker(3).__wrapped__(a, b)
    maker(5).__wrapped__(a, b)
    Thing.scale.__wrapped__(Thing(0.5), b)
f.__wrapped__ = wrapped
""",
    "two dimensions": """
@nomp.jit
def f(a, b):
    m, v = a.reshape(2, 5), np.zeros((5, 2))
    #pragma nomp for
    for i in range(2):
        for j in range(5):
            v[j][i] = m[i, j] + m[i - 1, -j - 1] * m.shape[1]
    #pragma nomp for
    for i in range(2):
        for j in range(5):
            b[i * 5 + j] = v[j, i]
    return v.tolist()
""",
}  # fmt: skip


@pytest.mark.parametrize("name", first_of(STATEMENTS))
def test_statements(load: Load, name: str) -> None:
    same(load, STATEMENTS[name], np.linspace(0.0, 4.5, 10), np.linspace(1.0, 10.0, 10))


def test_float32_accumulates_in_float32(load: Load) -> None:
    text = """
@nomp.jit
def f(a):
    s = 0.0
    #pragma nomp for
    for i in range(len(a)):
        s += a[i]
    return s
"""
    same(load, text, np.full(1000, 0.1, np.float32))
