"""Arrays of Python programs: views, overlaps, what is on the device, what changes between calls, threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from quick import first_of

import nomp
from nomp.runtime import indices, loader, session

Load = Callable[[str], ModuleType]


WRITES = """
@nomp.jit
def f(a, b):
    rows, columns = a.shape
    #pragma nomp for
    for i in range(rows):
        for j in range(columns):
            a[i, j] = b[i, j] * 2 + a[i, j] + i - j
"""
BASE = np.arange(120.0).reshape(10, 12)
VIEWS = {
    "fortran": lambda: np.asfortranarray(BASE[:4, :5]),
    "transposed": lambda: BASE.copy()[:5, :4].T,
    "block": lambda: BASE.copy()[2:6, 3:8],
    "every other": lambda: BASE.copy()[1:9:2, 0:10:2],
    "reversed": lambda: BASE.copy()[7:3:-1, 9:4:-1],
    "one row": lambda: BASE.copy()[:1, 2:7],
    "field": lambda: np.zeros((4, 5), [("x", "f8"), ("y", "f8")])["y"],
    "column of cube": lambda: np.arange(60.0).reshape(4, 5, 3)[:, :, 1],
}


@pytest.mark.parametrize("name", first_of(VIEWS))
def test_views(load: Load, name: str) -> None:
    """Nothing but the elements of the view changes, whatever lies between them."""
    f = load(WRITES).f
    for source in (VIEWS[name](), np.ones(VIEWS[name]().shape)):
        one, other = VIEWS[name](), VIEWS[name]()
        f(one, source)
        f.__wrapped__(other, source)
        for got, wanted in ((one, other), (one.base, other.base)):
            if got is not None:
                np.testing.assert_array_equal(got, wanted)


def test_what_lies_between_elements_that_share_memory_stays() -> None:
    """Elements that take as many bytes as they lie in may have gaps between them."""
    base = np.arange(6.0)
    view = np.lib.stride_tricks.as_strided(base, (3, 2), (0, 40))
    nomp.update(to=base)
    base[:] = -1
    nomp.update(from_=view)
    assert base.tolist() == [0, -1, -1, -1, -1, 5]
    nomp.mapped(view).set(7)
    nomp.update(from_=base, free=base)
    assert base.tolist() == [7, 1, 2, 3, 4, 7]


def test_read_only_and_broadcast_arrays_are_read(load: Load) -> None:
    one, other = np.zeros((4, 5)), np.zeros((4, 5))
    source = np.broadcast_to(np.arange(5.0), (4, 5))
    f = load(WRITES).f
    f(one, source)
    f.__wrapped__(other, source)
    np.testing.assert_array_equal(one, other)


OVERLAP = """
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(len(a)):
        a[i] = b[i] + 1
"""


@pytest.mark.parametrize("shift", first_of([-3, -1, 0, 1, 3]))
@pytest.mark.parametrize("resident", [False, True])
def test_views_of_one_buffer(load: Load, shift: int, resident: bool) -> None:
    module = load(OVERLAP)
    one, other = np.arange(20.0), np.arange(20.0)
    if resident:
        module.nomp.update(to=one)
    module.f(one[4:14], one[4 + shift : 14 + shift])
    module.f(one[10::-1], one[:11])
    module.f(one[::2], one[1::2])
    if resident:
        module.nomp.update(from_=one, free=one)
    for views in ((slice(4, 14), slice(4 + shift, 14 + shift)), (slice(10, None, -1), slice(0, 11)),
                  (slice(0, None, 2), slice(1, None, 2))):  # fmt: skip
        module.f.__wrapped__(other[views[0]], other[views[1]])
    np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_types_change_between_calls(load: Load) -> None:
    f = load(OVERLAP).f
    for dtype in ("float64", "float32", "int32", "uint8", "bool", "float64"):
        one, other = np.zeros(5, dtype), np.zeros(5, dtype)
        source = np.arange(5).astype(dtype)
        f(one, source)
        f.__wrapped__(other, source)
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_what_a_function_reads_changes_between_calls(load: Load) -> None:
    module = load("""
K = 2
def g(x):
    return x * K
@nomp.jit
def f(a, b):
    #pragma nomp for
    for i in range(len(a)):
        a[i] = g(b[i]) + math.pi
