"""Launches that are refused: what is said about them, and where."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench import ARRAY_A, SCALAR_N, Bench, N, address, region, source

from nomp.backend import BackendError
from nomp.device_source import Argument, Scratch
from nomp.diagnostics import NompError
from nomp.region import Assign, Binary, Const, For, Load, Param, Var
from nomp.runtime.kernel import Kernel
from nomp.runtime.memory import TO


def refusal(bench: Bench, kernel: Kernel, *addresses: int) -> str:
    with pytest.raises(NompError) as caught:
        kernel.run(bench.context, list(addresses))
    return str(caught.value)


def test_an_unmapped_array_shows_the_place() -> None:
    kernel, bench = Kernel(region(SCALAR_N, ARRAY_A)), Bench(source(Argument("buffer", "a")))
    assert refusal(bench, kernel, address(ctypes.c_int(3)), 0xABC0) == (
        "k.c:3:29: error: Map pointer 0xabc0 was not found on device. It is 'a' of kernel 'k' [N607]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      |                             ^\n"
        "help: map it before the loop: #pragma nomp update(to : a[start, end])"
    )
    assert bench.compiled == []


def test_a_null_array_is_unmapped_and_what_is_only_written_need_not_be_copied() -> None:
    kernel, bench = Kernel(region(SCALAR_N, replace(ARRAY_A, reads=False))), Bench(source(Argument("buffer", "a")))
    text = refusal(bench, kernel, address(ctypes.c_int(3)), 0)
    assert "Map pointer 0x0 was not found on device." in text
    assert "update(alloc : a[start, end])" in text


def test_a_map_between_two_elements_is_refused() -> None:
    a = np.arange(4.0)
    kernel, bench = Kernel(region(SCALAR_N, ARRAY_A)), Bench(source(Argument("buffer", "a")))
    bench.memory.update(address(a), 3, 30, 1, TO)
    assert refusal(bench, kernel, address(ctypes.c_int(3)), address(a)) == (
        "k.c:3:29: error: 'a' is mapped from 3 bytes away, which is no whole number of elements [N603]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      |                             ^\n"
        "help: map 'a' from an element of its own on"
    )


def test_a_map_that_is_too_small_is_refused() -> None:
    a, bench, whole = np.arange(9.0), Bench(source(Argument("buffer", "a"))), region(SCALAR_N, ARRAY_A)
    (loop,) = whole.body
    assert isinstance(loop, For)
    write = Assign(Load("a", (Var("i", "int32"),), "float64"), Const(0.0, "float64"))
    kernel = Kernel(replace(whole, body=(replace(loop, body=(write,)),)))
    bench.memory.update(address(a), 0, 5, 8, TO)
    kernel.run(bench.context, [address(ctypes.c_int(5)), address(a)])
    text = refusal(bench, kernel, address(ctypes.c_int(6)), address(a))
    assert "kernel 'k' accesses element 5 of 'a' (i = 5), of which only [0, 5) is on the device [N616]" in text
    assert len(bench.launched) == 1
    other = np.arange(9.0)  # for which the same has been decided
    bench.memory.update(address(other), 0, 4, 8, TO)
    assert "only [0, 4) is on the device [N616]" in refusal(bench, kernel, address(ctypes.c_int(5)), address(other))
    assert len(bench.launched) == 1


def test_wrong_addresses_are_refused() -> None:
    kernel, bench = Kernel(region(SCALAR_N, ARRAY_A)), Bench(source())
    assert refusal(bench, kernel, address(ctypes.c_int(3))) == (
        "k.c:3:1: error: kernel 'k' takes 2 addresses, not 1 [N610]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: give one address for each parameter, in their order"
    )
    assert "kernel 'k' gets a null pointer for 'n' [N610]" in refusal(bench, kernel, 0, 0)


def test_a_division_by_zero_at_launch_is_refused() -> None:
    kernel = Kernel(region(SCALAR_N, upper=Binary("/", Const(7, "int32"), N, "int32")))
    assert refusal(Bench(source()), kernel, address(ctypes.c_int(0))) == (
        "k.c:3:1: error: the bounds of kernel 'k' divide by zero, or a step is zero [N612]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: the values are n = 0"
    )


def test_a_refused_launch_is_reported_and_tried_anew() -> None:
    def refuse(*_: Any) -> None:
        raise BackendError("groups of 4 are too large")

    bench, kernel, n = Bench(source(), refuse), Kernel(region(SCALAR_N)), ctypes.c_int(3)
    assert refusal(bench, kernel, address(n)) == (
        "k.c:3:1: error: launching 'k' failed: groups of 4 are too large [N611]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: nomp devices lists the devices, how much memory they have and whether they work"
    )
    bench.function = lambda *_: None
    kernel.run(bench.context, [address(n)])


def test_too_little_memory_for_scratch_is_reported() -> None:
    made = source(Argument("scratch", "t"), scratch=(Scratch("t", "float32", N),))
    text = refusal(Bench(made), Kernel(region(SCALAR_N)), address(ctypes.c_int(1 << 30)))
    assert "preparing 'k' failed: out of memory [N611]" in text


def test_the_device_compilers_log_and_the_source_are_shown() -> None:
    kernel, bench = Kernel(region(SCALAR_N)), Bench(source(text="kernel void k()\nsyntax error\n"))
    assert refusal(bench, kernel, address(ctypes.c_int(3))) == (
        "k.c:3:1: error: the compiler of 'fake device' refuses kernel 'k': it does not compile [N521]\n"
        "    3 | for (int i = 0; i < n; i++) a[i] = 0;\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "note: the compiler says\n"
        "line 2: syntax error\n"
        "sorry\n"
        "note: the source is\n"
        "    1 | kernel void k()\n"
        "    2 | syntax error\n"
        "help: if a script gives instructions in the device's language, see whether they fit; else this is a fault of "
        "nomp"
    )


@pytest.mark.parametrize(
    ("dtype", "lower", "relation", "upper", "step", "wraps"),
    [
        ("uint32", 9, ">", Const(0, "uint32"), Const(-2, "int32"), True),
        ("uint32", 8, ">", Const(0, "uint32"), Const(-2, "int32"), False),
        ("uint32", 9, "!=", Const(8, "uint32"), Const(1, "uint32"), True),
        ("uint8", 200, "<", Const(250, "int32"), Const(60, "uint8"), True),
        ("uint8", 0, "<", Const(140, "int32"), Const(150, "uint8"), False),
        ("int16", 32760, "<", Const(40000, "uint32"), Const(1, "int16"), True),
        ("int32", -3, "<", Const(2**32 - 1, "uint32"), Const(1, "int32"), False),
        ("int32", -3, "<=", Const(2**32 - 1, "uint32"), Const(1, "int32"), True),
        ("uint64", 2**64 - 3, "<", Const(2**64 - 1, "uint64"), Const(1, "uint64"), False),
        ("uint64", 2**63 - 1, "<", Const(2**63 + 1, "uint64"), Const(1, "uint64"), True),
        ("int64", -(2**63), "<", Const(2**63 - 1, "int64"), Const(2**62, "int64"), True),
        ("int64", -(2**63) + 3, ">", Const(-(2**63), "int64"), Const(-1, "int64"), False),
    ],
)  # fmt: skip
def test_a_counter_that_leaves_its_type_is_refused(
    dtype: str, lower: int, relation: Any, upper: Const, step: Const, wraps: bool
) -> None:
    whole = region(Param("n", dtype, "scalar", "n"))
    (loop,) = whole.body
    assert isinstance(loop, For)
    loop = replace(loop, dtype=dtype, lower=Var("n", dtype), relation=relation, upper=upper, step=step)
    kernel, bench = Kernel(replace(whole, body=(loop,))), Bench(source())
    n = address(np.array([lower], dtype))
    if not wraps:
        kernel.run(bench.context, [n])
        return
    message = f"k.c:3:1: error: the counter of loop 'i' leaves its type '{dtype}' before it passes the bound [N617]\n"
    assert refusal(bench, kernel, n).startswith(message)
