"""Broken C: valid annotated programs with tokens and bytes deleted, doubled, swapped, inserted or cut off."""

from __future__ import annotations

import re
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


def mutated(source: bytes, random: Random) -> bytes:
    """*source* with one to four changes, many of them in or near its pragmas."""
    for _ in range(random.randint(1, 4)):
        source = random.choice((_tokens, _tokens, _bytes, _in_pragma, _in_pragma, _cut))(source, random)
    if random.random() < 0.05:
        source = source.replace(b"\n", b"\r\n")
    if random.random() < 0.03:
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


def _in_pragma(source: bytes, random: Random) -> bytes:
    """A change of the tokens of one pragma."""
    pragmas = [match.span() for match in re.finditer(rb"#pragma nomp.*", source)]
    if not pragmas:
        return source
    begin, end = random.choice(pragmas)
    return source[:begin] + _tokens(source[begin:end], random) + source[end:]


def _cut(source: bytes, random: Random) -> bytes:
    if random.random() < 0.8:
        begin = random.randrange(len(source) + 1)
        return source[:begin] + source[begin + random.randint(1, 40) :]
    return source[: random.randrange(len(source) + 1)]
