"""Functions that a program makes anew, again and again: kernels are not, and what is kept of them is bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nomp
from nomp.runtime import python, session
from nomp.runtime.kernel import Kernel

Load = Callable[[str], ModuleType]

APPLY = """
@nomp.jit
def apply(a, f):
    #pragma nomp for
    for i in range(len(a)):
        a[i] = f(a[i])
"""

ANEW = {
    "passed": """
def call(a, n):
    k = 3.0
    def f(x):
        return x * k
    apply(a, f)
""",
    "captured": """
@nomp.jit
def call(a, n):
    k = 3.0
    def f(x):
        return x * k
    #pragma nomp for
    for i in range(len(a)):
        a[i] = f(a[i])
""",
    "defaults": """
def call(a, n):
    def f(x, k=3.0, *, m=np.float32(2)):
        return x * k + m
    apply(a, f)
""",
    "of the module": """
def call(a, n):
    global helper
    def helper(x):
        return x + 1
    apply(a, through)
def through(x):
    return helper(x)
""",
    "one in another": """
def call(a, n):
    def inner(x):
        return x + 1
    def f(x):
        return inner(inner(x))
    apply(a, f)
""",
    "with its loop": """
def call(a, n):
    @nomp.jit
    def run(a):
        #pragma nomp for
        for i in range(len(a)):
            a[i] += 1
    run(a)
""",
}


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The loops that have been translated."""
    found, translate = list[Any](), python.translate
    monkeypatch.setattr(python, "translate", lambda *given: found.append(given[0]) or translate(*given))
    return found


def kept() -> int:
    """How many kernels the session has."""
    return len(session.declare.__self__._kernels)  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("way", ANEW)
def test_functions_made_anew_are_the_same_function(load: Load, translated: list[Any], way: str) -> None:
    module, before = load(APPLY + ANEW[way]), kept()
    a, b = np.linspace(0, 1, 5), np.linspace(0, 1, 5)
    for n in range(4):
        module.call(a, n)
    assert len(translated) == 1 and kept() == before + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.nomp, "jit", lambda function: function)
        patch.setattr(module, "apply", module.apply.__wrapped__)
        plain = getattr(module.call, "__wrapped__", module.call)
        for n in range(4):
            plain(b, n)
    np.testing.assert_array_equal(a, b)


