"""The domain of spectral elements: right for each order, on both kinds of device, and refused where it does not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from both import GPU, Loop
from quick import first_of

from nomp import pipeline
from nomp.config import Settings
from nomp.diagnostics import NompError

DOMAIN = Settings(annotations_script="sem")
WORDS = 'annotate("loop", "element") annotate("dof", "i j k") jit(n)'
BODY = """{
    double ur[n][n][n], us[n][n][n], ut[n][n][n];
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          double r = 0, s = 0, t = 0;
          for (int l = 0; l < n; l++) {
            r += d[i][l] * u[e][k][j][l];
            s += d[j][l] * u[e][k][l][i];
            t += d[k][l] * u[e][l][j][i];
          }
          ur[k][j][i] = g[e][k][j][i] * r + s;
          us[k][j][i] = g[e][k][j][i] * s + t;
          ut[k][j][i] = g[e][k][j][i] * t + r;
        }
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
          double sum = 0;
          for (int l = 0; l < n; l++)
            sum += d[l][i] * ur[k][j][l] + d[l][j] * us[k][l][i] + d[l][k] * ut[l][j][i];
          w[e][k][j][i] = sum;
        }
  }"""
TEXT = """void f(int m, int n, double w[m][n][n][n], double u[m][n][n][n], double g[m][n][n][n], double d[n][n]) {
#pragma nomp for %s
  for (int e = 0; e < m; e++) %s
}
"""
FLAT = """void f(int m, int n, double w[m][n][n], double u[m][n][n], double d[n][n]) {
#pragma nomp for annotate("loop", "element") annotate("dof", "i j") jit(n)
  for (int e = 0; e < m; e++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int l = 0; l < n; l++)
          sum += d[i][l] * u[e][j][l] + d[j][l] * u[e][l][i];
        w[e][j][i] = sum;
      }
}
"""


def operator(folder: Path, m: int, n: int, words: str = WORDS, body: str = BODY, **choices: int | str) -> Loop:
    random = np.random.default_rng(7)
    nodes = {name: random.random((m, n, n, n)) for name in "wug"}
    values = {"m": m, "n": n, **nodes, "d": random.random((n, n))}
    return Loop(folder, TEXT % (words, body), values, DOMAIN, tuple(choices.items()))


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(3, 2), (2, 5)])
def test_the_operator(m: int, n: int, tmp_path: Path) -> None:
    operator(tmp_path, m, n).agree()


@pytest.mark.slow
@pytest.mark.parametrize("choices", [{"elements": 1}, {"elements": 2}, {"third": "memory"}, {"loads": "late"}])
def test_choices(choices: dict[str, int | str], tmp_path: Path) -> None:
    operator(tmp_path, 5, 4, **choices).agree()


@pytest.mark.slow
def test_elements_of_two_directions(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    nodes = {name: random.random((5, 4, 4)) for name in "wu"}
    Loop(tmp_path, FLAT, {"m": 5, "n": 4, **nodes, "d": random.random((4, 4))}, DOMAIN).agree()


@pytest.mark.slow
def test_the_kernel_for_a_gpu(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    golden("transforms/sem.cu", operator(tmp_path, 3, 8).cuda())


@pytest.mark.parametrize("shares", first_of([2, 1, 8]))
def test_shares_of_a_cpu(shares: int, tmp_path: Path) -> None:
    """Whatever the words say that come after the one that makes the schedule."""
    assert operator(tmp_path, 64, 4, shares=shares).shares() == shares


@pytest.mark.slow
def test_loops_over_nodes_are_left_to_nomp(tmp_path: Path) -> None:
    pragma = '#pragma nomp for annotate("loop", "node")'
    text = f"void f(int m, double *u) {{\n{pragma}\nfor (int i = 0; i < m; i++) u[i] *= 2;\n}}\n"
    Loop(tmp_path, text, {"m": 100, "u": np.arange(100.0)}, DOMAIN).agree()
    assert Loop(tmp_path, text, {"m": 9000, "u": np.zeros(9000)}, DOMAIN, (("shares", 2),)).shares() == 2


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ('annotate("loop", "element") jit(n)', 'needs annotate("dof", "i j k")'),
        ('annotate("loop", "element") annotate("dof", "i j q") jit(n)', "there is no loop 'q'"),
        ('annotate("loop", "element") annotate("dof", "i i k") jit(n)', "a loop is named twice in 'i i k'"),
        ('annotate("loop", "element") annotate("dof", "i") jit(n)', "two directions or three"),
        ('annotate("loop", "elements") annotate("dof", "i j k") jit(n)', "'elements' is no loop of spectral elements"),
    ],
)
def test_what_does_not_fit(words: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(NompError) as caught:
        operator(tmp_path, 2, 4, words).cuda()
    assert caught.value.code == "N311" and wrong in str(caught.value)


def test_sizes_must_be_known(tmp_path: Path) -> None:
    values = {"m": 5, "n": 4, **dict.fromkeys("wud", np.zeros(1))}
    with pytest.raises(NompError, match=r"how many iterations loop 'i' has is not known .*: name n in jit\(\)"):
        Loop(tmp_path, FLAT.replace("jit(n)", ""), values, DOMAIN).cuda()


def test_a_plane_must_fit_a_group(tmp_path: Path) -> None:
    with pytest.raises(NompError, match="a plane of 40 by 40 nodes is more than a group has items"):
        operator(tmp_path, 2, 40).cuda()


@pytest.mark.slow
def test_memory_of_groups(tmp_path: Path) -> None:
    """What items read together is copied to their memory as long as it fits; what they share must."""
    code = operator(tmp_path, 2, 13).cuda()
    assert "ur[13 * 13 * 13]" in code and "d_here" in code and "u_here" not in code
    with pytest.raises(NompError, match="a group needs 65536 bytes of local memory, and has 49152"):
        operator(tmp_path, 2, 16).cuda()


@pytest.mark.slow
def test_numbers_that_are_loaded_early(tmp_path: Path) -> None:
    """As many as registers hold; and CUDA's compiler is told how many groups need some."""
    code = operator(tmp_path, 2, 8, body=BODY.replace("g[e][k]", "g[2 * e][k]")).cuda()
    assert "__launch_bounds__(64, 9)" in code and "g_mine[8]" in code
    assert "g_mine" not in operator(tmp_path, 2, 8, loads="late").cuda()
    assert "g_mine" not in operator(tmp_path, 2, 8, third="memory").cuda()


def test_what_only_a_launch_tells(tmp_path: Path) -> None:
    with pytest.raises(NompError, match="only a launch tells n, on which the iterations of loop 'i' depend"):
        pipeline.emit_source(operator(tmp_path, 2, 4).region, GPU, DOMAIN)


@pytest.mark.slow
def test_a_word_that_the_domain_does_not_have(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    loop = operator(tmp_path, 2, 4, WORDS.replace('"dof"', '"dofs"') + ' annotate("dof", "i j k")')
    _, warnings = pipeline.compile(loop.region, GPU, loop.jit(), loop.variant, loop.settings)
    golden("transforms/N312.txt", "\n".join(w.render() for w in warnings).replace(f"{tmp_path}/", ""))
