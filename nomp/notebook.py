"""``%load_ext nomp``: nomp in Jupyter and IPython.

In: lines and cells of a notebook.  Out: ``%nomp`` starts nomp, or says which device it uses; ``%%nomp`` runs a cell of
Python with its annotated loops as kernels; ``%%nomp c`` makes a kernel of the function in a cell of C.  IPython calls
`load_ipython_extension` and hands over its shell; nothing of it is imported here.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from typing import Any

from nomp import pragma
from nomp.diagnostics import error, register_source
from nomp.frontend import clang, python, python_source
from nomp.runtime import api, session
from nomp.runtime.c_kernel import Kernel
from nomp.runtime.jit import install

_numbers = itertools.count(1)


def load_ipython_extension(shell: Any) -> None:
    """Give *shell* the magic commands."""

    def magic(line: str, cell: str | None = None) -> Any:
        if cell is None:
            return _line(line)
        words = line.split(maxsplit=1)
        if not words:
            return _python(shell, cell)
        if words[0] != "c":
            step = "write %%nomp for a cell of Python, %%nomp c for one of C"
            raise error("N808", f"'{words[0]}' is no language of %%nomp", help=step)
        return _c(shell, line, cell)

    shell.register_magic_function(magic, "line_cell", "nomp")


def _line(line: str) -> str:
    """``%nomp name=value ...`` starts nomp (again) with these settings.  Which device is in use."""
    settings: dict[str, Any] = dict(word.partition("=")[::2] for word in line.split())
    if settings:
        if session.started():
            api.finalize()
        api.init(**settings)  # which reads text as well
    api.ensure_started()
    device = session.opened().device.info
    return f"{device.backend}: {device.name}"


def _python(shell: Any, cell: str) -> Any:
    """Run *cell*, with its annotated loops launched; the value of an expression in its last line."""
    text = "\n" + shell.transform_cell(cell)  # line 1 is that of the magic command
    file = shell.compile.cache(text, shell.execution_count)
    program = python.rewritten(python_source.parsed(file, text))
    install(shell.user_ns, program.loops).files.add(file)
    body = program.tree.body
    last: Any = body.pop() if body and isinstance(body[-1], ast.Expr) else ast.Expr(ast.Constant(None))
    exec(compile(program.tree, file, "exec", dont_inherit=True), shell.user_ns)
    expression = ast.fix_missing_locations(ast.Expression(last.value))
    value = eval(compile(expression, file, "eval", dont_inherit=True), shell.user_ns)
    return None if text.rstrip().endswith(";") else value


def _c(shell: Any, line: str, cell: str) -> None:
    """Make the function in *cell* a kernel, under its own name; the clauses in *line* are those of a pragma.

    A variable that is reduced is named as in the function (``s[0]``), or by the pointer to it (``s``).
    """
    shown = f"%%nomp {line}"
    register_source(shown, shown)
    start = shown.index("c", len("%%nomp "))
    parsed = pragma.parse(f"nomp for {shown[start + 1 :]}", shown, 1, start + 2 - len("nomp for "))
    clauses = parsed.clauses
    assert clauses is not None
    sums = [r if "[" in r.variable else replace(r, variable=f"{r.variable}[0]") for r in clauses.reductions]
    clauses = replace(clauses, reductions=tuple(sums))
    kernel = Kernel(clang.parse_function("\n" + cell, clauses, f"<cell of C {next(_numbers)}>"))
    shell.user_ns[kernel.region.name] = kernel
