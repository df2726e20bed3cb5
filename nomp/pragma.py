"""The pragma language: one pragma's text, and where it stands, to a `Pragma`.

In: the text after ``#pragma`` as it is in the file, backslash-newlines and comments included.  Out: plain dataclasses
in which every name has its exact `Span`.  The front ends call `parse`.  The language itself is `pragma.lark`; here are
the positions and the checks that a grammar cannot make; `pragma_help` says what is wrong with all other text.

Errors: `NompError` N101 to N107, and nothing else, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

from nomp.diagnostics import Note, Span, did_you_mean, error
from nomp.pragma_help import OPERATORS, syntax_error
from nomp.region import Place, Script

if TYPE_CHECKING:
    from lark import Lark, Token, Tree, UnexpectedInput

DirectiveName = Literal["init", "update", "for", "sync", "finalize"]
Direction = Literal["to", "from", "alloc", "free"]


@dataclass(frozen=True, slots=True)
class Name:
    """A name and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reduce:
    """``reduce("var", "op")``: *variable* is C text, a scalar or an array element; *span* is the variable's."""

    variable: str
    op: str
    span: Span


@dataclass(frozen=True, slots=True)
class ForClauses:
    """The clauses of ``for``, each kind in the order written.

    `parse` gives at most one transform; the C API may have any number.
    """

    transforms: tuple[Script, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    reductions: tuple[Reduce, ...] = ()
    jit: tuple[Name, ...] = ()
    name: Name | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """What ``update`` moves, in C texts: ``base[start, end]``, ``base[start:length]``, or *base* alone (three None)."""

    base: str
    span: Span
    start: str | None = None
    end: str | None = None
    length: str | None = None


@dataclass(frozen=True, slots=True)
class Pragma:
    """One pragma.  *init_args* are ``init``'s C expressions; *span* runs from ``nomp`` to the end of the first line."""

    directive: DirectiveName
    span: Span
    init_args: tuple[str, str] | None = None
    direction: Direction | None = None
    direction_span: Span | None = None
    sections: tuple[Section, ...] = ()
    clauses: ForClauses | None = None


def parse(text: str, file: str, line: int, column: int) -> Pragma:
    """The pragma that *text* is: ``nomp for ...``, as it stands in *file* from 1-based *line* and *column* on."""
    from lark import UnexpectedInput

    source = _splice(text, file, line, column)
    interactive = _parser().parse_interactive(source.text, start="start")
    try:
        tokens = interactive.exhaust_lexer()
        tree = interactive.feed_eof(tokens[-1] if tokens else None)
    except UnexpectedInput as unexpected:
        token = _culprit(unexpected)
        at_end = token.type == "$END"
        span = source.span(_end(token), _end(token)) if at_end else source.of([token])
        accepted = {_written(terminal) for terminal in interactive.accepts()}
        stack = [str(value) for value in interactive.parser_state.value_stack]
        raise syntax_error(None if at_end else str(token), span, accepted, stack) from None
    return _pragma(tree, source)


@cache
def _parser() -> Lark:
    """The parser.  Every token stays in the tree, in order, so that a tree's text and span are its tokens'."""
    from lark import Lark

    grammar = (resources.files("nomp") / "pragma.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", keep_all_tokens=True, start=["start", "object"])


def _culprit(unexpected: UnexpectedInput) -> Token:
    """The token that the parser did not expect; where the lexer knows none, the character."""
    from lark import Token, UnexpectedCharacters

    if isinstance(unexpected, UnexpectedCharacters):
        place = unexpected.pos_in_stream
        return Token("CHARACTER", unexpected.char, place, end_pos=place + 1)
    token: Token = unexpected.token
    return token


def _written(terminal: str) -> str:
    """How the grammar's *terminal* is written; its name, if that is no fixed text."""
    from lark.lexer import PatternStr

    pattern = None if terminal == "$END" else _parser().get_terminal(terminal).pattern
    return str(pattern.value) if isinstance(pattern, PatternStr) else terminal


# --------------------------------------------------------------------------------------------------- positions


@dataclass(frozen=True, slots=True)
class _Source:
    """A pragma without its backslash-newlines; *places* has the line and column of each character, and of the end."""

    file: str
    text: str
    places: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> Span:
        """Characters *start* to *end* (exclusive); of a stretch over several lines, the part on the first."""
        line, column = self.places[start]
        last = max((c for k, c in self.places[start:end] if k == line), default=column)
        return Span(self.file, line, column, last - column + 1)

    def of(self, tokens: Sequence[Token]) -> Span:
        """From the first of *tokens* to the last."""
        return self.span(_start(tokens[0]), _end(tokens[-1]))


def _start(token: Token) -> int:
    return cast("int", token.start_pos)


def _end(token: Token) -> int:
    return cast("int", token.end_pos or 0)


_SPLICE_OR_NEWLINE = re.compile(r"(?P<splice>\\[ \t]*\r?\n)|\n")


def _splice(text: str, file: str, line: int, column: int) -> _Source:
    places: list[tuple[int, int]] = []
    kept: list[str] = []
    begin = 0
    for match in _SPLICE_OR_NEWLINE.finditer(text):
        end = match.start() if match["splice"] else match.end()
        kept.append(text[begin:end])
        places += ((line, column + k) for k in range(end - begin))
        line, column, begin = line + 1, 1, match.end()
    kept.append(text[begin:])
    places += ((line, column + k) for k in range(len(text) - begin + 1))
    return _Source(file, "".join(kept), tuple(places))


def _tokens(tree: Tree[Token]) -> list[Token]:
    """The tokens of *tree*, nested ones included (the grammar nests no deeper than two)."""
    return list(cast("Iterable[Token]", tree.scan_values(lambda value: True)))


def _c_text(tokens: Sequence[Token]) -> str:
    """C text of *tokens* on one line; what separated two of them (blanks, comments) becomes one blank."""
    parts = [str(tokens[0])]
    for before, token in pairwise(tokens):
        parts.append(str(token) if before.end_pos == token.start_pos else f" {token}")
    return "".join(parts)


# ------------------------------------------------------------------------------------------------ tree to Pragma


def _pragma(tree: Tree[Token], source: _Source) -> Pragma:
    directive: Any = tree.children[1]
    name = directive.data
    span = source.of(_tokens(tree))
    if name == "init":
        first, second = (_c_text(_tokens(expr)) for expr in directive.find_data("expr"))
        return Pragma("init", span, init_args=(first, second))
    if name == "update":
        (direction,) = _tokens(directive.children[2])
        sections = tuple(_section(child, source) for child in directive.children[4::2])
        place = source.of([direction])
        return Pragma("update", span, None, cast("Direction", str(direction)), place, sections)
    if name == "for":
        return Pragma("for", span, clauses=_for_clauses(directive.children[1:], source))
    return Pragma(name, span)


def _section(tree: Any, source: _Source) -> Section:
    tokens = _tokens(tree)
    span = source.of(tokens)
    if tree.data == "bare":
        if tokens[-1].type == "RSQB":
            raise error("N106", "this is one element: a section has two bounds", span,
                        help="write a[i, i + 1] or a[i:1] for element i of a")  # fmt: skip
        return Section(_c_text(tokens), span)
    *base, _, first, _, second, _ = tree.children
    base_tokens = [token for child in base for token in (_tokens(child) if hasattr(child, "data") else [child])]
    start, bound = _c_text(_tokens(first)), _c_text(_tokens(second))
    if tree.data == "range":
        return Section(_c_text(base_tokens), span, start, end=bound)
    return Section(_c_text(base_tokens), span, start, length=bound)


def _for_clauses(clauses: Sequence[Any], source: _Source) -> ForClauses:
    of_kind: dict[str, list[Any]] = {"transform": [], "annotate": [], "reduce": [], "jit": [], "name": []}
    for clause in clauses:
        of_kind["reduce" if clause.data == "reduce_of" else clause.data].append(clause)
    for kind in ("transform", "name"):
        places = [source.of(_tokens(clause)) for clause in of_kind[kind]]
        _refuse_repeats((kind, place) for place in places)
    reductions = tuple(_reduction(clause, source) for clause in of_kind["reduce"])
    jit = tuple(_jit_name(token, source) for clause in of_kind["jit"] for token in _tokens(clause)[2:-1:2])
    _refuse_repeats((reduction.variable, reduction.span) for reduction in reductions)
    _refuse_repeats((name.text, name.span) for name in jit)
    names = [_kernel_name(clause, source) for clause in of_kind["name"]]
    return ForClauses(
        tuple(_script(clause, source) for clause in of_kind["transform"]),
        tuple(_annotation(clause, source) for clause in of_kind["annotate"]),
        reductions,
        jit,
        names[0] if names else None,
    )


def _refuse_repeats(found: Iterable[tuple[str, Span]]) -> None:
    """Raise N104 at the second place that has a text already seen."""
    seen: dict[str, Span] = {}
    for text, span in found:
        if text in seen:
            raise error("N104", f"'{text}' stands twice in this pragma", span, notes=(Note("first here", seen[text]),),
                        help="keep one of the two")  # fmt: skip
        seen[text] = span


def _script(clause: Any, source: _Source) -> Script:
    module, function = (_filled(token, source) for token in clause.children if _is(token, "STRING"))
    arguments: dict[str, int | float | str] = {}
    keys: list[tuple[str, Span]] = []
    for argument in clause.find_data("argument"):
        key, _, *value = _tokens(argument)
        keys.append((str(key), source.of([key])))
        arguments[str(key)] = _value(value, source)
    _refuse_repeats(keys)
    span = source.of(_tokens(clause))
    return Script(module, function, tuple(arguments.items()), Place(span.line, span.column, span.length))


def _value(tokens: Sequence[Token], source: _Source) -> int | float | str:
    """The value of a keyword argument: a string, or a sign and a number."""
    if tokens[0].type == "STRING":
        return _string(tokens[0], source)
    sign, digits = "".join(tokens[:-1]), tokens[-1].lower()
    if re.fullmatch(r"0x[0-9a-f]{1,16}", digits):
        return int(sign + digits, 16)
    if re.fullmatch(r"0|[1-9][0-9]{0,18}", digits):
        return int(sign + digits)
    if re.fullmatch(r"([0-9]+\.[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+", digits):
        return float(sign + digits)
    raise error("N105", f"'{tokens[-1]}' is not a value that a script can be given", source.of(tokens),
                help="values are integers (32, 0x20), floating-point numbers (0.5, 1e-3) and strings")  # fmt: skip


def _annotation(clause: Any, source: _Source) -> tuple[str, str]:
    key, value = (token for token in clause.children if _is(token, "STRING"))
    return _filled(key, source), _string(value, source)


def _reduction(clause: Any, source: _Source) -> Reduce:
    if clause.data == "reduce_of":
        (operator,) = _tokens(clause.children[2])
        tokens = _tokens(clause.children[4])
        return Reduce(_c_text(tokens), str(operator), source.of(tokens))
    variable, op = (token for token in clause.children if _is(token, "STRING"))
    text = _string(op, source).strip()
    if text not in OPERATORS:
        choices = f"the operators are {' '.join(OPERATORS)}"
        raise error("N105", f"'{text}' is not a reduction operator", source.of([op]),
                    help=did_you_mean(text, OPERATORS) or choices)  # fmt: skip
    return Reduce(_variable(variable, source), text, _inside(variable, source))


def _variable(token: Token, source: _Source) -> str:
    """The C text of the scalar or array element that the string *token* names."""
    from lark import UnexpectedInput

    text = _filled(token, source)
    try:
        return _c_text(_tokens(cast("Tree[Token]", _parser().parse(text, start="object"))))
    except UnexpectedInput:
        hint = 'name what the loop accumulates into, as in reduce("s", "+") or reduce("s[0]", "+")'
        message = f"'{text}' is not a variable or an array element"
        raise error("N105", message, source.of([token]), help=hint) from None


def _jit_name(token: Token, source: _Source) -> Name:
    if token.type != "STRING":
        return Name(str(token), source.of([token]))
    text = _filled(token, source)
    if not re.fullmatch(r"(?:[^\W\d]|\$)[\w$]*", text):
        raise error("N105", f"'{text}' is not the name of a variable", source.of([token]),
                    help="jit takes names of scalars; give the expression's value a name before the loop")  # fmt: skip
    return Name(text, _inside(token, source))


def _kernel_name(clause: Any, source: _Source) -> Name:
    (token,) = (token for token in clause.children if _is(token, "STRING"))
    return Name(_filled(token, source), _inside(token, source))


def _is(node: Any, kind: str) -> bool:
    return getattr(node, "type", None) == kind


def _inside(token: Token, source: _Source) -> Span:
    """The span of what is between the quotes."""
    return source.span(_start(token) + 1, _end(token) - 1)


_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "t": "\t"}


def _string(token: Token, source: _Source) -> str:
    """What the string literal *token* says."""
    for match in re.finditer(r"\\(.)", token):
        if match[1] not in _ESCAPES:
            raise error("N105", f"unknown escape '{match[0]}' in a string", source.of([token]),
                        help=r"write \\ for a backslash; \" \' \n \t are known too")  # fmt: skip
    return re.sub(r"\\(.)", lambda match: _ESCAPES[match[1]], token[1:-1])


def _filled(token: Token, source: _Source) -> str:
    """The string literal *token*, which must name something."""
    text = _string(token, source).strip()
    if not text:
        raise error("N105", "this name is empty", source.of([token]), help="put a name between the quotes")
    return text
