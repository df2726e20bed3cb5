"""The CPU backend beyond the protocol: groups of items, threads, the C that kernels become."""

from __future__ import annotations

import ast
import ctypes
import math
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import NOMP_CC, succeed
from nomp_backends import cpu, cpu_compiler, cpu_threads, pages
from nomp_backends.cpu import CpuBackend

from nomp.backend import BackendError, Device
from nomp.lower.target import MATH


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = CpuBackend().open(0, 0)
    yield opened
    opened.close()


def run(
    device: Device, body: str, result: np.ndarray[Any, Any], grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (1,)
) -> np.ndarray[Any, Any]:
    """*result*, which a kernel with this *body* knows as ``a``, after a launch."""
    kind = {"f": "float", "d": "double", "q": "long", "I": "uint", "Q": "ulong", "L": "ulong", "l": "long"}
    text = f"__kernel void work(__global {kind[result.dtype.char]} *a) {{ {body} }}"
    kernel = device.compile(text, {"work": [None]})["work"]
    buffer = device.alloc(result.nbytes)
    device.copy_to(buffer, 0, result.ctypes.data, result.nbytes)
    kernel.launch(grid, block, [buffer])
    device.copy_from(buffer, 0, result.ctypes.data, result.nbytes)
    device.free(buffer)
    return result


# --------------------------------------------------------------------------------------------- groups and items


@pytest.mark.parametrize("count", [1, 2, 3, 31, 32, 33, 1000, 4097])
def test_each_group_is_carried_out_once(device: Device, count: int) -> None:
    assert np.all(run(device, "a[get_group_id(0)] += 1;", np.zeros(count, np.int64), (count,)) == 1)


def test_groups_that_take_long_are_shared_out(device: Device) -> None:
    """The first thread's groups are long, so that others help with them: none is done twice or left."""
    body = "long g = get_group_id(0); double x = 0; for (long k = 0; k < (g < 50 ? 100000 : 1); k++) x = x * .5 + 1;"
    assert np.array_equal(run(device, f"{body} a[g] += x > 0 ? g : 0;", np.zeros(200, np.int64), (200,)), range(200))


@pytest.mark.parametrize("block", [(7,), (4, 3), (2, 3, 5), (1, 1, 8)])
def test_items_keep_what_is_their_own_while_they_wait(device: Device, block: tuple[int, ...]) -> None:
    """Each one has an array, and passes what is in it to its neighbour, twice."""
    items = math.prod(block)
    body = f"""
      __local long shared[{items}];
      long own[4], me = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
      for (int k = 0; k < 4; k++) own[k] = 10 * me + k;
      for (int turn = 0; turn < 2; turn++) {{
        shared[me] = own[turn];
        barrier(CLK_LOCAL_MEM_FENCE);
        own[turn + 2] += 1000 * shared[(me + 1) % {items}];
        barrier(CLK_LOCAL_MEM_FENCE);
      }}
      a[get_group_id(0) * {items} + me] = own[2] + own[3];
    """
    found = run(device, body, np.zeros(5 * items, np.int64), (5, 1, 1)[: len(block)], block).reshape(5, items)
    own = 10 * np.arange(items)
    after = np.roll(own, -1)
    assert np.array_equal(found, np.tile(2 * own + 5 + 1000 * (2 * after + 1), (5, 1)))


def test_items_may_end_before_others_wait(device: Device) -> None:
    body = "long me = get_local_id(0); if (me > 2) return; barrier(0); a[me] = me + 1;"
    assert list(run(device, body, np.zeros(8, np.int64), block=(8,))) == [1, 2, 3, 0, 0, 0, 0, 0]


def test_one_item_need_not_wait(device: Device) -> None:
    assert list(run(device, "barrier(0); a[get_group_id(0)] = 1; barrier(0);", np.zeros(3), (3,))) == [1, 1, 1]