MADE = """
def make(k):
    def f(x, m=2, *, c=1):
        return x * k + m + c
    def set(value):
        nonlocal k
        k = value
    return f, set
def otherwise(k):
    def f(x, m=2, *, c=1):
        return x - k - m - c
    return f
def through(x):
    return inside(x)
"""
CHANGES: dict[str, Callable[[Any, Any, ModuleType], None]] = {
    "cell": lambda f, set, module: set(4),
    "cell itself": lambda f, set, module: f.__closure__[0].__setattr__("cell_contents", 6),
    "defaults": lambda f, set, module: setattr(f, "__defaults__", (7,)),
    "keyword defaults": lambda f, set, module: f.__kwdefaults__.update(c=9),
    "code": lambda f, set, module: setattr(f, "__code__", module.otherwise(1).__code__),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", ["passed", "called by another"])
def test_each_function_keeps_what_is_its_own(load: Load, change: str, way: str) -> None:
    """The second one is known as the first one was, until it differs from it; the first one stays what it is."""
    module = load(APPLY + MADE)
    made, arrays = [module.make(3) for _ in range(3)], [nomp.zeros(4) for _ in range(3)]

    def check() -> None:
        for (f, _), there in zip(made, arrays, strict=True):
            here = np.arange(4.0)
            there.set(here)
            for _ in range(3):  # launches that are repeated, too
                module.inside = f
                module.apply(there, f if way == "passed" else module.through)
                module.apply.__wrapped__(here, f)
            np.testing.assert_array_equal(there.get(), here)

    check()
    check()
    CHANGES[change](*made[1], module)
    check()
    CHANGES[change](*made[0], module)
    check()
    made[2] = module.make(4)
    check()
    del made[1:], arrays[1:]
    check()
    made[0][0].__kwdefaults__["c"] = made[0][0].__kwdefaults__["c"] + 1
    check()


@pytest.mark.slow
def test_numbers_that_are_equal_are_not_the_same(load: Load) -> None:
    """Of another type, or zeros of other signs: the result has another type, or another sign."""
    text = """
    def make(k):
        def f(x):
            return x * k
        return f
    @nomp.jit
    def call(a, f, start):
        s = start
        #pragma nomp for
        for i in range(len(a)):
            s = f(a[i])
        return s
    """
    module, a = load(text), np.full(1, 3, np.int8)
    for k in (1, True, 1.0, np.float32(1), np.int64(1), 0.0, -0.0, 0, False, float("nan"), 1):
        found, wanted = module.call(a, module.make(k), np.int8(1)), module.call.__wrapped__(a, module.make(k), 1)
        assert repr(found) == repr(wanted), k


@pytest.mark.slow
def test_the_least_recently_used_go(load: Load, monkeypatch: pytest.MonkeyPatch, translated: list[Any]) -> None:
    """Other functions are other kernels: of those there are no more than the bound says, on the device neither."""
    monkeypatch.setattr(python, "MOST_SPECIAL", 4)
    module, before = load(APPLY + MADE), kept()
    loop = next(iter(module.__nomp__.loops.values()))
    for k in (*range(8), 4, 5, 6, 7, 4, 8, 5, 4):
        a = np.arange(4.0)
        module.apply(a, module.make(k)[0])
        assert a.tolist() == [x * k + 3 for x in range(4)]
        assert len(loop._special) <= 4 and kept() <= before + 4
    assert len(translated) == 10  # 0 to 7, 8, for which 5 went, and 5 again
    session.finalize()
    a = np.arange(4.0)
    module.apply(a, module.make(4)[0])
    assert a.tolist() == [3, 7, 11, 15]


def test_a_variable_that_comes_and_goes(load: Load) -> None:
    """A function may close over one that has no value yet, or none any more."""
    module = load(f"""{APPLY}
def run(a):
    def f(x):
        return x + later
    for act in (lambda: None, "set", lambda: None, "unset", lambda: None, "set"):
        if act == "set":
            later = 2.0
        elif act == "unset":
            del later
        try:
            apply(a, f)
        except nomp.NompError as refused:
            yield str(refused)
        else:
            yield a.tolist()
""")
    unset, one, two, refused, _, three = module.run(np.zeros(1))
    assert "'later' has no value here [N237]" in unset and refused == unset
    assert (one, two, three) == ([2], [4], [6])


def test_a_kernel_that_is_dropped_is_gone(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    module, a, released = load(APPLY + MADE), nomp.array(np.arange(4.0)), list[Kernel]()
    for k in (1, 2):
        module.apply(a, module.make(k)[0])
    loop = next(iter(module.__nomp__.loops.values()))
    one, other = (variants.popitem()[1].kernel for variants in loop._special.values())
    monkeypatch.setattr(Kernel, "release", lambda kernel, context: released.append(kernel))
    memory, owner = session.opened().memory, session.drop.__self__  # type: ignore[attr-defined]
    version = memory.version
    session.drop([one])
    assert len(released) == 1 and memory.version > version  # so that nobody repeats a launch of it
    with pytest.raises(nomp.NompError, match="N609"):
        session.run(one, [])
    monkeypatch.setattr(owner, "_owner", -1)  # as in a child after fork, whose driver is its parent's
    session.drop([other])
    assert len(released) == 1
    monkeypatch.undo()


@pytest.mark.slow
def test_a_loop_that_was_written_anew_takes_the_place_of_the_one_before(load: Load) -> None:
    module, before = load(APPLY), kept()
    a, file = np.zeros(3), Path(str(module.__file__))
    for step in range(1, 4):
        text = f"import nomp{APPLY}".replace("f(a[i])", f"a[i] + {step}")
        file.write_text(text, encoding="utf-8")
        exec(compile(text, file, "exec"), vars(module))
        module.apply(a, None)
        assert kept() == before + 1
    assert a.tolist() == [6] * 3
