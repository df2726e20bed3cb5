"""Broken C: valid annotated programs with a few changes, most of which leave C that a compiler takes.

Text of pragmas is changed freely.  Elsewhere tokens trade places with others of their kind, statements go, come twice,
move or are wrapped in others; now and then tokens and bytes change without any regard, or a piece is cut out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

_TOKEN = re.compile(rb'"[^"\n]*"|\w+|\s+|[^\w\s]')
_INSERTED = (
    b"#pragma nomp for", b"#pragma nomp update(to : a[", b"transform(", b"reduce(", b"jit(", b'"', b"(", b")",
    b"{", b"}", b"[", b"]", b";", b",", b":", b"\\\n", b"\r", b"\0", b"\xff\xfe", b"\xc3", b"\xe2\x82\xac",
    b"/*", b"//", b"*/", b"'", b"for", b"if", b"else", b"while", b"goto", b"return", b"case 1:", b"struct",
    b"int", b"unsigned", b"double _Complex", b"volatile", b"sizeof", b"=", b"++", b"->", b".", b"?", b"#if 0\n",
    b"#endif\n", b"#define i j\n", b'_Pragma("nomp for")', b"99999999999999999999", b"0x", b"1e999", b"init",
    b"finalize",
)  # fmt: skip
_KINDS = (
    (rb"<<=|>>=|[-+*/%&|^]=|(?<![=!<>])=(?!=)", b"= += -= *= /= %= &= |= ^= <<= >>="),
    (rb"(?<= )(?:<<|>>|[-+*/%&|^])(?= )", b"+ - * / % & | ^ << >>"),
    (rb"(?<= )(?:[<>]=?|[=!]=|&&|\|\|)(?= )", b"< <= > >= == != && ||"),
    (rb"\+\+|--", b"++ -- ++ --"),
    (rb"(?<=[ (])[-!~](?=\w)", b"- ! ~ + * & (int) (float) (char) sizeof"),
    (rb"\b(?:int|unsigned|long|short|char|double|float|_Bool)\b(?= )",
     b"int unsigned long short char double float _Bool"),
    (rb"\b(?:const|static|restrict)\b", b"const volatile static register restrict"),
    (rb"(?<=\[)\d+(?=\])", b"0 1 2 3 7 100 -1 0.1f 1000000000"),
    (rb"(?<!\[)\b\d[\w.]*",
     b"0 1 2 3 7 -1 0x7fffffff 4294967296 18446744073709551615u 1e9 0.1f 'x' 017 1e-40 2147483648"),
)  # fmt: skip
"""Tokens of one kind, and what may stand for them."""
_NAMES = (rb"\b[a-z]\w*(?=\[)", rb"(?<=[.>])[a-z]\w*", rb"(?<![\w.>\"] )(?<![\w.>\"])[a-z]\w*(?! ?[\w\[(.\"-])")
_KEYWORDS = frozenset(b"break case char const continue default do double else float for if int long nomp pragma return "
                      b"short sizeof static struct switch typedef union unsigned while".split())  # fmt: skip
_DECLARATION = re.compile(rb"\s*(const|static|struct|union|int|long|short|double|float|byte|_Bool|unsigned)\b")
_LINES = (
    b"break;", b"continue;", b"return 0;", b";", b"{}", b"{ int i = 3; i++; }", b"volatile int v = 0; v = 1;",
    b"goto out; out:;", b"for (;;) break;", b"while (0) ;", b"static int w; w++;", b"long double q = 1; q += 1;",
    b"const char *text = \"t\"; text++;", b"#pragma nomp for", b"#pragma nomp sync", b"#pragma nomp update(from : a)",
    b'_Pragma("nomp for")', b"#pragma nomp for reduce(\"s\", \"*\")", b"#pragma once", b"#line 7",
    b"union { int x; } un; un.x = 1;", b"enum { P, Q = 9 }; int e_ = Q; e_++;", b"({ 1; });", b"(void)0;",
    b"int z_[3] = {0}, *y_ = z_; y_[1] = *z_;",
)  # fmt: skip
_WRAPPERS = (
    b"{ @ }", b"if (1) { @ }", b"if (argc_ > 1) { @ } else { @ }", b"do { @ } while (0);", b"while (argc_-- > 3) { @ }",
    b"switch (argc_) { case 1: @ break; default: ; }", b"switch (argc_) { @ }", b"for (int q = 0; q < 2; q++) { @ }",
    b"for (unsigned char q = 9; q != 0; --q) { @ }", b"#pragma nomp for\nfor (int q = 0; q < 2; q++) { @ }",
    b"for (argc_ = 4; argc_ >= 0; argc_ -= 2) { @ }", b"if (0) out: { @ }",
)  # fmt: skip


def mutated(source: bytes, random: Random) -> bytes:
    """*source* with one to four changes.  It should have a variable ``argc_`` that may be used everywhere."""
    makers, weights = zip(*_CHANGES, strict=True)
    for make in random.choices(makers, weights, k=random.randint(1, 4)):
        source = make(source, random)
    if random.random() < 0.05:
        source = source.replace(b"\n", b"\r\n")
    if random.random() < 0.01:
        source = source.decode("latin-1").encode("utf-16")
    return source


def _tokens(source: bytes, random: Random) -> bytes:
    tokens = _TOKEN.findall(source)
    if not tokens:
        return source
    place = random.randrange(len(tokens))
    change = random.choice(("delete", "double", "swap", "insert", "replace"))
    if change == "delete":
        del tokens[place]
    elif change == "double":
        tokens.insert(place, tokens[place])
    elif change == "swap":
        other = random.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]
    elif change == "insert":
        tokens.insert(place, b" " + random.choice(_INSERTED) + b" ")
    else:
        tokens[place] = random.choice((random.choice(_INSERTED), random.choice(tokens)))
    return b"".join(tokens)


def _bytes(source: bytes, random: Random) -> bytes:
    place = random.randrange(len(source) + 1)
    return source[:place] + bytes([random.randrange(256)]) + source[place + random.randint(0, 1) :]


def _cut(source: bytes, random: Random) -> bytes:
    if random.random() < 0.8:
        begin = random.randrange(len(source) + 1)
        return source[:begin] + source[begin + random.randint(1, 40) :]
    return source[: random.randrange(len(source) + 1)]


def _in_pragma(source: bytes, random: Random) -> bytes:
    """A change of the tokens of one pragma, after the word ``nomp``."""
    pragmas = [match.span(1) for match in re.finditer(rb"#pragma nomp (.*)", source)]
    if not pragmas:
        return source
    begin, end = random.choice(pragmas)
    return source[:begin] + _tokens(source[begin:end], random) + source[end:]


# ---------------------------------------------------------------------------------------------- changes that C allows


def _same_kind(source: bytes, random: Random) -> bytes:
    """A token replaced by one of its kind."""
    pattern, others = random.choice(_KINDS)
    found = list(re.finditer(pattern, source))
    return _put(source, random.choice(found).span(), random.choice(others.split())) if found else source


def _names(source: bytes, random: Random) -> bytes:
    """A name replaced by one that stands near it and is used as it is: as an array, a member, a scalar."""
    found = [m for m in re.finditer(random.choice(_NAMES), source) if m.group() not in _KEYWORDS]
    if not found:
        return source
    place = random.randrange(len(found))
    near = found[max(0, place - 8) : place + 8]
    return _put(source, found[place].span(), random.choice(near).group())


def _put(source: bytes, span: tuple[int, int], text: bytes) -> bytes:
    return source[: span[0]] + text + source[span[1] :]


def _statements(lines: list[bytes]) -> list[tuple[int, int]]:
    """The first line of each statement in a function, and the one after its last."""
    found: list[tuple[int, int]] = []
    open_ones: list[int] = []
    for number, line in enumerate(lines):
        if line.startswith(b"  ") and line.count(b"{") == line.count(b"}") and line.rstrip().endswith((b";", b"}")):
            found.append((number, number + 1))
        for _ in range(line.count(b"}") - line.count(b"{")):
            start = open_ones.pop() if open_ones else 0
            if lines[start].startswith(b"  "):
                found.append((start, number + 1))
        open_ones += [number] * (line.count(b"{") - line.count(b"}"))
    return found


def _lines(source: bytes, random: Random) -> bytes:
    """A statement deleted, doubled, moved, wrapped, or a new one put before it."""
    lines = source.split(b"\n")
    places = _statements(lines)
    used = [place for place in places if not _DECLARATION.match(lines[place[0]])]
    if not used:
        return source
    begin, end = random.choice(used)
    target = random.choice([start for start, _ in places if abs(start - begin) < 6])
    text = lines[begin:end]
    match random.choice(("delete", "double", "move", "wrap", "wrap", "new", "new")):
        case "delete":
            lines[begin:end] = []
        case "double":
            lines[target:target] = text
        case "move":
            lines[begin:end] = []
            lines[target:target] = text
        case "wrap":
            lines[begin:end] = random.choice(_WRAPPERS).replace(b"@", b"\n".join([b"", *text, b""])).split(b"\n")
        case "new":
            lines[begin:begin] = [b"  " + random.choice(_LINES)]
    return b"\n".join(lines)


_CHANGES: tuple[tuple[Callable[[bytes, Random], bytes], float], ...] = (
    (_in_pragma, 6), (_same_kind, 6), (_lines, 5), (_names, 1.5), (_tokens, 0.6), (_bytes, 0.3), (_cut, 0.3),
)  # fmt: skip