def test_items_without_memory_for_their_stacks_are_an_error() -> None:
    """In a process that may have no more memory."""
    program = """
import resource
from nomp.backend import BackendError
from nomp_backends.cpu import CpuBackend
device = CpuBackend().open(0, 0)
text = "__kernel void work(__global long *a) { barrier(0); a[get_group_id(0)] = 7; }"
kernel, buffer = device.compile(text, {"work": [None]})["work"], device.alloc(64)
device.zero(buffer, 0, 64)
kernel.launch((4,), (1,), [buffer])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
try:
    kernel.launch((4,), (1024,), [buffer])
except BackendError as reason:
    print(reason)
kernel.launch((4,), (2,), [buffer])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "work in groups of (1024,): there is no memory for so many items\n"


# -------------------------------------------------------------------------------------------------------- threads


def test_how_many_threads_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(12), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    four = {"OMPI_COMM_WORLD_LOCAL_RANK": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
    assert cpu._threads({}) == 12
    assert cpu._threads({"OMP_NUM_THREADS": "3,2"}) == 3
    assert cpu._threads({"OMP_NUM_THREADS": "nonsense"}) == 12
    assert cpu._threads(four) == 3
    assert cpu._threads(four | {"OMP_NUM_THREADS": "2"}) == 2
    monkeypatch.setattr(os, "cpu_count", lambda: 48)  # somebody has divided them
    assert cpu._threads(four) == 12
    monkeypatch.setenv("OMP_PROC_BIND", "true")  # the thread that asks has one of them
    assert cpu._threads({}) == 48


COUNT = """
import ctypes, os
from nomp_backends.cpu import CpuBackend
device = CpuBackend().open(0, 0)
text = "__kernel void work(__global long *a) { a[get_group_id(0)] += get_group_id(0); }"
kernel, found = device.compile(text, {"work": [None]})["work"], (ctypes.c_long * 1000)()
for times in range(50):
    kernel.launch((1000,), (1,), [ctypes.addressof(found)])
print(list(found) == [50 * i for i in range(1000)], len(os.listdir("/proc/self/task")))
"""


@pytest.mark.parametrize(("threads", "bind"), [("1", "false"), ("2", "true"), ("5", "false"), ("40", "close")])
def test_all_groups_are_done_by_as_many_threads_as_are_asked_for(threads: str, bind: str) -> None:
    environ = os.environ | {"OMP_NUM_THREADS": threads, "OMP_PROC_BIND": bind}
    done = subprocess.run([sys.executable, "-c", COUNT], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"True {threads}\n", "")


def test_all_groups_are_done_where_there_are_no_more_threads() -> None:
    """Because each would have a stack of 1 TiB, and all memory together is to be a quarter of that."""
    environ, command = os.environ | {"OMP_NUM_THREADS": "4"}, [sys.executable, "-c", COUNT]
    limit = ["prlimit", f"--stack={1 << 40}:", f"--as={1 << 38}:"]
    done = subprocess.run([*limit, *command], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 1\n", "")


WHERE = COUNT.replace(
    'len(os.listdir("/proc/self/task"))',
    'sorted(sorted(os.sched_getaffinity(int(task))) for task in os.listdir("/proc/self/task"))',
)
RANKS = {"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}


def where(settings: dict[str, str], program: str = WHERE) -> list[list[int]]:
    """On which processors the threads of the program may run."""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | settings, capture_output=True, text=True)
    assert done.stdout.startswith("True "), done.stderr
    found: list[list[int]] = ast.literal_eval(done.stdout.removeprefix("True "))
    return found


@pytest.mark.slow
def test_threads_are_bound_where_each_has_a_processor() -> None:
    everywhere = sorted(os.sched_getaffinity(0))
    free, *bound = sorted(where({}), key=len, reverse=True)
    assert free == everywhere  # the program's own thread
    assert all(len(one) == 1 for one in bound) and len({one[0] for one in bound}) == len(everywhere) - 1
    several = str(len(everywhere) + 1)
    for settings in ({"OMP_PROC_BIND": "false"}, RANKS | {"OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": several}):
        assert all(one == everywhere for one in where(settings))


def test_threads_may_run_where_the_one_that_makes_them_may_not() -> None:
    """OpenMP binds the program's first thread to a processor, where those that it makes would stay."""
    first = min(os.sched_getaffinity(0))
    program = WHERE.replace("device =", f"os.sched_setaffinity(0, {{{first}}})\ndevice =")
    found = where({"OMP_PROC_BIND": "true"}, program)
    assert found.count([first]) == 1 and len(found) == os.cpu_count()


