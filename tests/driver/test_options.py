"""The command line of ``nomp cc`` taken apart: a table of lines as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nomp.driver import options
from nomp.driver.options import Own

INPUTS = {
    "foo.c -o foo -lm": [("foo.c", "c")],
    "-I include -D N=3 -include pre.h a.c b.o libc.a d.so": [
        ("a.c", "c"), ("b.o", "object"), ("libc.a", "object"), ("d.so", "object")],
    "-x c probe.txt -x none lib.a": [("probe.txt", "c"), ("lib.a", "object")],
    "-xc - -o out.c": [("-", "c")],
    "-MF dep.c -MT t.c -MQ q.c real.c": [("real.c", "c")],
    "-Xlinker a.c -T script.c -u sym.c -z now.c --param x.c=1 -aux-info p.c real.c": [("real.c", "c")],
    "-isystem dir.c -iquote q.c -idirafter i.c -imacros m.c real.c": [("real.c", "c")],
    "a.cpp b.CPP c.S d.i e.h": [
        ("a.cpp", "c++"), ("b.CPP", "c++"), ("c.S", "assembler-with-cpp"), ("d.i", "cpp-output"), ("e.h", "c-header")],
    "-v": [],
    "--print-prog-name ld": [("ld", "object")],
    "-o": [],
}  # fmt: skip


@pytest.mark.parametrize("line", INPUTS)
def test_inputs_and_their_language(line: str) -> None:
    assert [(i.value, i.language) for i in options.parse(line.split()).inputs] == INPUTS[line]


MODES = {
    "a.c": "link", "-c a.c": "compile", "-S a.c": "assemble", "-c -S a.c": "assemble", "-E a.c": "preprocess",
    "-M a.c": "preprocess", "-MM -c a.c": "preprocess", "-MD -c a.c": "compile", "-fsyntax-only a.c": "check",
    "-o -c a.c": "link", "-shared a.o": "link",
}  # fmt: skip


@pytest.mark.parametrize("line", MODES)
def test_mode(line: str) -> None:
    assert options.parse(line.split()).mode == MODES[line]


OURS = {
    "--emit c a.c": Own(emit="c"),
    "--emit=region a.c": Own(emit="region"),
    "-O2 --cc clang a.c --no-check": Own(cc="clang", check=False),
    "--save-temps -### --remarks a.c": Own(save_temps=True, dry_run=True, remarks=True),
    "--diagnostics=json a.c": Own(diagnostics="json"),
    "-Xlinker --no-check a.c": Own(),
    "-o --emit a.c": Own(),
    "-D --remarks a.c": Own(),
}


@pytest.mark.parametrize("line", OURS)
def test_our_options_are_taken_out(line: str) -> None:
    assert options.parse(line.split()).own == OURS[line]


@pytest.mark.parametrize("line", ["-O2 -g -fwhatever -Xlinker --emit a.c -o b @nofile", "-o --cc", "--version", "-I"])
def test_the_rest_goes_on_untouched(line: str) -> None:
    assert options.parse(line.split()).words == tuple(line.split())


def test_response_files(tmp_path: Path) -> None:
    (tmp_path / "inner").write_text("-DB='x y'\n")
    (tmp_path / "outer").write_text(f'a.c "b c.c" @{tmp_path}/inner -o "x"')
    command = options.parse([f"@{tmp_path}/outer", "-c"])
    assert [i.value for i in command.inputs] == ["a.c", "b c.c"]
    assert command.value("-D") == "B=x y"
    assert command.value("-o") == "x"
    assert command.words == (f"@{tmp_path}/outer", "-c")


def test_compile_words_leave_the_linker_its_own() -> None:
    line = "-O2 -x c a.c -I d -Dx -L lib -lm -Wl,-rpath,x -Xlinker y -shared -fPIC -MD -MF d.d -MT t -o b -g"
    assert options.compile_words(options.parse(line.split())) == ("-O2", "-I", "d", "-Dx", "-fPIC", "-g")
    assert options.compile_words(options.parse(["-c", "-lm", "a.c"])) == ("-lm",)


def test_preprocessor_words() -> None:
    line = "-O2 -Wall -std=c99 -I d -Dx -U y -isystem s -include h.h -lm -g -march=native -fopenmp -fPIC a.c"
    wanted = f"{options.OPENMP} -O2 -std=c99 -I d -Dx -U y -isystem s -include h.h -march=native -fPIC"
    assert options.preprocessor_words(options.parse(line.split())) == tuple(wanted.split())


@pytest.mark.parametrize(
    ("line", "on"),
    [("-fopenmp", True), ("-fopenmp=libomp", True), ("-fopenmp -fno-openmp", False), ("-fopenmp-simd", False),
     ("-fno-openmp -fopenmp", True), ("-O2", False)],
)  # fmt: skip
def test_whether_openmp_is_on(line: str, on: bool) -> None:
    assert options.has_openmp(options.parse(line.split())) == on


@pytest.mark.parametrize(
    "line", ["-DK=7", "-D K=7", "-Wp,-DK=7", "-Wp,-DX,-DK=7", "-Xpreprocessor -DK=7", "--define-macro=K=7", "--ansi",
             "--define-macro K=7", "-imacros k.h", "--imacros=k.h", "-include k.h", "--include=k.h", "--include k.h",
             "-fpack-struct", "-fpack-struct=1", "--std=c99", "-mms-bitfields", "-malign-double"]
)  # fmt: skip
def test_every_way_to_say_how_the_source_reads(line: str) -> None:
    assert options.preprocessor_words(options.parse([*line.split(), "-c", "a.c"])) == tuple(line.split())


@pytest.mark.parametrize(
    ("line", "flag", "file", "targets", "others"),
    [
        ("-MD -c a.c", "-M", None, (), ()),
        ("-MMD -MP -MF x.d -c a.c", "-MM", "x.d", (), ("-MP",)),
        ("-MD -MT a -MQ b -MFx -c a.c", "-M", "x", ("-MT", "a", "-MQ", "b"), ()),
        ("-Wp,-MMD,d/.a.d -c a.c", "-MM", "d/.a.d", (), ()),
        ("-Wp,-MD,x -Wp,-MT,t -c a.c", "-M", "x", ("-MT", "t"), ()),
    ],
)
def test_dependencies(
    line: str, flag: str, file: str | None, targets: tuple[str, ...], others: tuple[str, ...]
) -> None:
    wanted = options.Dependencies(flag, file, targets, others)
    assert options.dependencies(options.parse(line.split())) == wanted


def test_no_dependencies() -> None:
    assert options.dependencies(options.parse(["-c", "a.c", "-Wp,-DX"])) is None
