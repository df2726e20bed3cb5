"""The examples of the codes that are about Python: the wrong one gives that code, the right one runs as Python does."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nomp.diagnostics import NompError

CODES = Path(__file__).parents[2] / "nomp" / "codes"
PAGES = {file.stem: file.read_text() for file in sorted(CODES.glob("*.md"))}
PYTHON = sorted(code for code, text in PAGES.items() if "```python\n" in text and code[:2] in ("N2", "N6"))


def run(load: Callable[[str], ModuleType], example: str, *, jit: bool = True) -> list[np.ndarray]:
    """The arrays *a* and *b* after *example*."""
    decorator = "@nomp.jit\n" if jit and "nomp.kernel" not in example else ""
    module = load(f"{decorator}def f(n, a, b):\n{textwrap.indent(example, '    ')}")
    arrays = [np.linspace(0.0, 3.0, 10), np.linspace(1.0, 9.0, 10)]
    module.f(10, *arrays)
    return arrays


@pytest.mark.slow
@pytest.mark.parametrize("code", PYTHON)
def test_examples(code: str, load: Callable[[str], ModuleType], capfd: pytest.CaptureFixture[str],
                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("NOMP_VERBOSE", "3")
    wrong, right = re.findall(r"```python\n(.*?)```", PAGES[code], re.DOTALL)
    if code == "N631":
        run(load, wrong)
        assert "[N631]" in capfd.readouterr().err
    else:
        with pytest.raises(NompError) as caught:
            run(load, wrong)
        assert {found.code for found in caught.value.diagnostics} == {code}
    plain = run(load, right, jit=False) if "#pragma" in right and "update" not in right else None
    ours = run(load, right)
    assert "[N631]" not in capfd.readouterr().err or code != "N631"
    if plain is not None:
        assert all(np.array_equal(one, other) for one, other in zip(ours, plain, strict=True))