MOVED = COUNT.replace("print(", """
workers = [int(task) for task in os.listdir("/proc/self/task") if int(task) != os.getpid()]
for worker in workers:
    taken = os.sched_getaffinity(worker)
    os.sched_setaffinity(0, taken)
    kernel.launch((1000,), (1,), [ctypes.addressof(found)])
    assert not taken & os.sched_getaffinity(worker)
places = [os.sched_getaffinity(task) for task in (0, *workers)]
print(len(set.union(*places)) == len(places), """)


def test_a_thread_makes_way_where_the_program_runs_on_its_processor() -> None:
    done = subprocess.run([sys.executable, "-c", MOVED], capture_output=True, text=True)
    assert done.stdout.startswith("True "), done.stderr


@pytest.mark.parametrize("nbytes", [cpu._LARGE, cpu._LARGE + 1, 3 * cpu._LARGE - 7])
def test_large_copies_are_whole_and_no_more(device: Device, nbytes: int) -> None:
    given, found = np.random.default_rng(0).integers(1, 255, nbytes, np.uint8), np.zeros(nbytes + 2, np.uint8)
    buffer = device.alloc(nbytes)
    device.copy_to(buffer, 0, given.ctypes.data, nbytes)
    device.copy_from(buffer, 0, found.ctypes.data + 1, nbytes)
    assert np.array_equal(found[1:-1], given)
    assert not found[0] and not found[-1]
    device.zero(buffer, 1, nbytes - 2)
    device.copy_from(buffer, 0, given.ctypes.data, nbytes)
    assert given[0] == found[1] and given[-1] == found[-2] and not given[1:-1].any()
    device.free(buffer)


def test_an_installation_without_the_threads_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cpu_threads, "_LIBRARY", tmp_path / "libnomp_threads.so")
    with pytest.raises(BackendError) as caught:
        cpu_threads.Threads(2, 0, bound=False)
    assert "libnomp_threads.so" in str(caught.value)
    assert str(caught.value).endswith(": build it with python -m nomp.capi.build")


def test_launches_of_several_threads_of_the_program(device: Device) -> None:
    """While one has the pool, others do their work themselves."""
    text = "__kernel void work(__global long *a) { for (int k = 0; k < 100; k++) a[get_group_id(0)] += k % 2; }"
    kernel = device.compile(text, {"work": [None]})["work"]
    found = np.zeros((4, 3000), np.int64)

    def launch(row: np.ndarray[Any, Any]) -> None:
        sizes, filled = kernel._sizes((3000,), (1,)), kernel.filled([row.ctypes.data])
        for _ in range(50):
            assert kernel._function(*sizes, filled.address) == 0

    started = [threading.Thread(target=launch, args=(row,)) for row in found]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert np.all(found == 2500)


# ----------------------------------------------------------------------------------------------------------- as C

