"""The command line of ``nomp cc``, taken apart without understanding more of it than is needed.

In: the words after ``nomp cc``.  Out: a `Command`: our own options (`Own`), and everything that belongs to the host
compiler as `Item` values in their order, each with the words exactly as they were written.  `cc` reads it; nothing is
run or written here.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from nomp.diagnostics import Diagnostic, error

Mode = Literal["link", "compile", "assemble", "preprocess", "check"]

STAGES = ("pragmas", "region", "loopy", "source", "c")

# Options of gcc and clang whose argument may be the next word.  All others are one word.
SEPARATE = frozenset(
    (
        "-o", "-x", "-I", "-D", "-U", "-A", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
        "-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultilib", "-MF", "-MT", "-MQ", "-L", "-l", "-B", "-T",
        "-Tbss", "-Tdata", "-Ttext", "-G", "-e", "-u", "-z", "--entry", "-Xlinker", "-Xassembler", "-Xpreprocessor",
        "-Xclang", "-mllvm", "-arch", "-target", "-framework", "-aux-info", "-wrapper", "-dumpbase", "-dumpbase-ext",
        "-dumpdir", "-specs", "--param", "--sysroot", "--include", "--imacros", "--define-macro",
        "--undefine-macro", "--include-directory", "--include-directory-after", "--include-prefix",
    )
)  # fmt: skip

# Options whose argument may be glued to them, and that we look at.
_GLUED = (
    "-MF", "-MT", "-MQ", "-iquote", "-isystem", "-idirafter", "-imacros", "-include", "-I", "-D", "-U", "-L", "-l",
    "-o", "-x",
)  # fmt: skip

_LANGUAGES = {
    ".c": "c", ".i": "cpp-output", ".h": "c-header", ".s": "assembler", ".S": "assembler-with-cpp",
    ".sx": "assembler-with-cpp", ".cc": "c++", ".cp": "c++", ".cxx": "c++", ".cpp": "c++", ".c++": "c++", ".C": "c++",
    ".CPP": "c++", ".ii": "c++-cpp-output",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Own:
    """The options that are ours.  *cc* is the host compiler as the user named it, *emit* a stage of `STAGES`."""

    emit: str | None = None
    remarks: bool = False
    check: bool = True
    cc: str | None = None
    save_temps: bool = False
    dry_run: bool = False
    diagnostics: str = "text"
    prebuild: str | None = None
    help: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One option (*name* and, where it has one, *value*), or one input file (*value*, in *language*; no *name*)."""

    words: tuple[str, ...]
    name: str = ""
    value: str = ""
    language: str = ""

    @property
    def is_input(self) -> bool:
        """True for an input file."""
        return not self.name


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What ``-MD`` and ``-MMD`` ask for.  *flag* is ``-M`` or ``-MM``; *targets* and *others* are words to pass on."""

    flag: str
    file: str | None
    targets: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A whole command line: our options, the host's words as given, and the same taken apart."""

    own: Own
    words: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def inputs(self) -> tuple[Item, ...]:
        """The input files, in order."""
        return tuple(item for item in self.items if item.is_input)

    @property
    def mode(self) -> Mode:
        """How far the host compiler is to go, by gcc's precedence."""
        names = {item.name for item in self.items}
        if names & {"-E", "-M", "-MM"}:
            return "preprocess"
        if "-fsyntax-only" in names:
            return "check"
        return "assemble" if "-S" in names else "compile" if "-c" in names else "link"

    def value(self, name: str) -> str | None:
        """The argument of the last option *name*, or None."""
        return next((item.value for item in reversed(self.items) if item.name == name), None)

    def has(self, *names: str) -> bool:
        """True if one of the options *names* was given."""
        return any(item.name in names for item in self.items)


def parse(arguments: Sequence[str]) -> Command:
    """Take the words after ``nomp cc`` apart.  `NompError` N502 for a wrong option of ours; others are the host's."""
    own, words = _take_own(arguments)
    return Command(own, words, tuple(_items(_short(_split_wp(_expand(words))))))


def _take_own(arguments: Sequence[str]) -> tuple[Own, tuple[str, ...]]:
    own, rest = Own(), []
    words = iter(arguments)
    for word in words:
        name, glued, value = word.partition("=")
        if word in _FLAGS:
            own = replace(own, **_FLAGS[word])
        elif name in _VALUES:
            given = value if glued else next(words, None)
            chosen: dict[str, Any] = {_VALUES[name]: _checked(name, given)}
            own = replace(own, **chosen)
        else:
            rest.append(word)
            if word in SEPARATE:  # its argument is never ours, whatever it looks like
                rest += [value for value in (next(words, None),) if value is not None]
    return own, tuple(rest)


