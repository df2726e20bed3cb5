"""Arrays on the device, and those of other libraries: kernels use their memory, and nothing is copied."""

from __future__ import annotations

import array
import gc
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array
import pytest
from borrowing import ADD, OnGpu, Tensor
from nomp_backends.opencl import OpenCLKernel

import nomp
from nomp.runtime import dlpack, interop, session
from nomp.runtime.device_memory import MOST_VIEWS

pytestmark = pytest.mark.usefixtures("on_opencl")

Load = Callable[[str], ModuleType]
Add = Callable[[Any, Any], None]

@pytest.fixture
def add(load: Load) -> Add:
    return load(ADD).add  # type: ignore[no-any-return]


def entries() -> int:
    return len(list(session.opened().memory))


# ------------------------------------------------------------------------------------------------------------ our own


def test_arrays_of_ours(add: Add) -> None:
    a, b = nomp.array(np.arange(10.0)), nomp.zeros(10)
    b[:] = 2
    for _ in range(4):  # repeated launches, too
        add(a, b)
    np.testing.assert_array_equal(a.get(), np.arange(10.0) + 8)
    a[3] = a[3] + 1
    assert a[3] == 12 and a[-1] == 17 and len(a) == 10 and a.nbytes == 80
    assert np.asarray(a, np.float32).dtype == np.float32 and [float(x) for x in a][:2] == [8, 9]
    with pytest.raises(ValueError, match="copy"):
        np.array(a, copy=False)


VIEWS = [
    (np.s_[2:6], np.s_[4:8]), (np.s_[::-1], np.s_[:]), (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]),
    (np.s_[::2], np.s_[1::2]), (np.s_[8:8], np.s_[3:3]),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), VIEWS)
def test_views_of_one_array(add: Add, first: slice, second: slice) -> None:
    """The order of the iterations is kept where they overlap, as in NumPy arrays."""
    there, here = nomp.array(np.arange(10.0)), np.arange(10.0)
    add(there[first], there[second])
    add.__wrapped__(here[first], here[second])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(there.get(), here)


def test_shapes_and_orders() -> None:
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    there = nomp.array(host)
    for mine, theirs in ((there.T, host.T), (there[1], host[1]), (there[..., 2], host[..., 2]),
                         (there[:, ::-1, 1:3], host[:, ::-1, 1:3]), (there.reshape(4, 6), host.reshape(4, 6)),
                         (there[0, :, 1].copy(), host[0, :, 1])):  # fmt: skip
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_array_equal(mine.get(), theirs)
    there[:, 1] = -1
    host[:, 1] = -1
    np.testing.assert_array_equal(there.get(), host)
    with pytest.raises((ValueError, AttributeError)):
        there.T.reshape(24)
    for key in ([0, 1], True, np.array([1])):
        with pytest.raises(TypeError, match="subscripts"):
            there[key]


@pytest.mark.slow
def test_kernels_of_c() -> None:
    double = nomp.kernel("void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] *= 2; }")
    a = nomp.array(np.arange(5, dtype=np.float32))
    double(5, a)
    assert a.get().tolist() == [0, 2, 4, 6, 8]
    with pytest.raises(nomp.NompError, match=r"array of float32 in C order \[N632\]"):
        double(5, nomp.zeros(5))
    with pytest.raises(nomp.NompError, match="N632"):
        double(2, a[::2])
    total = nomp.kernel("void g(int n, float *a, float *s) { for (int i = 0; i < n; i++) s[0] += a[i]; }",
                        reduce={"s": "+"})  # fmt: skip
    s = np.zeros(1, np.float32)
    total(5, a, s)
    assert s[0] == 20
    with pytest.raises(nomp.NompError, match=r"array on the host of float32 .*N632"):
        total(5, a, a[:1])


@pytest.mark.slow
def test_memory_is_freed_when_nobody_has_it(add: Add) -> None:
    a = nomp.zeros(4)
    before = entries()
    views = [nomp.array(np.ones(4))[1:] for _ in range(3)]
    assert entries() == before + 3
    add(views[0], a[:3])
    del views
    gc.collect()
    add(a, a)
    assert entries() == before


