"""What an exception is in the C API: libnomp's error number, libnomp's sentence, and our diagnostic.

In: whatever a call of the C API raised.  Out: an `Entry` for the error log.  Called by `api`.  The log's first line is
what libnomp says in this case, with the name of libnomp's file, because programs match both; our own diagnostic, with
its code and caret, follows on further lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from nomp.diagnostics import Diagnostic, NompError
from nomp.region import Region, Script

INPUT, MAP_POINTER, MAP_OPERATION = -128, -130, -132
INITIALIZE, FINALIZE = -256, -258
PYTHON, CONVERSION, NOT_A_KERNEL, CODEGEN, GRID_SIZE = -384, -386, -388, -390, -392
DEVICE = {"cuda": -512, "hip": -514, "opencl": -516, "cpu": -518}

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

    *sentence* is libnomp's, with ``{module}``, ``{function}``, ``{kernel}`` and ``{message}`` (the diagnostic's own).
    Without one the diagnostic serves.
    """

    number: int | None
    sentence: str = ""
    file: str = NOMP_C


_MODULE = 'Importing Python module "{module}" failed.'
_FUNCTION = 'Importing Python function "{function}" from module "{module}" failed.'
_CALL = 'Calling Python function "{function}" from module "{module}" failed.'
_CODE = 'Backend code generation from loopy kernel "{kernel}" failed.'
_MAP = "NOMP_FREE or NOMP_FROM can only be called on a pointer which is already on the device."

# The longest prefix of the code counts.
RULES = {
    "N": Rule(INPUT),
    "N2": Rule(CONVERSION, "Converting C source to loopy kernel failed.", LOOPY_C),
    "N301": Rule(PYTHON, _MODULE, LOOPY_C),
    "N302": Rule(PYTHON, _FUNCTION, LOOPY_C),
    "N303": Rule(PYTHON, _MODULE, LOOPY_C),
    "N304": Rule(PYTHON, _CALL, LOOPY_C),
    "N305": Rule(PYTHON, _CALL, LOOPY_C),
    "N306": Rule(NOT_A_KERNEL, "Unable to get loopy kernel name.", LOOPY_C),
    "N320": Rule(CODEGEN, _CODE, LOOPY_C),
    "N4": Rule(CODEGEN, _CODE, LOOPY_C),
    "N520": Rule(CODEGEN, _CODE, LOOPY_C),
    "N521": Rule(None),
    "N601": Rule(INITIALIZE, "libnomp is already initialized."),
    "N602": Rule(INITIALIZE),
    "N603": Rule(MAP_POINTER),
    "N604": Rule(MAP_OPERATION, _MAP),
    "N605": Rule(MAP_OPERATION),
    "N607": Rule(MAP_POINTER, "{message}"),
    "N608": Rule(MAP_POINTER),
    "N611": Rule(None),
    "N612": Rule(GRID_SIZE, "Unable to evaluate grid sizes from loopy kernel."),
    "N616": Rule(MAP_POINTER),
}


@dataclass(eq=False)
class InKernel(NompError):
    """An error in the making of a kernel, whose *region* libnomp's sentences name."""

    region: Region | None = None


def entry(problem: BaseException, backend: str) -> Entry:
    """The entry for *problem*, on a device of *backend*: by its code, or a fault of nomp's if it is no `NompError`."""
    if not isinstance(problem, NompError):
        what = f"internal error: {type(problem).__name__}: {problem} (please report it; NOMP_DEBUG=1 shows where)"
        return Entry(PYTHON, NOMP_C, what, f"nomp: {what}")
    rule = _rule(problem.code)
    number = DEVICE.get(backend, INPUT) if rule.number is None else rule.number
    sentence = _sentence(rule, problem)
    text = f"{sentence}\n{problem}" if sentence else "\n".join(map(_led_by_message, problem.diagnostics))
    return Entry(number, rule.file, text, str(problem))


def _rule(code: str) -> Rule:
    return next(RULES[code[:length]] for length in range(len(code), 0, -1) if code[:length] in RULES)


def _sentence(rule: Rule, problem: NompError) -> str:
    """The rule's sentence about *problem*.  A script that is no transform is the annotation script."""
    message = problem.diagnostics[0].message
    region = problem.region if isinstance(problem, InKernel) else None
    script = _script(region, message) if region else None
    if "{module}" in rule.sentence and script is None:
        return "Annotating loopy kernel failed."
    module, function = (script.module, script.function) if script else ("", "")
    kernel = region.name if region else ""
    return rule.sentence.format(message=message, kernel=kernel, module=module, function=function)


def _script(region: Region, message: str) -> Script | None:
    """The transform of *region* that *message* names, as 'module.function' or as 'module' and 'function'."""
    whole = [s for s in region.clauses.transforms if f"'{s.module}.{s.function}'" in message]
    module = [s for s in region.clauses.transforms if f"'{s.module}'" in message]
    both = [s for s in module if f"'{s.function}'" in message]
    return next(iter([*whole, *both, *module]), None)


def _led_by_message(diagnostic: Diagnostic) -> str:
    """The diagnostic; what has no place begins with the bare message, as libnomp's log does."""
    return diagnostic.render().removeprefix(f"nomp: {diagnostic.severity}: ")