_FLAGS: dict[str, dict[str, Any]] = {
    "--remarks": {"remarks": True},
    "--no-check": {"check": False},
    "--save-temps": {"save_temps": True},
    "-###": {"dry_run": True},
    "--help": {"help": True},
    "-fnomp": {},  # what nompcc wants to see in build files: pragmas are always honoured here
}
_VALUES = {"--emit": "emit", "--cc": "cc", "--diagnostics": "diagnostics", "--prebuild": "prebuild"}
_CHOICES = {"--emit": STAGES, "--diagnostics": ("text", "json")}


def _checked(name: str, value: str | None) -> str:
    choices = _CHOICES.get(name)
    if value and (choices is None or value in choices):
        return value
    named = "a backend, for example opencl" if name == "--prebuild" else "the host compiler, for example --cc gcc"
    wanted = f"one of {', '.join(choices)}" if choices else named
    found = f"not '{value}'" if value else "and none was given"
    raise error("N502", f"option '{name}' needs a value, {found}", help=f"write {name}=VALUE with {wanted}")


def _expand(words: Sequence[str], depth: int = 0) -> Iterator[str]:
    """Replace each ``@file`` by the words in the file, as gcc does; one that cannot be read stays a word."""
    for word in words:
        found = _response(word) if depth < 20 else None
        if found is None:
            yield word
        else:
            yield from _expand(found, depth + 1)


def _response(word: str) -> list[str] | None:
    """The words in the file that ``@file`` names; None for any other word."""
    if not word.startswith("@"):
        return None
    try:
        return shlex.split(os.fsdecode(Path(word[1:]).read_bytes()))
    except OSError:
        return None
    except ValueError as reason:
        step = "close the quotation marks in the file"
        raise error("N502", f"response file '{word[1:]}' cannot be read: {reason}", help=step) from None


def _split_wp(words: Iterator[str]) -> Iterator[str]:
    """Write ``-Wp,-MD,file`` (and its relatives) as the options that they stand for; other ``-Wp,`` words stay."""
    for word in words:
        parts = word.split(",")
        if parts[0] != "-Wp" or len(parts) < 2 or not parts[1].startswith("-M"):
            yield word
        elif parts[1] in ("-MD", "-MMD") and len(parts) == 3:
            yield from (parts[1], "-MF", parts[2])
        else:
            yield from parts[1:]


_SHORT = {
    "--assemble": "-S", "--compile": "-c", "--preprocess": "-E", "--output": "-o", "--language": "-x",
    "--static": "-static", "--shared": "-shared", "--library-directory": "-L", "--dependencies": "-M",
    "--user-dependencies": "-MM", "--write-dependencies": "-MD", "--write-user-dependencies": "-MMD",
}  # fmt: skip
"""gcc's long names of options that we look at."""


def _short(words: Iterator[str]) -> Iterator[str]:
    """The words with short names of options for long ones, and values in words of their own."""
    for word in words:
        name, glued, value = word.partition("=")
        yield from (_SHORT[name], *([value] if glued else ())) if name in _SHORT else (word,)


def _items(words: Iterator[str]) -> Iterator[Item]:
    language = "none"
    for word in words:
        if word == "-" or not word.startswith("-"):
            yield Item((word,), "", word, _language(word) if language == "none" else language)
            continue
        item = _option(word, words)
        if item.name == "-x":
            language = item.value
        yield item


def _option(word: str, following: Iterator[str]) -> Item:
    if word in SEPARATE:
        value = next(following, None)
        return Item((word,), word) if value is None else Item((word, value), word, value)
    name = next((name for name in _GLUED if word.startswith(name)), None)
    return Item((word,), word) if name is None else Item((word,), name, word[len(name) :])


def _language(path: str) -> str:
    return _LANGUAGES.get(os.path.splitext(path)[1], "object")


# ------------------------------------------------------------------------------------------------- selections

