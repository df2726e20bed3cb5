"""What an exception is in the C API: libnomp's error number, libnomp's sentence, and our diagnostic.

In: whatever a call of the C API raised.  Out: an `Entry` for the error log.  Called by `api`.  The log's first line is
what libnomp says in this case, with the name of libnomp's file, because programs match both; our own diagnostic, with
its code and caret, follows on further lines.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from nomp.diagnostics import NompError

INPUT, MAP_POINTER, MAP_OPERATION = -128, -130, -132
INITIALIZE, FINALIZE = -256, -258
PYTHON, CONVERSION, NOT_A_KERNEL, CODEGEN = -384, -386, -388, -390
DEVICE = {"cuda": -512, "hip": -514, "opencl": -516}

NOMP_C, LOOPY_C = "libnomp/src/nomp.c", "libnomp/src/loopy.c"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the error log: *text* follows the file and line; *diagnostic* is what a pragma prints."""

    number: int
    file: str
    text: str
    diagnostic: str


@dataclass(frozen=True, slots=True)
class Rule:
    """How a code appears in the C API.  *number* None: that of the device (`DEVICE`).

    *sentence* is libnomp's, with the names of `Context` in braces; empty where the diagnostic's message serves.
    """

    number: int | None
    sentence: str = ""
    file: str = NOMP_C


@dataclass(frozen=True, slots=True)
class Context:
    """What a sentence may name, as far as the call knows it."""

    module: str = ""
    function: str = ""
    kernel: str = ""
    pointer: str = ""
    backend: str = "opencl"


# The longest prefix of the code counts.
RULES = {
    "N": Rule(INPUT),
    "N2": Rule(CONVERSION, "Converting C source to loopy kernel failed.", LOOPY_C),
    "N3": Rule(PYTHON, 'Calling Python function "{function}" from module "{module}" failed.', LOOPY_C),
    "N4": Rule(CODEGEN, 'Backend code generation from loopy kernel "{kernel}" failed.', LOOPY_C),
    "N52": Rule(None),
    "N601": Rule(INITIALIZE, "libnomp is already initialized."),
    "N604": Rule(
        MAP_OPERATION, "NOMP_FREE or NOMP_FROM can only be called on a pointer which is already on the device."
    ),
    "N605": Rule(MAP_OPERATION),
    "N607": Rule(MAP_POINTER),
    "N611": Rule(None),
}


def entry(problem: BaseException, context: Context = Context()) -> Entry:
    """The entry for *problem*: by its code, or, if it is not a `NompError`, a fault of nomp's."""
    if not isinstance(problem, NompError):
        what = f"internal error: {type(problem).__name__}: {problem} (please report it; NOMP_DEBUG=1 shows where)"
        return Entry(PYTHON, NOMP_C, what, f"nomp: {what}")
    rule = _rule(problem.code)
    number = DEVICE.get(context.backend, INPUT) if rule.number is None else rule.number
    sentence = rule.sentence.format_map(asdict(context))
    text = f"{sentence}\n{problem}" if sentence else _led_by_message(problem)
    return Entry(number, rule.file, text, str(problem))


def _rule(code: str) -> Rule:
    return next(RULES[code[:length]] for length in range(len(code), 0, -1) if code[:length] in RULES)


def _led_by_message(problem: NompError) -> str:
    """The diagnostics; what has no place begins with the bare message, as libnomp's log does."""
    first = problem.diagnostics[0]
    return str(problem) if first.span else str(problem).removeprefix("nomp: error: ")