_DOMAINS = {"acosh": (1, 9), "acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.9, 0.9), "sqrt": (0, 9), "log1p": (0, 9)}
_PYTHON: dict[str, Any] = {
    "cbrt": np.cbrt, "exp2": np.exp2, "rint": np.rint, "fmax": np.fmax, "fmin": np.fmin, "hypot": np.hypot,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "fdim": lambda x, y: max(x - y, 0),
    "logb": lambda x: math.frexp(x)[1] - 1, "tgamma": math.gamma, "fma": lambda x, y, z: x * y + z,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_have_the_type_of_their_argument(device: Device, dtype: str) -> None:
    """All of <math.h> that kernels may call, in one kernel."""
    random = np.random.default_rng(7)
    three = {"fma"}
    two = {"atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder"}
    calls, expected, values = [], [], []
    for name in MATH:
        low, high = _DOMAINS.get(name, (0.1, 4))
        count = 3 if name in three else 2 if name in two else 1
        given = [np.dtype(dtype).type(random.uniform(low, high)) for _ in range(count)]
        places = ", ".join(f"a[{len(values) + k}]" for k in range(count))
        calls.append(f"sizeof({name}({places})) == sizeof a[0] ? {name}({places}) : NAN")
        values += given
        if name == "nextafter":
            expected.append(float(np.nextafter(*given)))
        else:
            expected.append(float((_PYTHON.get(name) or getattr(math, name))(*map(float, given))))
    body = "".join(f"a[{len(values) + k}] = {call};" for k, call in enumerate(calls))
    found = run(device, body, np.array([*values, *[0] * len(calls)], dtype))[len(values) :]
    assert np.allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize(("dtype", "bits"), [("uint32", 32), ("uint64", 64)])
def test_bits(device: Device, dtype: str, bits: int) -> None:
    values = [0, 1, 5, 1 << 31, (1 << 32) - 1, 1 << (bits - 1), (1 << bits) - 1]
    expected = {"popcount": [v.bit_count() for v in values], "clz": [bits - v.bit_length() for v in values]}
    for name, numbers in expected.items():
        body = f"a[get_group_id(0)] = {name}(a[get_group_id(0)]);"
        assert list(run(device, body, np.array(values, dtype), (len(values),))) == numbers


def test_calls_may_be_nested_deeply(device: Device) -> None:
    """The text of an argument does not double with each level."""
    deep = "a[0]"
    for _ in range(40):
        deep = f"max(fabs(sqrt({deep})), 0.5)"
    assert run(device, f"a[0] = {deep};", np.array([1e9]))[0] == pytest.approx(1)


@pytest.mark.parametrize("name", ["random", "div", "memcpy", "exit", "pthread_create", "nomp_help", "stack"])
def test_kernels_may_have_names_that_c_has(device: Device, name: str) -> None:
    kernel = device.compile(f"__kernel void {name}(__global double *a) {{ a[0] = 3; }}", {name: [None]})[name]
    found = ctypes.c_double()
    kernel.launch((1,), (1,), [ctypes.addressof(found)])
    assert found.value == 3


def test_results_are_those_of_c_to_the_last_bit(device: Device, tmp_path: Path) -> None:
    """No product and sum become one operation, which rounds once."""
    loop = "for (int i = 0; i < 999; i++) a[i + 1] = a[i] * a[i] - 1.3 + a[i + 1] * 0.01;"
    start = np.random.default_rng(3).random(1000)
    (tmp_path / "plain.c").write_text(f"void plain(double *a) {{ {loop} }}")
    command = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "plain.c", "-o", "plain.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    expected = start.copy()
    ctypes.CDLL(str(tmp_path / "plain.so")).plain(ctypes.c_void_p(expected.ctypes.data))
    assert run(device, loop, start.copy()).tobytes() == expected.tobytes()


def test_without_a_compiler_there_is_no_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for known in (cpu_compiler.compiler, cpu_compiler.version):
        known.cache_clear()
    try:
        with pytest.raises(BackendError, match="there is no C compiler on PATH"):
            CpuBackend().devices()
    finally:
        for known in (cpu_compiler.compiler, cpu_compiler.version):
            known.cache_clear()


def test_large_buffers_are_in_large_pages(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(pages, "advise", lambda start, nbytes: asked.append((start, nbytes)))
    buffer = device.alloc((8 << 20) + 5)
    device.free(buffer)
    assert asked == [(buffer, (8 << 20) + 64)] and buffer % 64 == 0


def test_the_compilers_log_names_the_kernels_lines(device: Device) -> None:
    with pytest.raises(BackendError) as caught:
        device.compile("\n\n__kernel void work(__global double *a) { a[0] = missing; }", {"work": [None]})
    assert "kernels.cl:3:" in caught.value.log and "missing" in caught.value.log


PLACES = """
void gather(int n, double a[restrict n], const double b[restrict n], const int c[restrict n]) {
#pragma nomp for transform("rolled", "unroll")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < 4; k++)
      sum += b[c[i]] * b[k];
    a[i] = sum;
  }
}
"""
ROLLED = """
import loopy as lp

def unroll(knl, context):
    return lp.tag_inames(lp.tag_inames(knl, {"k": "unr_hint"}), {"i": "g.0"})
"""


@pytest.mark.slow
def test_what_c_compilers_are_told(tmp_path: Path) -> None:
    """To unroll a loop; and not to gather what data say the places of, which takes longer than one by one."""
    (tmp_path / "gather.c").write_text(PLACES)
    (tmp_path / "rolled.py").write_text(ROLLED)
    done = succeed(*NOMP_CC, "--emit", "source", "gather.c", cwd=tmp_path, env=os.environ | {"NOMP_BACKEND": "cpu"})
    assert "b[nomp_by_data(c[gid(0)])] * b[k]" in done.stdout
    assert re.search(r"#pragma GCC unroll 64\n +for \(\w+ k = 0;", done.stdout)
