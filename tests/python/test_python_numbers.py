"""Numbers that leave their type, and those that look as if they did not: kernels compute what Python computes."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from quick import first_of
from test_python_meaning import same, table

from nomp.diagnostics import NompError
from nomp.region import Assign, Binary, Cast
from nomp.walks import walk, walk_expr

Load = Callable[[str], ModuleType]

_WRAPPING = """
    (i * 6364136223846793005 + 1442695040888963407) % 4294967296; (j * 6364136223846793005 - i) % 65536;
    (i * 3037000500 * 3037000500 * 12) % 1024; (i * i * i * 1152921504606846977) % 64; (seed * seed * seed) % 4096;
    (i * np.int64(2862933555777941757)) % 100; i * np.int64(2862933555777941757) // 3; (big + i) // 7; (big + i) % 7;
    (i * np.int32(2000000011)) // np.int32(3); (i + np.int64(9223372036854775800)) % 10; lcg(i) % 256; lcg(seed) % 8;
    (lcg(lcg(i)) - 5) % 512; (k * 4611686018427387905 + k) % 32; a[(i * 2862933555777941757) % 8];
    a[(i * np.int64(2862933555777941757)) % 8]; a[(j * 4611686018427387905 * 3 + 1) % 4 - 4]
"""


@pytest.mark.parametrize("expression", first_of(e.strip() for e in _WRAPPING.split(";")))
def test_what_wraps_around(load: Load, expression: str) -> None:
    """Also where the sum or product begins with a counter, which is never negative itself."""
    text = f"""
def lcg(x):
    return x * 6364136223846793005 + 1442695040888963407
@nomp.jit
def f(a, out, seed, big):
    #pragma nomp for
    for i in range(1, 9):
        k = i * 3
        for j in range(i):
            out[i - 1, j] = {expression}
"""
    a = np.array([5, 3, 1, 0, 7, 2, 4, 6])
    same(load, text, a, np.zeros((8, 8), np.int64), 3037000507, np.int64(2**63 - 4))


def test_what_follows_a_number_that_has_wrapped_around(load: Load) -> None:
    """It may wrap around as well, which C's signed integers must not."""
    factor = "i * np.int64(9223372036854775807)"
    chosen = [f"{factor} + i > {factor}", f"i - {factor} < i", f"-({factor}) - 2 * i", f"({factor}) * 3 + (i - 3)"]
    text, out = table(chosen, "out"), np.zeros((len(chosen), 9), np.int64)
    same(load, text, out)
    module = load(text)
    module.f(out)
    (loop,) = module.__nomp__.loops.values()
    ((special,),) = [variants.values() for variants in loop._special.values()]
    values = [stmt.value for stmt in walk(special.translated.region.body) if isinstance(stmt, Assign)]
    wrapped = [
        any(isinstance(inner, Cast) and inner.operand.dtype == "uint64" for inner in walk_expr(node))
        for value in values for node in walk_expr(value)
        if isinstance(node, Binary) and node.op in "+-*" and node.dtype == "int64"
    ]  # fmt: skip
    assert len(values) == len(chosen) and wrapped == [False] * len(wrapped) != []


def test_functions_named_like_those_of_the_compiler(load: Load) -> None:
    text = """
def floormod(x, y):
    return x - y
def floordiv(x, y):
    return floormod(x, y) // 2
def floormod_int64(x, y):
    return y - x
@nomp.jit
def f(a):
    #pragma nomp for
    for i in range(8):
        a[i] = floormod(i, 5) // 2 + floormod(i, 5) % 3 + floordiv(i, 9) * (floormod_int64(i, 3) // 2) % -4
"""
    same(load, text, np.zeros(8, np.int64))


_BOOLS, _INTS, _FLOATS = ["i > 3", "True"], ["i - 4", "3", "a[i]"], ["i / 2", "2.5"]
_FUNCTIONS = {
    "add subtract multiply divide less less_equal equal": (_BOOLS + _INTS + _FLOATS, _BOOLS + _INTS + _FLOATS),
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift": (_BOOLS + _INTS, _BOOLS + _INTS),
    "floor_divide remainder": (_BOOLS + _INTS + _FLOATS, ["True", "3", "-2", "a[i] + 1", "2.5"]),
    "power": (_BOOLS + _INTS, ["True", "3", "i", "a[i]"]),
}
_CASES = [(name, *operands) for names, operands in _FUNCTIONS.items() for name in names.split()]


