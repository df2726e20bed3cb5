"""The domain of attention on the example's loop; tests/examples runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from both import GPU, USUAL, Loop
from nomp_backends import nvrtc

from nomp import pipeline
from nomp.config import Settings
from nomp.diagnostics import NompError
from nomp.frontend.clang import parse

RANDOM = np.random.default_rng(5)
TILES = """#include <math.h>
enum {{ Q = {queries}, K = {keys}, D = {features} }};
void f(int n, int most, double y[n * Q][D], double x[n * Q][D], double k[][D], double v[][D], int chosen[n][most]) {{
#pragma nomp for annotate("loop", "query group") annotate("query", "q") annotate("feature", "d")
  for (int g = 0; g < n; g++) {{
    double top[Q], weight[Q], old[Q], out[Q][D];
    for (int q = 0; q < Q; q++) {{
      top[q] = -1e300, weight[q] = 0;
      for (int d = 0; d < D; d++)
        out[q][d] = 0;
    }}
    for (int b = 0; b < most; b++) {{
      double keys[K][D], values[K][D], scores[Q][K];
      for (int j = 0; j < K; j++)
        for (int d = 0; d < D; d++)
          keys[j][d] = k[chosen[g][b] * K + j][d], values[j][d] = v[chosen[g][b] * K + j][d];
      for (int q = 0; q < Q; q++)
        for (int j = 0; j < K; j++) {{
          double score = 0;
          for (int d = 0; d < D; d++)
            score += x[g * Q + q][d] * keys[j][d];
          scores[q][j] = score;
        }}
      for (int q = 0; q < Q; q++) {{
        double higher = top[q], sum = 0;
        for (int j = 0; j < K; j++)
          higher = fmax(higher, scores[q][j]);
        for (int j = 0; j < K; j++) {{
          scores[q][j] = exp(scores[q][j] - higher);
          sum += scores[q][j];
        }}
        old[q] = exp(top[q] - higher);
        weight[q] = weight[q] * old[q] + sum;
        top[q] = higher;
      }}
      for (int q = 0; q < Q; q++) {{
        for (int d = 0; d < D; d++)
          out[q][d] *= old[q];
        for (int j = 0; j < K; j++)
          for (int d = 0; d < D; d++)
            out[q][d] += scores[q][j] * values[j][d];
      }}
    }}
    for (int q = 0; q < Q; q++)
      for (int d = 0; d < D; d++)
        y[g * Q + q][d] = out[q][d] / weight[q];
  }}
}}
"""
SIZES = [(16, 8, 32), (32, 16, 64), (24, 8, 32), (16, 12, 32), (64, 32, 64)]
"""Queries, keys and features: those of one item, of several, of rows of 8 items, and numbers that are not for tiles."""


def attention(folder: Path, queries: int, keys: int, features: int, *choices: tuple[str, str | int]) -> Loop:
    """A group's scores, weights and results in loops of their own, for three groups that look at two blocks of five."""
    shapes = {"y": (3 * queries, features), "x": (3 * queries, features)}
    shapes |= dict.fromkeys("kv", (5 * keys, features))
    values = {"n": 3, "most": 2, **{name: RANDOM.random(shape) for name, shape in shapes.items()}}
    values["chosen"] = RANDOM.integers(0, 5, (3, 2)).astype(np.int32)
    text = TILES.format(queries=queries, keys=keys, features=features)
    return Loop(folder, text, values, Settings(annotations_script="attention"), choices)


SOURCE = (Path(__file__).parents[2] / "examples" / "05_attention" / "attention.c").read_text()


def cuda(folder: Path, text: str) -> str:
    """The CUDA C++ for the loop in *text*; whatever launches have, it is proven to be right."""
    file = folder / "attention.c"
    file.write_text(text)
    (region,) = (d.region for found in parse(str(file), ()) for d in found.directives if d.region)
    source, warnings = pipeline.compile(region, GPU, {}, USUAL, Settings(annotations_script="attention"))
    assert warnings == () and source.schedule is None
    assert nvrtc.compiled(source.text, "sm_90").startswith(b"\x7fELF")
    return source.text[source.text.index("extern") :]


@pytest.mark.slow
def test_the_kernel_for_a_gpu(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    golden("transforms/attention.cu", cuda(tmp_path, SOURCE))


@pytest.mark.slow
def test_tiles(tmp_path: Path) -> None:
    """No golden file: the order of what loopy unrolls changes from run to run.  Rows in memory are padded."""
    code = attention(tmp_path, *SIZES[1]).cuda()
    for piece in (
        "__launch_bounds__(128, 1)",
        "double score[2 * 2];",
        "double out[2 * 2 * 4];",
        "double top;",
        "__shared__ double x_here[32 * 68];",
        "__shared__ double keys[16 * 68];",
        "__shared__ double scores[32 * 20];",
        "score[3] = score[3] + x_here[68 * (16 + tIdx(y)) + d__] * keys[68 * (8 + tIdx(x)) + d__];",
        "out[15] = out[15] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 3];",
    ):
        assert piece in code, piece


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "choices"),
    [(SIZES[4], [("queries", "items")]), (SIZES[3], []), ((12, 8, 32), [])],
)
def test_where_a_query_is_an_item(
    sizes: tuple[int, int, int], choices: list[tuple[str, str | int]], tmp_path: Path
) -> None:
    """If the tuner says so, or numbers do not suit tiles."""
    assert "__shared__ double scores[" not in attention(tmp_path, *sizes, *choices).cuda()


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('annotate("query", "q") ', "", 'needs annotate("query", ...), the counter of a group\'s queries'),
        ('"feature", "d"', '"feature", "f"', "there is no loop 'f'"),
        ('"query group"', '"query"', "'query' is no loop of attention: what the loop goes over: query group"),
        ("QUERIES = 64", "QUERIES = 4096", "4096 queries are more than a group has items"),
    ],
)
def test_what_does_not_fit(old: str, new: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(NompError) as caught:
        cuda(tmp_path, SOURCE.replace(old, new))
    assert caught.value.code == "N311" and wrong in caught.value.diagnostics[0].message
