"""The C API's error numbers and sentences, by code."""

from __future__ import annotations

import re

import pytest

from nomp.capi import INCLUDE, errors
from nomp.diagnostics import Diagnostic, NompError, Span, error
from nomp.driver import explain
from nomp.region import Clauses, Region, Script

SCRIPTS = (Script("tile", "rows"), Script("tile", "columns"), Script("grid", "rows"))
REGION = Region("foo", "<nomp_jit 1>", 1, (), (), Clauses(transforms=SCRIPTS))


def entry(code: str, message: str, span: Span | None = None, backend: str = "opencl") -> errors.Entry:
    diagnostics = (Diagnostic(code, message, span),)
    return errors.entry(errors.InKernel(diagnostics, REGION), backend)


@pytest.mark.parametrize("backend", [*errors.DEVICE, "other"])
def test_every_code_has_a_number_of_the_header(backend: str) -> None:
    defined = {int(number) for number in re.findall(r"#define NOMP_\w+ (-\d+)", (INCLUDE / "nomp.h").read_text())}
    numbers = {code: entry(code, "message", backend=backend).number for code in explain.all_codes()}
    assert {code: number for code, number in numbers.items() if number not in defined} == {}


def test_every_rule_has_a_code() -> None:
    assert [prefix for prefix in errors.RULES if not any(code.startswith(prefix) for code in explain.all_codes())] == []


@pytest.mark.parametrize(
    ("code", "message", "number", "sentence"),
    [
        ("N201", "no", -386, "Converting C source to loopy kernel failed."),
        ("N301", "no script 'grid'", -384, 'Importing Python module "grid" failed.'),
        ("N302", "no function 'columns' in script 'tile'", -384,
         'Importing Python function "columns" from module "tile" failed.'),
        ("N303", "script 'tile' cannot be loaded: no", -384, 'Importing Python module "tile" failed.'),
        ("N304", "'grid.rows' failed: no", -384, 'Calling Python function "rows" from module "grid" failed.'),
        ("N304", "'sem.annotate' failed: no", -384, "Annotating loopy kernel failed."),
        ("N306", "'tile.rows' returned None", -388, "Unable to get loopy kernel name."),
        ("N401", "no", -390, 'Backend code generation from loopy kernel "foo" failed.'),
        ("N520", "no", -390, 'Backend code generation from loopy kernel "foo" failed.'),
        ("N601", "started", -256, "libnomp is already initialized."),
        ("N604", "not mapped", -132, errors._MAP),
        ("N607", "Map pointer 0x1 was not found on device.", -130, "Map pointer 0x1 was not found on device."),
        ("N612", "no", -392, "Unable to evaluate grid sizes from loopy kernel."),
    ],
)  # fmt: skip
def test_libnomps_sentence_then_ours(code: str, message: str, number: int, sentence: str) -> None:
    got = entry(code, message)
    assert (got.number, got.text) == (number, f"{sentence}\nnomp: error: {message} [{code}]")
    assert got.diagnostic == f"nomp: error: {message} [{code}]"


@pytest.mark.parametrize(
    ("backend", "number"), [("opencl", -516), ("cpu", -518), ("cuda", -512), ("hip", -514), ("other", -128)]
)
def test_device_errors_have_the_devices_number(backend: str, number: int) -> None:
    assert entry("N521", "refused", backend=backend).number == number
    assert entry("N611", "out of memory", backend=backend).number == number


def test_message_leads_where_libnomp_has_no_sentence() -> None:
    got = errors.entry(error("N802", '"NOMP_DEVICE" is missing or invalid.', help="a number"), "")
    assert (got.number, got.text) == (-128, '"NOMP_DEVICE" is missing or invalid. [N802]\nhelp: a number')


def test_place_leads_where_there_is_one() -> None:
    assert entry("N610", "no", Span("gone.c", 3, 4)).text == "gone.c:3:4: error: no [N610]"


def test_all_diagnostics_are_kept() -> None:
    problem = NompError((Diagnostic("N201", "one"), Diagnostic("N202", "two")))
    assert errors.entry(problem, "").text.splitlines()[1:] == ["nomp: error: one [N201]", "nomp: error: two [N202]"]


def test_fault_of_nomp_is_one_line() -> None:
    got = errors.entry(KeyError("x"), "")
    text = "internal error: KeyError: 'x' (please report it; NOMP_DEBUG=1 shows where)"
    assert (got.number, got.text, got.diagnostic) == (-384, text, f"nomp: {text}")