def test_kinds_of_numbers() -> None:
    for name in ("bool", "int8", "uint64", "float16", "float32"):
        assert nomp.zeros(3, name).dtype == name and not nomp.zeros((3, 0), name).get().any()
    for kind in ("complex128", "longdouble", "O", ">f8"):
        with pytest.raises(nomp.NompError, match="N234"):
            nomp.empty(3, kind)


def test_halves(add: Add) -> None:
    a = nomp.array(np.arange(4, dtype=np.float16))
    add(a, Tensor(nomp.array(np.full(4, 0.1, np.float16))))
    wanted = np.arange(4, dtype=np.float16) + np.float16(0.1)
    assert a.dtype == np.float16 and a.get().tolist() == wanted.tolist()


# ----------------------------------------------------------------------------------------------------- mapped arrays


def test_the_copy_of_a_mapped_array(add: Add) -> None:
    a = np.arange(6.0)
    nomp.update(to=a)
    copy = nomp.mapped(a[1:5])
    add(copy, copy)
    assert copy.get().tolist() == [2, 4, 6, 8] and a[1] == 1
    add(copy[1:], a[1:4])  # one memory: in order
    nomp.update(from_=a)
    assert a.tolist() == [0, 2, 6, 12, 20, 5]
    nomp.update(free=a)
    with pytest.raises(nomp.NompError, match="N634"):
        copy.get()
    with pytest.raises(nomp.NompError, match="N604"):
        nomp.mapped(a)


@pytest.mark.parametrize("direction", ["from_", "free"])
def test_what_is_not_on_the_device_is_said_in_words_of_python(direction: str) -> None:
    field = np.zeros((4, 4))
    nomp.update(to=field[:2])
    for start in (slice(1, 4), (slice(None), slice(1, 4))):
        with pytest.raises(nomp.NompError) as caught:
            nomp.update(**{direction: field[start]})
        assert str(caught.value) == (
            "nomp: error: 'field[...]' is not on the device, or not all of it [N604]\n"
            "help: put it there with nomp.update(to=...) or alloc=..., all of it, before it is fetched or freed"
        )
    nomp.update(free=field[:2])


def test_an_array_that_was_copied_for_a_launch_is_not_mapped(add: Add) -> None:
    a = np.arange(6.0)
    add(a, np.ones(6))
    with pytest.raises(nomp.NompError, match="N604"):
        nomp.mapped(a)
    add(a, np.ones(6))
    assert a.tolist() == [2, 3, 4, 5, 6, 7]


# --------------------------------------------------------------------------------------------------- other libraries


@pytest.mark.parametrize("old", [False, True])
def test_dlpack_on_the_host(add: Add, old: bool) -> None:
    """NumPy's own exports stand for a tensor on the CPU; they are updated in place."""
    host = np.arange(12.0).reshape(3, 4)[:, 1]
    add(Tensor(host, old), Tensor(np.ones(3), old))
    assert host.tolist() == [2, 6, 10]
    host.flags.writeable = False
    with pytest.raises(nomp.NompError, match="read-only" if not old else "N234"):
        add(Tensor(host, old), np.ones(3))


@pytest.mark.slow
@pytest.mark.parametrize("old", [False, True])
def test_dlpack_on_the_device(add: Add, old: bool) -> None:
    a = nomp.array(np.arange(12.0).reshape(3, 4))[:, 1]
    view = nomp.from_dlpack(Tensor(a, old))
    assert view.address == a.address
    add(view, a)
    assert a.get().tolist() == [2, 10, 18]
    held = len(dlpack._exports)
    del view
    gc.collect()
    add(Tensor(a), nomp.zeros(3))
    nomp.empty(1)
    assert len(dlpack._exports) < held  # given back, once the device was done
    capsule = a.__dlpack__()
    del capsule  # that nobody has used
    assert len(dlpack._exports) < held
    with pytest.raises(BufferError):
        a.__dlpack__(stream=3)
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(1, 0))
    with pytest.raises(nomp.NompError, match="N633"):
        nomp.from_dlpack(np.ones(3))


