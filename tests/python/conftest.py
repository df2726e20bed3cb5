"""Python programs with pragmas: each test's text becomes a module of its own, in a file."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nomp.runtime import session

_NUMBERS = itertools.count()
HEADER = "import math\nimport numpy as np\nimport nomp\n"

Load = Callable[[str], ModuleType]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """``load(text)`` imports *text*, after the usual imports, as a module; the device is released at the end."""
    names = []

    def make(text: str) -> ModuleType:
        names.append(f"program_{next(_NUMBERS)}")
        file = tmp_path / f"{names[-1]}.py"
        file.write_text(HEADER + textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(names[-1], file)
        assert spec is not None and spec.loader is not None
        module = sys.modules[names[-1]] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield make
    for name in names:
        sys.modules.pop(name, None)
    if session.started():
        session.finalize()
