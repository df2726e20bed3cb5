"""What scripts do to kernels besides tagging and reordering loops: each in a right and in a wrong way."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import loopy as lp
import pytest
from schedules import SCALARS, Script, fused, instructions, judged, region_of, said, without_order, without_waiting


@pytest.mark.parametrize("script", [
    lambda kernel: kernel,
    lambda kernel: lp.tag_inames(kernel, {"i": "g.0"}),
    lambda kernel: lp.split_iname(kernel, "i", 8, outer_tag="g.0", inner_tag="l.0"),
    without_waiting,
])  # fmt: skip
@pytest.mark.parametrize("loop", ["for (int i = 0; i < n; i++) {}", "for (int i = n; i >= 0; i--) { ; }"])
def test_empty_loops(loop: str, script: Script, tmp_path: Path) -> None:
    assert said(tmp_path, loop, script) is None


# ------------------------------------------------------------------------------------------------------- fused loops

SIBLINGS = "for (int e = 0; e < n; e++) {{ for (int j = 1; j < {0}; j++) {1} for (int i = 1; i < {0}; i++) {2} }}"
NESTS = (
    "for (int e = 0; e < n; e++) {{ for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) q[i][j] = r[i][j]; "
    "for (int k = 0; k < 8; k++) for (int l = 0; l < 8; l++) b[k * 8 + l] = {}; }}"
)


@pytest.mark.parametrize(
    ("bound", "first", "second", "code"),
    [
        ("m", "b[j] = a[j];", "c[i] = b[i];", None),
        ("m", "b[j] = a[j];", "c[i] = b[i - 1];", None),
        ("m", "b[j] = a[j];", "c[i] = b[i + 1];", "N403"),
        ("m", "c[j] = b[j + 1];", "b[i] = a[i];", None),
        ("m", "c[j] = b[j - 1];", "b[i] = a[i];", "N403"),
        ("m", "b[j] = a[j];", "b[i] = c[i];", None),
        ("m", "b[j] = a[j];", "b[i - 1] = c[i];", None),
        ("m", "b[j] = a[j];", "b[i + 1] = c[i];", "N403"),
        ("m", "b[j] = a[j];", "c[i] = b[i + off];", None),
        ("m", "b[0] = a[j];", "c[i] = b[0];", "N403"),
        ("m", "b[k[j]] = a[j];", "c[i] = b[i];", "N404"),
        ("m", "b[j] = a[j];", "c[i] = a[k[i]];", None),
        ("8", "b[j * 2] = a[j];", "c[i] = b[i * 2 + 1];", None),
        ("8", "{ double t = a[j]; b[j] = t * t; }", "{ double t = b[i]; c[i] = t; }", None),
        ("8", "{ double t = a[j]; b[j] = t * t; }", "{ double t = b[i + 1]; c[i] = t; }", "N403"),
    ],
)
def test_fused_loops(bound: str, first: str, second: str, code: str | None, tmp_path: Path) -> None:
    assert said(tmp_path, SIBLINGS.format(bound, first, second), fused) == code


def test_fused_loops_are_refused_for_some_values_only(tmp_path: Path) -> None:
    loop = SIBLINGS.format("m", "b[j] = a[j];", "c[i] = b[i + off];")
    answers = {off: said(tmp_path, loop, fused, {**SCALARS, "off": off}) for off in (-1, 0, 1, 6, 7)}
    assert answers == {-1: None, 0: None, 1: "N403", 6: "N403", 7: None}


@pytest.mark.parametrize(
    ("heads", "second", "code"),
    [
        ((("j = 0", "j < 16", "j += 2"), ("i = 0", "i < 16", "i += 2")), "c[i] = b[i];", None),
        ((("j = 0", "j < 16", "j += 2"), ("i = 0", "i < 16", "i += 2")), "c[i] = b[i + 2];", "N403"),
        ((("j = 15", "j >= 0", "j--"), ("i = 15", "i >= 0", "i--")), "c[i] = b[i + 1];", None),
        ((("j = 15", "j >= 0", "j--"), ("i = 15", "i >= 0", "i--")), "c[i] = b[i - 1];", "N403"),
        ((("j = 15", "j >= 0", "j--"), ("i = 0", "i < 16", "i++")), "c[i] = b[i];", "N403"),
        ((("j = 0", "j <= m - 1", "j++"), ("i = 0", "i < m", "i++")), "c[i] = b[i];", None),
        ((("j = off", "j < m", "j += 3"), ("i = off", "i < m", "i += 3")), "c[i] = b[i];", None),
        ((("j = off", "j < m", "j += 3"), ("i = off", "i < m", "i += 3")), "c[i] = b[i + 3];", "N403"),
    ],
)
def test_fused_loops_with_other_headers(
    heads: tuple[tuple[str, ...], ...], second: str, code: str | None, tmp_path: Path
) -> None:
    one, other = (f"for (int {'; '.join(head)})" for head in heads)
    loop = f"for (int e = 0; e < n; e++) {{ {one} b[j] = a[j]; {other} {second} }}"
    assert said(tmp_path, loop, fused) == code


@pytest.mark.parametrize(
    ("value", "names", "code"), [("q[k][l]", "ij", None), ("q[l][k]", "ij", "N403"), ("q[l][k]", "ji", None)]
)
def test_fused_nests(value: str, names: str, code: str | None, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        for old, new in zip("kl", names, strict=True):
            kernel = lp.rename_iname(kernel, old, new, existing_ok=True)
        return kernel

    assert said(tmp_path, NESTS.format(value), script) == code


@pytest.mark.parametrize(("source", "code"), [("i", None), ("i - 1", "N320"), ("i + 1", "N320")])
def test_fused_and_parallel(source: str, code: str | None, tmp_path: Path) -> None:
    loop = SIBLINGS.format("m", "b[j] = a[j];", f"c[i] = b[{source}];")
    assert said(tmp_path, loop, lambda kernel: lp.tag_inames(fused(kernel), "j:g.0")) == code
    wanted = code and "N403"
    assert said(tmp_path, loop, lambda kernel: without_waiting(lp.tag_inames(fused(kernel), "j:g.0"))) == wanted


def test_the_message_for_fused_loops(tmp_path: Path) -> None:
    region = region_of(tmp_path, SIBLINGS.format("m", "\n  b[j] = a[j];", "\n  c[i] = b[i + 1];"))
    wrong = judged(region, fused, SCALARS)
    assert wrong is not None
    assert wrong.message == (
        "iterations e = 0, j = 2 and e = 0, i = 1 of kernel '_nomp_kernel_l2' do not run in the program's order, and "
        "both touch one element of 'b' (where n = 9, m = 8)"
    )
    assert [(note.message, note.span and note.span.line) for note in wrong.notes] == [
        ("written here", 4),
        ("read here", 5),
    ]


# -------------------------------------------------------------------------------------- statements and iterations

LOCAL = "for (int i = 0; i < n; i++) { double t = a[i]; b[i] = t; }"


def test_the_order_of_statements(tmp_path: Path) -> None:
    kept = SIBLINGS.format("m", "b[j] = a[j];", "c[i] = a[i];")
    swapped = SIBLINGS.format("m", "z[j] = a[j];", "b[i] = z[i];").replace("z", "c")
    assert said(tmp_path, kept, without_order) is None
    assert said(tmp_path, swapped, without_order) == "N403"


@pytest.mark.parametrize(
    ("loop", "gone", "code"),
    [
        (LOCAL, "b_0", "N405"),
        (SIBLINGS.format("m", "b[j] = a[j];", "c[i] = a[i];"), "c_0", "N405"),
        ("for (int i = 0; i < n; i++) { double t = a[i]; b[i] = i; }", "t_0", "N404"),
    ],
)
def test_statements_that_are_gone(loop: str, gone: str, code: str, tmp_path: Path) -> None:
    assert said(tmp_path, loop, lambda kernel: lp.remove_instructions(kernel, {gone})) == code


def test_a_statement_that_a_rule_replaces(tmp_path: Path) -> None:
    assert said(tmp_path, LOCAL, lambda kernel: lp.assignment_to_subst(kernel, "t")) == "N404"


@pytest.mark.parametrize(
    ("domain", "n", "code"),
    [
        ("0 <= i < n", 9, None),
        ("0 <= i < n and i < 5", 9, "N405"),
        ("0 <= i < n and i < 5", 5, None),
        ("0 <= i <= n", 9, "N405"),
        ("0 <= i < n and i mod 2 = 0", 9, "N405"),
        ("0 <= i < n and i mod 2 = 0", 1, None),
    ],
)
def test_other_iterations(domain: str, n: int, code: str | None, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        entry = kernel.default_entrypoint
        return kernel.with_kernel(entry.copy(domains=[isl.BasicSet(f"[n] -> {{ [i] : {domain} }}")]))

    assert said(tmp_path, LOCAL, script, {**SCALARS, "n": n}) == code


def test_iterations_that_are_repeated(tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        entry = kernel.default_entrypoint
        kernel = kernel.with_kernel(entry.copy(domains=[*entry.domains, isl.BasicSet("{ [again] : 0 <= again < 2 }")]))
        return lp.add_inames_to_insn(kernel, frozenset({"again"}), "id:b_0")

    assert said(tmp_path, "for (int i = 0; i < n; i++) b[i] += a[i];", script) == "N405"
    assert said(tmp_path, "for (int i = 0; i < n; i++) b[i] = a[i];", script) is None


def test_the_message_for_other_iterations(tmp_path: Path) -> None:
    region = region_of(tmp_path, LOCAL)
    wrong = judged(region, lambda kernel: lp.remove_instructions(kernel, {"b_0"}), SCALARS)
    assert wrong is not None
    assert wrong.message == "the script's kernel '_nomp_kernel_l2' does not run a statement of the program"
    assert [note.span for note in wrong.notes] == [region.span(region.body[0].body[1].target.place)]  # type: ignore


def test_other_expressions(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++) b[i] = a[i];"
    assert said(tmp_path, loop, lambda kernel: instructions(kernel, expression=1)) == "N404"


# ------------------------------------------------------------------------------------------------------------- locals

ROW = (
    "for (int e = 0; e < n; e++) {{ double s[8]; for (int j = 0; j < 8; j++) s[j] = b[j]; "
    "for (int i = 0; i < 8; i++) q[e][i] = s[{}]; }}"
)


def test_a_local_that_is_shared_by_copies_of_a_loop(tmp_path: Path) -> None:
    assert said(tmp_path, LOCAL, lambda kernel: lp.duplicate_inames(kernel, "i", within="id:b_0")) == "N403"

    def private(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        return lp.duplicate_inames(lp.privatize_temporaries_with_inames(kernel, "i"), "i", within="id:b_0")

    assert said(tmp_path, LOCAL.replace("< n", "< 8"), private) is None


def test_a_local_array_that_becomes_a_scalar(tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        return lp.unprivatize_temporaries_with_inames(fused(kernel), frozenset({"j"}), frozenset({"s"}))

    assert said(tmp_path, ROW.format("i"), script) is None
    assert said(tmp_path, ROW.format("7 - i"), fused) == "N403"


def test_the_last_value_of_a_local(tmp_path: Path) -> None:
    loop = "for (int e = 0; e < n; e++) { double t; for (int j = 0; j < 8; j++) { t = a[j]; b[j] = t; } c[e] = t; }"
    backwards = lambda kernel: lp.affine_map_inames(kernel, "j", "back", "j = 7 - back")  # noqa: E731
    assert said(tmp_path, loop, backwards) == "N403"
    assert said(tmp_path, loop.replace("c[e] = t;", ""), backwards) is None


@pytest.mark.parametrize(
    ("loop", "apart"),
    [
        ("for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 1;", "id:a_0"),
        ("for (int i = 0; i < n; i++) a[k[i] % 3] = 1;", "id:a_0"),
        ("for (int i = 0; i < n; i++) switch (k[i]) { case 1: a[i] = 1; break; default: b[i] = 2; }", "id:b_0"),
    ],
)
def test_locals_that_the_program_does_not_have(loop: str, apart: str, tmp_path: Path) -> None:
    assert said(tmp_path, loop, lambda kernel: kernel) is None
    assert said(tmp_path, loop, lambda kernel: lp.duplicate_inames(kernel, "i", within=apart)) == "N403"


@pytest.mark.parametrize(("waits", "code"), [(True, None), (False, "N403")])
def test_barriers_around_what_a_group_shares(waits: bool, code: str | None, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        kernel = lp.tag_inames(kernel, "e:g.0, i:l.0, j:l.0")
        return kernel if waits else without_waiting(kernel)

    assert said(tmp_path, ROW.format("7 - i"), script) == code


SUM = "double t = 0; for (int l = 0; l < 8; l++) t += q[l][i] * a[l]; b[i] = t;"
PAIR = "double s[2]; for (int l = 0; l < 2; l++) s[l] = q[l][i]; b[i] = s[0] - s[1];"
SWEEP = "for (int l = 0; l < 8; l++) a[i + l] = a[i + l + 1] + 1;"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "side_by_side", "inside"),
    [
        ("b[i] = a[i];", None, None),
        ("b[i] = b[i + 1];", None, None),
        ("b[i + 1] = b[i];", None, None),
        ("a[i] = b[i]; c[i] = a[i + 1];", None, None),
        (SUM, None, "N320"),
        (PAIR, None, "N320"),
        ("for (int l = 0; l < 8; l++) b[i] += q[l][i];", None, None),
        ("for (int l = 0; l < 8; l++) q[l][i] = q[l][7 - i] + 1;", None, None),
        (SWEEP, "N403", "N403"),
        ("b[i] = 0; for (int l = 0; l < 8; l++) b[i + 1] += q[l][i];", "N403", "N320"),
        ("a[0] = i; for (int l = 0; l < 2; l++) b[i + l] = a[0];", "N403", "N320"),
    ],
)
def test_iterations_side_by_side(body: str, side_by_side: str | None, inside: str | None, tmp_path: Path) -> None:
    """An ``ilp`` loop is the innermost one, an unrolled one stays; *inside*: where the script puts it there."""
    loop = f"for (int e = 0; e < n; e++) for (int i = 0; i < 4; i++) {{ {body} }}"
    codes = {tag: said(tmp_path, loop, lambda kernel, tag=tag: lp.tag_inames(kernel, {"i": tag}))
             for tag in ("ilp.unr", "ilp.seq", "unr")}  # fmt: skip
    assert codes == {"ilp.unr": side_by_side, "ilp.seq": side_by_side, "unr": None}
    if "l++" in body:
        for tag in ("ilp.unr", "ilp.seq"):
            order = lambda kernel, tag=tag: lp.prioritize_loops(lp.tag_inames(kernel, {"i": tag}), "l, i")  # noqa: E731
            assert said(tmp_path, loop, order) == inside


# ------------------------------------------------------------------------------------------- parallel in sequential


@pytest.mark.parametrize(
    ("loop", "code"),
    [
        ("for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) a[i] = a[i] + t;", None),
        ("for (int t = 0; t < m; t++) for (int i = 1; i < n; i++) a[i] = a[i - 1] + t;", "N403"),
        (SIBLINGS.format("m", "b[j] = a[j];", "a[i] = b[i];"), None),
        (SIBLINGS.format("m", "b[j] = a[j];", "a[i] = b[i - 1];"), "N403"),
    ],
)
@pytest.mark.parametrize("axis", ["g.0", "l.0"])
def test_a_parallel_loop_in_a_sequential_one(loop: str, code: str | None, axis: str, tmp_path: Path) -> None:
    def script(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
        inner = {iname for iname in kernel.default_entrypoint.all_inames() if iname in ("i", "j")}
        return without_waiting(lp.tag_inames(kernel, dict.fromkeys(inner, axis)))

    assert said(tmp_path, loop, script) == code
