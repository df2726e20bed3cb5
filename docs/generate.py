"""Write settings.md, codes.md and api.md, made from the code, and the pictures.  Run `python docs/generate.py`.

`tests/docs/test_generated.py` fails where a page is not what this would write.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import nomp
from nomp import config
from nomp.capi import INCLUDE
from nomp.driver import explain

DOCS = Path(__file__).parent

GROUPS = {
    "N1": "Pragmas", "N2": "C and Python source", "N3": "Transform and annotation scripts", "N4": "Schedules",
    "N5": "Compilers and devices", "N6": "The running program", "N7": "Tuning", "N8": "Options",
}  # fmt: skip


def settings_page() -> str:
    """The table of settings, with what stands around it."""
    return f"""# Settings

A setting is an environment variable, an option of the compiled program (`./program --nomp-device 1`, read by `init`),
or a line under `[tool.nomp]` in the nearest `pyproject.toml`. The environment wins over the option, the option over the
file.

{config.markdown_table().strip()}

## Verifying kernels

With `verify` every launch of a pragma's kernel is checked against the program: the loop, which `nomp cc` has left in
the program, runs on the host too, from the data that the device holds, and both results are compared [N618]. The same
holds for loops in Python, which run as plain Python.

```sh
NOMP_VERIFY=1 ./program
NOMP_VERIFY=1 python program.py
nomp run --verify program.py
```

The program notices nothing: its arrays and variables are afterwards what the launch has made them, also those that are
stale on the host because their data live on the device. A launch takes as long as the loop on the host and the copying
of its arrays, and others wait for it. Other threads must leave the arrays of a running launch alone, even on the host.
Kernels of `nomp_jit` and `nomp.kernel` have no loop in the program and are not verified, which is said [N619].
"""


def codes_page() -> str:
    """All codes with their titles, by group."""
    lines = ["# Codes", "", "`nomp explain CODE` prints a code's page: what it means, a wrong example, a right one."]
    for prefix, title in GROUPS.items():
        codes = [code for code in explain.all_codes() if code.startswith(prefix)]
        lines += ["", f"## {title}", "", *(f"- `{code}` {explain.title(code)}" for code in codes)]
    return "\n".join(lines) + "\n"


def api_page() -> str:
    """What `import nomp` has, by its docstrings, and ``nomp.h``."""
    lines = ["# The API", "", "What Python and C programs can call, from the sources. [Python](python.md) and [the C "
             "API](c-api.md) show how it is used.", "", "## Python"]  # fmt: skip
    for name in nomp.__all__:
        found = getattr(nomp, name)
        lines += ["", f"### nomp.{name}", ""]
        if inspect.isclass(found):
            lines += [_text(found), "", *_members(found)]
        else:
            lines += [f"`{name}{_arguments(found)}`", "", _text(found)]
    return "\n".join([*lines, "", "## C: nomp.h", "", "```c", (INCLUDE / "nomp.h").read_text().rstrip(), "```", ""])


def _members(found: type) -> Iterator[str]:
    for name, member in vars(found).items():
        if not name.startswith("_") and isinstance(member, property | FunctionType):
            called = _arguments(member) if isinstance(member, FunctionType) else ""
            yield f"- `{name}{called}`: {' '.join(_text(member).split())}"


def _arguments(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return re.sub("<class '([^']*)'>", r"\1", text)  # a default


def _text(found: object) -> str:
    return inspect.getdoc(found) or ""


sys.path.append(str(DOCS))
from pictures import PICTURES  # noqa: E402
from ratios import history  # noqa: E402

PAGES = {"settings.md": settings_page, "codes.md": codes_page, "api.md": api_page,
         "pictures/history.svg": history, **{f"pictures/{name}": draw for name, draw in PICTURES.items()}}  # fmt: skip

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