def test_others_have_their_memory_back_when_nomp_ends() -> None:
    held = len(dlpack._exports)
    nomp.from_dlpack(Tensor(nomp.array(np.ones(3))))
    gc.collect()
    assert len(dlpack._exports) == held + 1  # for kernels may be using it
    nomp.finalize()
    assert len(dlpack._exports) == held


def test_arrays_of_pyopencl(add: Add) -> None:
    handles = nomp.empty(1).handles
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(handles.context))
    theirs, b = pyopencl.array.to_device(queue, np.arange(10.0)), nomp.array(np.ones(10))
    add(theirs, b)
    theirs += 1  # on a queue of its own
    add(theirs[2:6], theirs[4:8])
    want = np.arange(10.0) + 2
    want[2:6] += want[4:8].copy()
    for k in (4, 5):  # in order
        want[k] = k + 2 + np.arange(10.0)[k + 2] + 2
    np.testing.assert_array_equal(theirs.get(), want)
    np.testing.assert_array_equal(nomp.asarray(theirs).get(), want)
    part = theirs.base_data.get_sub_region(0, 32)  # memory in memory: the order is kept
    sub = pyopencl.array.Array(queue, (4,), np.float64, data=part)
    add(theirs[1:4], sub[:3])
    for k in (1, 2, 3):
        want[k] += want[k - 1]
    np.testing.assert_array_equal(theirs.get(), want)
    ours = pyopencl.array.Array(queue, (10,), np.float64, data=pyopencl.Buffer.from_int_ptr(b.buffer))
    ours += 1
    assert nomp.asarray(ours).address == b.address and b.get().tolist() == [2] * 10
    ours += 1  # our memory, used by their queue
    add(ours, nomp.zeros(10))
    assert nomp.asarray(ours).memory.queue == queue.int_ptr
    assert b.get().tolist() == [3] * 10


def test_a_queue_waits_for_all_that_uses_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(nomp.empty(1).handles.context))
    theirs = nomp.asarray(pyopencl.array.to_device(queue, np.arange(4.0)))
    device, told = session.opened().device, []
    for name in ("wait_for", "hold_up"):
        monkeypatch.setattr(device, name, lambda other, name=name: told.append((name, other)))
    for use in (theirs.copy, lambda: theirs.set(1), theirs.get):
        told.clear()
        use()
        assert told == [("wait_for", queue.int_ptr), ("hold_up", queue.int_ptr)]


def test_each_of_the_same_launches_is_ordered_with_the_queue_of_others(
    add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(nomp.empty(1).handles.context))
    theirs, b = pyopencl.array.to_device(queue, np.arange(4.0)), nomp.array(np.ones(4))
    add(theirs, b)
    device, told = session.opened().device, []
    for name in ("wait_for", "hold_up"):
        monkeypatch.setattr(device, name, lambda other, name=name: told.append((name, other)))
    monkeypatch.setattr(OpenCLKernel, "launch", lambda *arguments: told.append(("launch", 0)))
    for _ in range(3):
        add(theirs, b)
    assert told == [("wait_for", queue.int_ptr), ("launch", 0), ("hold_up", queue.int_ptr)] * 3
    told.clear()
    theirs.queue = None
    add(theirs, b)
    assert told == [("launch", 0)]


def test_what_others_say_is_enough_to_know_an_array_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """For launches, which repeat then; who has asked for an array gets one of his own, which keeps theirs."""
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(nomp.empty(1).handles.context))
    theirs = pyopencl.array.to_device(queue, np.arange(4.0))
    (first,), (again, part) = interop.adapted([theirs], None), interop.adapted([theirs[:], theirs[1:]], None)
    assert again is first and part is not first and first.memory.owner is None
    assert nomp.asarray(theirs) is not nomp.asarray(theirs) and nomp.asarray(theirs).memory.owner is theirs
    device, foreign = session.opened().device, session.opened().device.foreign
    for change in ({"nbytes": 64}, {"writeable": False}):  # another buffer that has got the same handle
        monkeypatch.setattr(device, "foreign", lambda memory, change=change: foreign(memory)._replace(**change))
        (other,) = interop.adapted([theirs], None)
        assert other is not first and other.flags.writeable == change.get("writeable", True)


