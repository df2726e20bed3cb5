"""Notebooks: `%nomp` and `%%nomp`, run by Jupyter without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import nbformat
import pytest
from nbclient import NotebookClient

SUMS = """%%nomp
total = 0
#pragma nomp for
for i in range(len(a)):
    a[i] = a[i] * factor
    total += i
total, a.sum(), i"""
FUNCTION = """%%nomp
import nomp

@nomp.jit
def twice(a):
    #pragma nomp for
    for i in range(len(a)):
        a[i] *= 2

twice(a)
a[1];"""
C = """%%nomp c reduce("s", "+") name("sum_up")
void total_of(int n, const double *a, double *s) {
  for (int i = 0; i < n; i++) s[0] += a[i];
}"""
CELLS = [
    "%load_ext nomp", "%nomp backend=opencl", "import numpy as np\na = np.arange(10.0)\nfactor = 3", SUMS, FUNCTION,
    "twice(a)\nprint(a[1], 'become' in twice.explain())", C, "s = np.zeros(1)\nsum_up(10, a, s)\ns[0]",
]  # fmt: skip
WRONG = [
    "%%nomp\n\n#pragma nomp for\nfor i in range(3):\n    print(i)",
    "%%nomp c\nvoid f(int *a) {\n  a[0] = g;\n}",
    "%%nomp c reduse(s)\nvoid f(int *a) { a[0] = 1; }",
    "%%nomp fortran\nend",
    "%nomp devise=1",
]  # fmt: skip


@pytest.mark.slow
def test_cells(golden: Callable[[str, str], None]) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS + WRONG])
    NotebookClient(notebook, kernel_name="python3", timeout=300, allow_errors=True).execute()
    shown = [_shown(cell) for cell in notebook.cells]
    assert re.fullmatch(r"'opencl: .+'", shown[1])
    assert shown[0] == shown[2] == shown[4] == shown[6] == ""
    assert shown[3] == "(45, np.float64(135.0), 9)"
    assert shown[5] == "12.0 True\n"
    assert shown[7] == "np.float64(540.0)"
    golden("python/notebook.txt", re.sub(r"\S*ipykernel_\S*?\.py|<ipython-input\S*>", "CELL", "\n\n".join(shown[8:])))


def _shown(cell: nbformat.NotebookNode) -> str:
    """What stands below *cell*."""
    texts = []
    for output in cell.outputs:
        texts.append({
            "stream": lambda o=output: o.text, "execute_result": lambda o=output: o.data["text/plain"],
            "error": lambda o=output: "\n".join(o.traceback),
        }[output.output_type]())  # fmt: skip
    return "".join(texts)
