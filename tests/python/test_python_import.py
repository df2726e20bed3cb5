"""What `import nomp` brings, and functions that are in no file."""

from __future__ import annotations

import ast
import importlib
import linecache
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nomp
from nomp.frontend import python, python_pragmas, python_source


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


@pytest.mark.parametrize("odd", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_what_ends_no_line_for_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str) -> None:
    """Lines are counted as Python counts them: one more would move each pragma."""
    name = f"odd_{ord(odd):x}"
    text = f"import nomp\nTEXT = '{odd}'  # {odd}\n@nomp.jit\ndef f(a):\n    '''{odd}\n{odd}'''\n"
    text += "    #pragma nomp for\n    for i in range(len(a)):\n        a[i] = b[i]\n"
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(name)
    module.b = []
    with pytest.raises(nomp.NompError) as caught:
        module.f(np.zeros(3))
    assert f"{name}.py:9:16: error: " in str(caught.value) and "\n    9 |         a[i] = b[i]\n" in str(caught.value)
    module.b, a = np.arange(3.0), np.zeros(3)
    module.f(a)
    assert a.tolist() == [0, 1, 2]
    nomp.finalize()


def test_each_function_is_compiled_by_itself(tmp_path: Path) -> None:
    """A file's text is looked through once, and only what a function stands in is compiled with it."""
    one = "def f{0}(a):\n    #pragma nomp for\n    for i in range(len(a)):\n        a[i] = {0}\n"
    inside = "class C:\n    def outer(self, k):\n        def g(a):\n            #pragma nomp for\n"
    inside += "            for i in range(len(a)):\n                a[i] = k\n        return nomp.jit(g)\n"
    text = "from __future__ import annotations\nimport nomp\n" + "".join(one.format(k) for k in range(20)) + inside
    source = python_source.parsed(str(tmp_path / "many.py"), text)
    before = python_pragmas._comments.cache_info().misses
    functions = [node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef) and node.name != "outer"]
    for node in functions:
        program = python.rewritten(source, node)
        flags, holds = program.tree.body
        assert isinstance(flags, ast.ImportFrom) and holds.lineno <= node.lineno <= (holds.end_lineno or 0)
        assert len(program.loops) == 1
    assert len(python.rewritten(source).loops) == len(functions) == 21
    assert python_pragmas._comments.cache_info().misses == before + 1
