"""The domain of attention on the example's loop; tests/examples runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from both import GPU, USUAL
from nomp_backends import nvrtc

from nomp import pipeline
from nomp.config import Settings
from nomp.diagnostics import NompError
from nomp.frontend.clang import parse

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
