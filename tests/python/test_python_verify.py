"""NOMP_VERIFY: a Python loop's kernel is compared with the loop itself, which runs on the same data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quick import first_of

import nomp
from nomp.diagnostics import NompError
from nomp.runtime import loader, session

Load = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def _verify(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NOMP_VERIFY", "1")
    if session.started():  # by a test before, without it
        nomp.finalize()
    yield
    if session.started():
        nomp.finalize()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was compared: one entry for each launch."""
    from nomp.runtime.verify import Trial

    found, confirm = list[Any](), Trial.confirm
    monkeypatch.setattr(Trial, "confirm", lambda self, *stopped: (found.append(self), confirm(self, *stopped)))
    return found


RIGHT = """
def area(x):
    return x * x + BIAS
BIAS = 1

@nomp.jit
def f(a, b, c, k, x):
    n, s, count, low = len(a), 0.0, 0, 1e9
    t: float
    #pragma nomp for
    for i in range(1, n):
        b[i] = a[i - 1] * k + area(a[i])
        s += b[i]
        if c[i] % 3:
            count += c[i]
            last = i
        low = min(low, a[i])
        if a[i] > 1e9:
            x = 5
        t = math.sqrt(abs(a[i]))
    return s, count, low, last, x, t, i
"""


@pytest.mark.parametrize("resident", [False, True])
@pytest.mark.parametrize("view", first_of([lambda a: a, lambda a: a[::-2], lambda a: a.reshape(4, -1).T[3]]))
def test_what_is_right(load: Load, capsys: pytest.CaptureFixture[str], ran: list[Any], resident: bool,
                       view: Callable[[Any], Any]) -> None:  # fmt: skip
    """The program notices nothing: what it has afterwards is what the kernel has made."""
    f = load(RIGHT).f
    a, b, c = (view(np.arange(start, start + 32)) for start in (-3.0, 0.0, 7))
    wanted_b = b.copy()
    wanted = f.__wrapped__(a, wanted_b, c, 3, 7)
    if resident:
        nomp.update(to=[a, b, c])
        b[...] = -1  # stale
    for _ in range(2):
        assert f(a, b, c, 3, 7) == pytest.approx(wanted)
    if resident:
        assert (b == -1).all()
        nomp.update(from_=b)
    np.testing.assert_array_equal(b[1:], wanted_b[1:])
    assert len(ran) == 2 and capsys.readouterr().err == ""


NO_FIT = "does not fit into int64"
_WRONG = {
    "a larger integer": ("s = 2 ** 62", "s *= 2", f"OverflowError: 's' is an int of 71 bits, which {NO_FIT}"),
    "a division by zero": ("s = 0", "s = i // (i - 2)", "ZeroDivisionError: integer division or modulo by zero"),
    "an index": ("s = 0", "s += a[(a[i] + i) % 16]", "IndexError: index 8 is out of bounds for axis 0 with size 8"),
    "a domain": ("s = 0.0", "s += math.sqrt(-i)", "ValueError: math domain error"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _WRONG)
def test_what_python_refuses_to_compute(load: Load, name: str) -> None:
    """Where Python raises an exception, or has larger numbers, the kernel's number is none of the program's."""
    start, line, reason = _WRONG[name]
    text = f"@nomp.jit\ndef f(a):\n    {start}\n    #pragma nomp for\n    for i in range(8):\n        {line}\n"
    text += "    return s\n"
    module, a = load(text), np.arange(8)
    for _ in range(2):
        with pytest.raises(NompError) as caught:
            module.f(a)
        message = re.sub(r"/\S*/", "", str(caught.value))
        assert re.match(r"program_\d+\.py:8:5: error: the loop of kernel '_nomp_kernel_l7' ends with ", message)
        assert f"ends with {reason} [N618]\n    8 |     for i in range(8):\n" in message
        assert not session.verifying()
    np.testing.assert_array_equal(a, np.arange(8))


def test_a_kernel_that_is_wrong(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script, without the checks that would refuse it, has iterations 4, 8, ... come first."""
    (tmp_path / "strided.py").write_text(
        "import loopy as lp\n"
        "def run(knl, context):\n"
        "    knl = lp.split_iname(knl, 'i', 4)\n"
        "    return lp.prioritize_loops(knl, 'i_inner,i_outer')\n"
    )
    monkeypatch.setenv("NOMP_SCRIPTS_DIR", str(tmp_path))
    monkeypatch.setenv("NOMP_LEGALITY", "off")
    text = """
    @nomp.jit
    def f(a):
        #pragma nomp for transform("strided", "run")
        for i in range(1, 8):
            a[i] += a[i - 1]
    """
    f, a = load(text).f, np.ones(8, np.int64)
    with pytest.raises(NompError) as caught:
        f(a)
    assert "come to different results: 'a[4]' is 2 on the device, 5 on the host [N618]" in str(caught.value)
    assert "note: 4 of 8 elements differ" in str(caught.value)


@pytest.mark.slow
def test_a_function_whose_loop_is_a_kernel_too(tmp_path: Path, ran: list[Any]) -> None:
    """Of loops in loops the outer one is compared."""
    text = """
import numpy as np
def total(n):
    s = 0
    #pragma nomp for
    for k in range(n):
        s += k
    return s
a = np.zeros(6, int)
#pragma nomp for
for i in range(6):
    a[i] = total(i)
assert a.tolist() == [0, 0, 1, 3, 6, 10], a
assert total(5) == 10
"""
    (tmp_path / "app.py").write_text(text)
    loader.execute(str(tmp_path / "app.py"), text.encode(), {"__builtins__": __builtins__})
    assert len(ran) == 2


def test_interrupts(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends the loop from outside ends the call, with all as the launch left it."""
    text = "@nomp.jit\ndef f(a):\n    #pragma nomp for\n    for i in range(8):\n        a[i] = math.sqrt(a[i])\n"
    module, a = load(text), np.full(8, 4.0)
    nomp.update(to=a)
    (loop,) = module.__nomp__.loops.values()

    def interrupted(*_: object) -> dict[str, Any]:
        a[0] = 17
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "_plain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        module.f(a)
    assert a.tolist() == [4.0] * 8 and not session.verifying()
    nomp.update(from_=a)
    assert a.tolist() == [2.0] * 8


def test_kernels_given_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    kernel, a = nomp.kernel("void k(int n, double *a) { for (int i = 0; i < n; i++) a[i] += 1; }"), np.zeros(3)
    for _ in range(2):
        kernel(3, a)
    assert a.tolist() == [2, 2, 2]
    assert capsys.readouterr().err.count("kernels given as text have no loop in the program [N619]") == 1
