"""What `import nomp` brings, and functions that are in no file."""

from __future__ import annotations

import importlib
import linecache
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nomp


def test_importing_nomp_imports_nothing_else() -> None:
    code = "import sys, nomp; print(sorted(m for m in sys.modules if m.split('.')[0] in ('nomp', 'numpy', 'loopy')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['nomp']\n"


def test_names() -> None:
    assert [name for name in nomp.__all__ if getattr(nomp, name, None) is None] == []
    assert dir(nomp) == sorted(nomp.__all__)
    with pytest.raises(AttributeError):
        _ = nomp.nothing


def test_functions_of_a_notebook() -> None:
    text = "@nomp.jit\ndef f(a):\n    #pragma nomp for\n    for i in range(len(a)):\n        a[i] -= 1.0\n"
    name = "<ipython-input-1-0123456789ab>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"nomp": nomp}
    exec(compile(text, name, "exec"), space)
    a = np.zeros(3)
    space["f"](a)  # type: ignore[operator]
    assert a.tolist() == [-1, -1, -1]
    nomp.finalize()


def test_devices() -> None:
    assert any(device.backend == "opencl" for device in nomp.devices())


def test_a_file_that_has_changed_since_it_was_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import nomp\ndef f(a):\n    #pragma nomp for\n    for i in range(len(a)):\n        a[i] = 1.0\n"
    file = tmp_path / "changed_since.py"
    file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("changed_since")
    file.write_text(text.replace("1.0", "2.0"))
    with pytest.raises(nomp.NompError) as caught:
        nomp.jit(module.f)
    assert caught.value.code == "N230" and "any more" in str(caught.value)