_DEPENDENCY = frozenset(("-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP", "-MG"))
_PREPROCESSOR = frozenset(
    (
        "-D", "-U", "-A", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
        "-iwithprefixbefore", "-isysroot", "--sysroot", "-nostdinc", "-ansi", "-undef", "-trigraphs",
        "-pthread", "-target", "-m32", "-m64", "-mx32", "-malign-double", "-mno-align-double", "-mms-bitfields",
        "-mno-ms-bitfields", "-Xpreprocessor",
    )
)  # fmt: skip
_PREPROCESSOR_STARTS = (
    "-std=", "--std=", "--sysroot=", "--target=", "--define-macro", "--undefine-macro", "--include", "--imacros",
    "--no-standard-includes", "--ansi", "--trigraphs", "-Wp,", "-fpack-struct", "-march=", "-mcpu=", "-mavx", "-msse",
    "-mfma", "-O", "-fshort-", "-fsigned-", "-funsigned-", "-fno-signed-", "-fno-unsigned-", "-fPIC",
    "-fpic", "-fPIE", "-fpie", "-ffast-math", "-mlong-double-",
)  # fmt: skip
OPENMP = "-D_OPENMP=201511"
"""What ``-fopenmp`` does for the front end: its pragmas are the host compiler's, which carries them out."""
_OTHER_MEANING = ("-fsingle-precision-constant", "-fexec-charset")
"""Options that give a program another meaning, which kernels would not have."""
_OTHER_LIMITS = ("-fwrapv", "-ftrapv", "-fno-strict-aliasing")
"""Options that give a meaning to what has none in C: programs that need it are rare, builds that have them are not."""
_AUXILIARY = (
    "--coverage", "-coverage", "-ftest-coverage", "-fprofile", "-fbranch-probabilities", "-gsplit-dwarf",
    "-fstack-usage", "-fcallgraph-info", "-fdump", "-save-temps",
)  # fmt: skip
"""What options begin with that have a compilation leave, or look for, files named after its output."""
_LINKER = frozenset(
    (
        "-l", "-L", "-T", "-Tbss", "-Tdata", "-Ttext", "-e", "-u", "-z", "-s", "--entry", "-Xlinker", "-static",
        "-shared", "-rdynamic", "-r", "-framework",
    )
)  # fmt: skip


def dependencies(command: Command) -> Dependencies | None:
    """The dependency file that the command asks for beside its compilation, or None."""
    flags = [item.name for item in command.items if item.name in ("-MD", "-MMD")]
    if not flags:
        return None
    chosen = [item for item in command.items if item.name in _DEPENDENCY]
    targets = tuple(word for item in chosen if item.name in ("-MT", "-MQ") for word in item.words)
    others = tuple(item.name for item in chosen if item.name in ("-MP", "-MG"))
    return Dependencies("-MM" if flags[-1] == "-MMD" else "-M", command.value("-MF"), targets, others)


def compiled(command: Command) -> tuple[Item, ...]:
    """The inputs that the host compiler would compile: it warns of others that it does not use."""
    unused = ("object", "assembler") if command.mode == "assemble" else ("object",)
    return tuple(item for item in command.inputs if item.language not in unused)


def leaves_files(command: Command) -> bool:
    """Whether to compile and link in one command leaves files besides the program, which coverage or debuggers need."""
    wanted = command.mode == "link" and not command.has("-dumpdir")
    return wanted and any(item.name.startswith(_AUXILIARY) for item in command.items)


def other_meanings(command: Command) -> Iterator[Diagnostic]:
    """N502 for options that kernels do not follow, errors and warnings; for commands that compile pragmas."""
    step = "compile the files that have nomp pragmas without it"
    for item in command.items:
        if item.name.partition("=")[0] in _OTHER_MEANING and item.name.lower() != "-fexec-charset=utf-8":
            message = f"option '{item.name}' changes what a program computes, but not its kernels"
            yield Diagnostic("N502", message, help=step)
        elif item.name in _OTHER_LIMITS:
            yield Diagnostic("N502", f"kernels are compiled as without '{item.name}'", severity="warning", help=step)


def preprocessor_words(command: Command) -> tuple[str, ...]:
    """The host options that decide how the source reads (macros, folders, the language), where clang has them too."""
    chosen = (i for i in command.items if i.name in _PREPROCESSOR or i.name.startswith(_PREPROCESSOR_STARTS))
    return (*((OPENMP,) if has_openmp(command) else ()), *(word for item in chosen for word in item.words))


def has_openmp(command: Command) -> bool:
    """Whether the host compiler carries out OpenMP's pragmas."""
    said = [item.name.partition("=")[0] for item in command.items]
    return next((name == "-fopenmp" for name in reversed(said) if name in ("-fopenmp", "-fno-openmp")), False)


def compile_words(command: Command) -> tuple[str, ...]:
    """The host options for the compilation of one source: no inputs, output, language, or dependency options."""
    linking = command.mode == "link"
    dropped = _DEPENDENCY | {"-o", "-x", "-c", "-S", "-fsyntax-only"} | (_LINKER if linking else frozenset())
    kept = [item for item in command.items if item.name and item.name not in dropped]
    return tuple(word for item in kept if not (linking and item.name.startswith("-Wl,")) for word in item.words)