""")
    a, b = np.zeros(3), np.ones(3)
    module.f(a, b)
    module.K = 5
    module.f(a, b)
    np.testing.assert_array_equal(a, 5 + np.pi)


def test_what_is_on_the_device_stays_there(load: Load) -> None:
    module = load(OVERLAP)
    a, b = np.zeros(4), np.ones(4)
    with module.nomp.update(to=[a, b], from_=a):
        b[:] = 7
        module.f(a, b)
        np.testing.assert_array_equal(a, 0)
    np.testing.assert_array_equal(a, 2)


def test_kernel_of_c(load: Load) -> None:
    import nomp

    load("")
    loop = "for (int i = 0; i < n; i++) s[0] += a[i] * b[i];"
    k = nomp.kernel(f"void k(int n, double *a, const double *b, double *s) {{ {loop} }}", reduce={"s": "+"})
    s = np.zeros(1)
    k(10, np.arange(10.0), np.ones(10), s)
    assert s[0] == 45


def test_explain_and_source(load: Load) -> None:
    module = load(OVERLAP)
    assert "not launched yet" in module.f.explain()
    module.f(np.zeros(3), np.zeros(3))
    assert "become" in module.f.explain() and "[N506]" in module.f.explain()
    assert "__kernel" in module.f.source("opencl") and "__global__" in module.f.source("cuda")


def test_directives(load: Load) -> None:
    """The directives of a file that `nomp run` runs; the loop itself is not annotated here."""
    from nomp.frontend import python, python_source
    from nomp.runtime.jit import install

    text = """
def f(a, b):
    #pragma nomp init(argc, argv)
    #pragma nomp update(to : a, b[0, 3])
    if True:
        a[:] = 5
        #pragma nomp update(from : a)
    #pragma nomp sync
    #pragma nomp update(free : a[0:4], b[0:3])
    #pragma nomp finalize
    return a
"""
    program = python.rewritten(python_source.parsed("directives.py", text))
    space: dict[str, Any] = {}
    install(space, program.loops)
    exec(compile(program.tree, "directives.py", "exec"), space)
    assert space["f"](np.ones(4), np.ones(4)).tolist() == [1, 1, 1, 1]


def test_threads(load: Load) -> None:
    """Launches of many threads on arrays of their own do not meet."""
    from concurrent.futures import ThreadPoolExecutor

    module = load(OVERLAP)
    sources = [np.full(1000, float(k)) for k in range(8)]
    targets = [np.zeros(1000) for _ in sources]

    def work(k: int) -> None:
        for _ in range(20):
            module.f(targets[k], sources[k])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for k, target in enumerate(targets):
        np.testing.assert_array_equal(target, k + 1)


def test_arrays_changed_between_repeated_launches(load: Load) -> None:
    """A launch that was seen before is not repeated for an array that is another one by now."""
    module = load(OVERLAP)
    a, b = np.zeros(6), np.ones(6)
    module.nomp.update(to=[a, b])
    for _ in range(3):
        module.f(a, b)
    a.shape = (3, 2)
    with pytest.raises(module.nomp.NompError):
        module.f(a, b)
    a.shape = (6,)
    module.f(a, b)
    module.nomp.update(free=[a, b])
    b[:] = 3
    module.f(a, b)
    np.testing.assert_array_equal(a, 4)
    module.nomp.finalize()
    module.f(a, a)
    np.testing.assert_array_equal(a, 5)


FRESH = """
    @nomp.jit
    def f(y, x, factor, first, n):
        #pragma nomp for
        for i in range(first, n):
            y[i - 1] = y[i - 1] * factor + x[i]
"""


def test_arrays_that_are_new_at_each_launch(load: Load) -> None:
    """What the scalars decide is found once, and no more than that: not where arrays are, nor whether they overlap,
    nor the sign of a zero."""
    f, kept = load(FRESH).f, []
    cases = (1, 8, 2.0, 9), (1, 5, 0.0, 9), (2, 8, -0.0, 9), (1, 8, -0.0, 0), (1, 8, 3.5, 1)
    for first, n, factor, shift in cases * 3:
        base = np.arange(-8.0, 12)
        y, x = base[:8], base[shift : shift + 8]
        wanted = base.copy()
        f.__wrapped__(wanted[:8], wanted[shift : shift + 8], factor, first, n)
        f(y, x, factor, first, n)
        assert (base.tolist(), np.signbit(base).tolist()) == (wanted.tolist(), np.signbit(wanted).tolist())
        kept.append(base)  # the next one is elsewhere


ONE_MORE = """
    @nomp.jit
    def f(a):
        #pragma nomp for
        for i in range(len(a)):
            a[i] += 1
