"""What is said about a pragma that is not in the language, and how each directive and clause is written.

In: where the parser stopped: what it met, what it was ready for, what it had read.  Out: a `NompError` (N101, N102,
N103, N105, N106, N107) for `pragma.parse` to raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from nomp.diagnostics import NompError, Span, did_you_mean, error

DIRECTIONS = ("to", "from", "alloc", "free")
OPERATORS = ("+", "*", "min", "max", "&", "|", "^", "&&", "||")
DIRECTIVES = {
    "init": "init(argc, argv)",
    "update": "update(to : a[start, end], b[start:length], c)",
    "for": "for CLAUSE ...",
    "sync": "sync",
    "finalize": "finalize",
}
CLAUSES = {
    "transform": 'transform("module", "function", key=value)',
    "annotate": 'annotate("key", "value")',
    "reduce": 'reduce("var", "op")',
    "jit": 'jit("var")',
    "name": 'name("kernel")',
}

Accepted = AbstractSet[str]
_CLAUSE = {"$END", *CLAUSES}


def syntax_error(found: str | None, span: Span, accepted: Accepted, stack: Sequence[str]) -> NompError:
    """What is wrong at *span*, where the parser met *found* (None: the pragma's end).

    *accepted* has the texts that may stand there, and WORD, STRING, CHARACTER, NUMBER, OPERATOR and $END for kinds of
    tokens.  *stack* has the texts of the tokens before, as far as they form nothing complete.
    """
    directive = stack[1] if len(stack) > 1 else ""
    if not directive and stack:
        return _unknown("N101", "directive", found, DIRECTIVES, span)
    if accepted >= _CLAUSE and found and found.isidentifier():
        return _unknown("N102", "clause", found, CLAUSES, span)
    if accepted == set(DIRECTIONS):
        return _unknown("N107", "direction", found, DIRECTIONS, span)
    clause = None
    if directive == "for" and not accepted >= _CLAUSE:
        clause = next((text for text in stack[2:] if text in CLAUSES), None)
    where = f"before '{found}'" if found else "at the end of the pragma"
    message = "this string has no closing quote" if found == '"' else f"expected {_in_words(accepted)} {where}"
    code = _code(directive, clause, accepted, stack) if found else "N103"
    return error(code, message, span, help=_usage(directive, clause, found or "", accepted))


def _unknown(code: str, what: str, found: str | None, known: Iterable[str], span: Span) -> NompError:
    """There is no such directive, clause or direction; *known* are the ones there are."""
    choices = ", ".join(known)
    if not found or not found.isidentifier():
        return error(code, f"the {what} is missing", span, help=f"write one of {choices}")
    near = did_you_mean(found.lower(), known)
    return error(code, f"unknown {what} '{found}'", span, help=near or f"the {what}s are {choices}")


def _code(directive: str, clause: str | None, accepted: Accepted, stack: Sequence[str]) -> str:
    """N105 where an argument of a clause should be, N106 in the brackets of a section, N103 elsewhere."""
    if clause and accepted & {"STRING", "NUMBER", "min"}:
        return "N105"
    if directive == "update" and "[" in stack:
        return "N106"
    return "N103"


def _in_words(accepted: Accepted) -> str:
    """What the parser was ready for; of an expression, which can go on in many ways, only what may follow it."""
    if accepted >= _CLAUSE:
        return "a clause"
    if "min" in accepted and "WORD" not in accepted:
        return "an operator or a string"
    if {"WORD", "NUMBER"} <= accepted:
        closing = next(([text] for text in (")", "}", "]") if text in accepted), [])
        bounds = [text for text in (",", ":") if text in accepted and not closing]
        return _either([f"'{text}'" for text in closing + bounds]) or "an expression"
    if "WORD" in accepted:
        return "a name or a string" if "STRING" in accepted else "a name"
    kinds = {"STRING": "a string", "NUMBER": "a number", "$END": "the end of the pragma"}
    optional = {".", "->", "[", "+", "-"}
    return _either([kinds.get(text) or f"'{text}'" for text in sorted(accepted - optional or accepted)])


def _either(choices: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(choices[:-1]), *choices[-1:]]))


def _usage(directive: str, clause: str | None, found: str, accepted: Accepted) -> str:
    """The next step: how the clause or directive that *found* interrupts is written."""
    if directive not in DIRECTIVES:
        return "a pragma of nomp begins with the word nomp"
    if found == "," and accepted >= _CLAUSE:
        return "clauses are separated by blanks"
    near = did_you_mean(found, OPERATORS) if "min" in accepted and "WORD" not in accepted else None
    return near or f"write {CLAUSES[clause] if clause else DIRECTIVES[directive]}"