@pytest.mark.slow
@pytest.mark.parametrize("name, lefts, rights", _CASES)
def test_operators_as_functions(load: Load, name: str, lefts: list[str], rights: list[str]) -> None:
    """``np.add`` of Python's own numbers is what NumPy makes of them."""
    calls = [f"np.{name}({left}, {right})" for left in lefts for right in rights]
    if name == "subtract":  # NumPy refuses truth values
        calls = [f"np.subtract({left}, {right})" for left in lefts for right in rights if left not in _BOOLS]
    same(load, table([f"{call} + True" for call in calls]), np.arange(8), np.zeros((len(calls), 8)))


@pytest.mark.parametrize("dtype", first_of(["float64", "float32"]))
def test_signs_of_zeros(load: Load, dtype: str) -> None:
    """Which comparisons of numbers do not tell."""
    chosen = ["a[i] // 3", "a[i] % -3", "a[i] * 0", "0 - a[i]", "-a[i]", "+a[i]", "a[i] ** 3", "a[i] ** 0.5"]
    names = "sign abs negative floor ceil rint trunc square sqrt fabs"
    chosen += [f"np.{name}(a[i])" for name in names.split()]
    text = table([f"np.copysign(1, {expression})" for expression in chosen])
    same(load, text, np.array([0.0, -0.0, 0.25, 4.0], dtype), np.zeros((len(chosen), 4)))


_RESULTS = {
    "0, or a quotient": ("x = 1", "x = 0\nif i > 3:\n    x = i / 2"),
    "a truth value, or an int": ("x = 0", "if i < 3:\n    x = True\nelse:\n    x = i"),
    "a constant, or NumPy's": ("x = None", "if i < 3:\n    x = 0\nelse:\n    x = a[i]"),
    "never set": ("x = 0", "if a[i] > 1e9:\n    x = a[i]"),
    "never set, NaN": ("x = math.nan", "if a[i] > x:\n    x = a[i]"),
    "an int, of which a part is zero": ("x = 0", "x = -0.0 * a[i]"),
    "a sum that is zero": ("x = 0", "x += a[i] * 0"),
    "a sum of a part that is zero": ("x = 0", "if i < 3:\n    x += a[i]\nelse:\n    x = a[0]"),
    "a maximum that is the start": ("x = math.inf", "x = max(x, a[i])"),
    "a sum in float32": ("x = math.nan", "x += np.float32(a[i])"),
    "continue": ("x = 0", "if i < 9:\n    continue\nx = a[i]"),
    "in a loop": ("x = 0", "for k in range(2 * i - 14):\n    x = a[i]"),
    "only constants": ("x = 0", "if i < 3:\n    x = 1\nelse:\n    x = 2.5"),
}


@pytest.mark.parametrize("name", first_of(_RESULTS))
def test_types_of_results(load: Load, name: str) -> None:
    """A variable has afterwards the type that it gets in Python, where only constants differ from it."""
    before, body = _RESULTS[name]
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = f"@nomp.jit\ndef f(a):\n    {before}\n    #pragma nomp for\n    for i in range(8):\n{lines}    return x\n"
    same(load, text, np.arange(8.0))


@pytest.mark.parametrize("start", ["2 ** 70", "-2 ** 63 - 1", "10 ** 400", "10 ** 5000", "2 ** 64"])
@pytest.mark.parametrize("item", ["i", "a[i]", "1.5 * i", "np.float32(a[i])", "np.uint64(i)"])
def test_starts_that_are_too_large(load: Load, start: str, item: str) -> None:
    """What neither a number of the device nor, in digits, a terminal holds is refused where it is used."""
    text = f"""
    @nomp.jit
    def f(a):
        s = {start}
        #pragma nomp for
        for i in range(8):
            s += {item}
        return s
    """
    if "uint" not in item and "." in item and start in ("2 ** 64", "2 ** 70"):
        same(load, text, np.arange(8))  # a float holds these
        return
    with pytest.raises(NompError) as caught:
        load(text).f(np.arange(8))
    (found,) = caught.value.diagnostics
    assert found.code in ("N236", "N233") and found.span is not None and found.span.line > 5
    assert len(found.message) < 120
    if item in ("i", "a[i]"):
        assert found.code == "N236" and "'s' is an int of " in found.message