"""


def test_launches_are_repeated_where_something_has_been_tuned(
    load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NOMP_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "tuned").mkdir(parents=True, mode=0o700)
    function, a = load(ONE_MORE).f, np.zeros(3)
    repeated: list[bool] = []
    again = session.again

    def noted(launched: session.Launched) -> bool:
        repeated.append(again(launched))
        return repeated[-1]

    monkeypatch.setattr(session, "again", noted)
    nomp.update(to=a)
    for _ in range(4):
        function(a)
    nomp.update(from_=a)
    assert a.tolist() == [4, 4, 4]
    assert any(repeated)


def test_launches_that_take_turns_are_repeated(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two arrays that change their places, and two colours; many more launches than are known are still right."""
    text = """
    @nomp.jit
    def f(a, b, colour):
        #pragma nomp for
        for i in range(colour, len(a) - 1, 2):
            a[i] = b[i - 1] + b[i + 1] + 1
    """
    function = load(text).f
    a, b = (nomp.array(np.arange(8.0) + k) for k in (0, 10))
    hosts, launched = (a.get(), b.get()), list[Any]()  # which are looked at anew
    launch = session.launch
    monkeypatch.setattr(session, "launch", lambda *given: launched.append(given) or launch(*given))
    for colours, most in ((2, 4), (2, 0), (6, 12), (6, 12), (2, 4), (2, 0)):
        launched.clear()
        for colour in range(1, 1 + colours):
            for there, here in (((a, b), hosts), ((b, a), hosts[::-1])):
                function(*there, colour)
                function.__wrapped__(*here, colour)
        assert len(launched) <= most
        np.testing.assert_array_equal(a.get(), hosts[0])
        np.testing.assert_array_equal(b.get(), hosts[1])


@pytest.mark.parametrize("finalize", ["#pragma nomp finalize", "nomp.finalize()"])
def test_pragmas_are_the_functions_of_their_names(tmp_path: Path, finalize: str) -> None:
    """A sync has nothing to wait for before init; finalize lets go of the arrays that were on the device."""
    text = f"""import nomp, weakref, gc
import numpy as np
#pragma nomp sync
nomp.sync()
a = np.zeros(8)
#pragma nomp update(to : a)
#pragma nomp sync
gone = weakref.ref(a)
a = None
assert gone() is not None
{finalize}
assert gone() is None
#pragma nomp sync
"""
    loader.execute(str(tmp_path / "app.py"), text.encode(), {})
    assert not session.started()


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 1])
def test_what_is_looked_at_for_each_launch(load: Load, monkeypatch: pytest.MonkeyPatch, shift: int) -> None:
    """Subscripts are checked again where they may have changed, and not where other numbers have."""
    text = """
    def near(x):
        return math.floor(x) + math.ceil(x)
    @nomp.jit
    def f(a, b, k, start, n):
        #pragma nomp for
        for i in range(start, n):
            b[i] = a[i - SHIFT] * k + near(a[i]) - near(k)
    """
    module, calls = load(text.replace("SHIFT", str(shift))), list[str]()
    for name in ("wrapping", "check"):
        function = getattr(indices, name)
        monkeypatch.setattr(indices, name, lambda *a, name=name, function=function: calls.append(name) or function(*a))
    a = np.linspace(0, 3, 8)

    def run(k: float, start: int, n: int) -> list[str]:
        calls.clear()
        found, wanted = np.zeros(8), np.zeros(8)
        module.f(a, found, k, start, n)
        module.f.__wrapped__(a, wanted, k, start, n)
        np.testing.assert_array_equal(found, wanted)
        return list(calls)

    assert run(0.5, 0, 8) == ["wrapping", "check"]
    assert [run(k, 0, 8) for k in (0.25, -1.5, 2.0, 0.5)] == [[]] * 4
    assert run(0.5, 1, 8) == run(0.5, 1, 4) == ["wrapping", "check"]
    assert run(2.5, 0, 8) == run(2.5, 1, 4) == []
    for k in (0.5, 3.0):
        with pytest.raises(nomp.NompError) as caught:
            module.f(a, a.copy(), k, 0, 9)
        assert caught.value.code == "N238"
    (loop,) = module.__nomp__.loops.values()
    (variants,) = loop._special.values()
    guards = [[(guard.name, id(guard.owner)) for guard in s.translated.guards] for s in variants.values()]
    assert all(len(found) == len(set(found)) == 6 for found in guards) and len(guards) == 1 + shift
