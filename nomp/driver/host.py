"""The host C compiler: which one it is, and running it.

In: the user's choice (``--cc``, ``NOMP_CC``, or the first of cc, gcc, clang on PATH).  Out: exit statuses, and text
where it is captured.  Words go to the compiler as a list, never through a shell.  Used by `cc`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from nomp.diagnostics import Span, error
from nomp.driver.running import shell_status

# Set for the compilers that we start: a host compiler that is `nomp cc` again would go round for ever.
GUARD = "NOMP_CC_ACTIVE"

PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+nomp\b", re.MULTILINE)
_MARKER = re.compile(rb'^# (\d+) "((?:[^"\\]|\\.)*)"([ \d]*)$', re.MULTILINE)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_SYSTEM = b"3"  # the flag of a line marker for text of a system header


@dataclass(frozen=True, slots=True)
class Sight:
    """A nomp pragma in preprocessed text: where it comes from, and whether that is a system header."""

    span: Span
    in_system_header: bool


@dataclass(frozen=True, slots=True)
class Host:
    """A host compiler by its leading words (``("ccache", "gcc")``); *dry_run* prints commands and runs none."""

    words: tuple[str, ...]
    dry_run: bool = False

    @property
    def program(self) -> str:
        """The compiler itself, without a launcher before it or options after it."""
        return self.words[len(self.words) - len(self.options) - 1]

    @property
    def options(self) -> tuple[str, ...]:
        """The options that the compiler was named with, as in ``--cc "gcc -m32"``."""
        first = next((n for n, word in enumerate(self.words) if word.startswith("-")), len(self.words))
        return self.words[first:]

    @property
    def knows_prefix_maps(self) -> bool:
        """Whether it is gcc (8 or newer) or clang by its name: others may not know ``-fmacro-prefix-map``."""
        return bool(re.search(r"gcc|clang|^(i|mpi)?cc$|icx", os.path.basename(self.program)))

    def run(self, arguments: Sequence[str], stdin: bytes | None = None) -> int:
        """Run the compiler on *arguments* with our own output streams; its exit status (128 + signal if it died)."""
        if self.dry_run:
            print(shlex.join((*self.words, *arguments)), file=sys.stderr)
            return 0
        done = subprocess.run((*self.words, *arguments), input=stdin, env=_environment(), check=False)
        return shell_status(done.returncode)

    def preprocessed(self, arguments: Sequence[str], stdin: bytes | None = None) -> bytes:
        """The source in *arguments* after the preprocessor; empty if it fails, of which the compilation tells."""
        words = (*self.words, *arguments, "-E", "-o", "-")
        done = subprocess.run(words, input=stdin, env=_environment(), capture_output=True, check=False)
        return b"" if done.returncode else done.stdout


def find(named: str | None, dry_run: bool = False) -> Host:
    """The host compiler.  `NompError` N500 where there is none, N501 where it is ``nomp cc`` itself."""
    if os.environ.get(GUARD):
        raise error("N501", "the host compiler of 'nomp cc' is 'nomp cc' again",
                    help="name the real compiler: --cc gcc, or NOMP_CC=gcc in the environment")  # fmt: skip
    choice = named or os.environ.get("NOMP_CC")
    if choice:
        try:
            words = tuple(shlex.split(choice))
        except ValueError as reason:
            raise _missing(f"host compiler '{choice}' cannot be read: {reason}") from None
        if not words or shutil.which(words[0]) is None:
            raise _missing(f"host compiler '{choice}' was not found")
        return Host(words, dry_run)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return Host((name,), dry_run)
    raise _missing("no host compiler was found: none of cc, gcc, clang is on PATH")


def pragmas(text: bytes) -> list[Sight]:
    """The nomp pragmas in the preprocessed *text*, from headers and macros as well."""
    markers = list(_MARKER.finditer(text))
    return [_sight(text, markers, found.start()) for found in PRAGMA.finditer(text)]


def lines(text: bytes) -> dict[tuple[str, int], bytes]:
    """The preprocessed *text* by the file and the line that it comes from."""
    found: dict[tuple[str, int], bytes] = {}
    name, number = "", 0
    for line in text.split(b"\n"):
        if marker := _MARKER.match(line):
            name, number = _name(marker), int(marker[1])
        else:
            found[name, number] = found.get((name, number), b"") + line.strip()
            number += 1
    return found


def _sight(text: bytes, markers: Sequence[re.Match[bytes]], offset: int) -> Sight:
    """Where the line at *offset* of the preprocessed *text* comes from, by the line marker before it."""
    place = bisect_left(markers, offset, key=re.Match.start)
    if not place:
        return Sight(Span("<unknown>", 1), False)
    marker = markers[place - 1]
    line = int(marker[1]) + text.count(b"\n", marker.end(), offset) - 1
    return Sight(Span(_name(marker), line), _SYSTEM in marker[3].split())


def _name(marker: re.Match[bytes]) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda found: _escaped(found[1]), marker[2]))


def _escaped(text: bytes) -> bytes:
    """What follows a backslash in a line marker, as the byte that it stands for: three octal digits, or itself."""
    return bytes([int(text, 8)]) if len(text) == 3 else text


def _missing(message: str) -> Exception:
    return error("N500", message, help="install a C compiler, or name one: --cc COMPILER, or NOMP_CC=COMPILER")


def _environment() -> dict[str, str]:
    return os.environ | {GUARD: "1"}