def test_many_arrays_of_others_come_and_go(add: Add) -> None:
    handles = nomp.empty(1).handles
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(handles.context))
    before = entries()
    for n in range(1, 90):
        theirs = pyopencl.array.zeros(queue, n, np.float64)
        add(theirs, nomp.array(np.full(n, float(n))))
        assert theirs.get().tolist() == [n] * n
    assert entries() <= before + 70
    theirs = pyopencl.array.zeros(queue, 2 * MOST_VIEWS, np.float64)
    for n in range(2 * MOST_VIEWS):
        interop.adapted([theirs[n:]], None)
    assert len(session.borrowed.views) == MOST_VIEWS


def test_buffers_whose_numbers_are_those_of_python(add: Add) -> None:
    a = array.array("d", range(4))
    add(a, np.ones(4))
    assert a.tolist() == [1, 2, 3, 4]
    add(memoryview(a), a)
    assert a.tolist() == [2, 4, 6, 8]
    with pytest.raises(nomp.NompError, match="N232"):
        add(array.array("f", [1]), a)


def test_refusals_are_located(add: Add, golden: Callable[[str, str], None], tmp_path: Any) -> None:
    a = nomp.array(np.ones(4))
    other = pyopencl.CommandQueue(pyopencl.Context(nomp_devices()))
    queue = pyopencl.CommandQueue(pyopencl.Context.from_int_ptr(a.handles.context))
    flags = pyopencl.mem_flags
    constant = pyopencl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=np.ones(4))
    texts = []
    for bad in (
        pyopencl.array.zeros(other, 4, np.float64), OnGpu(4096, (4,)), OnGpu(4096, (4,), mask=OnGpu(4096, (4,))),
        pyopencl.array.Array(queue, (4,), np.float64, data=constant), Tensor(np.ones(4, np.complex128)),
        pyopencl.array.zeros(queue, 4, np.complex64), np.ma.masked_array(np.ones(4)),
    ):  # fmt: skip
        with pytest.raises(nomp.NompError) as caught:
            add(bad, a)
        texts.append(str(caught.value))
    add(a, pyopencl.array.Array(queue, (4,), np.float64, data=constant))
    assert a.get().tolist() == [2] * 4
    nomp.finalize()
    with pytest.raises(nomp.NompError) as caught:
        add(a, a)
    texts.append(str(caught.value))
    with pytest.raises(nomp.NompError) as caught:
        nomp.update(to=a)
    texts.append(str(caught.value))
    golden("python/device-arrays.txt", re.sub(r"\S*/program_\d+\.py", "program.py", "\n\n".join(texts)))


def nomp_devices() -> list[Any]:
    return pyopencl.Context.from_int_ptr(nomp.empty(1).handles.context).devices  # type: ignore[no-any-return]


def test_verify_leaves_out_what_is_not_on_the_host(
    add: Add, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOMP_VERIFY", "1")
    a = nomp.array(np.ones(3))
    for _ in range(2):
        add(a, np.ones(3))
    assert a.get().tolist() == [3, 3, 3]
    assert capsys.readouterr().err.count("nothing on the host to compare with [N619]") == 1


def test_it_is_no_array_of_the_device() -> None:
    for bad in (np.ones(3), 5, "text"):
        with pytest.raises(nomp.NompError, match="N234"):
            nomp.asarray(bad)
    with pytest.raises(nomp.NompError, match="N234"):
        nomp.from_dlpack(5)
    with pytest.raises(nomp.NompError, match="N234"):
        nomp.mapped(nomp.zeros(3))
    a = nomp.zeros(3)
    assert not hasattr(a, "__cuda_array_interface__")  # OpenCL's memory has no addresses
    assert repr(a) == "<nomp array on the device: float64, shape (3,)>"
