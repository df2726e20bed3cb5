"""Write the pages that are made from the code: settings.md and codes.md.  Run `python docs/generate.py`.

`tests/docs/test_generated.py` fails where a page is not what this would write.
"""

from __future__ import annotations

from pathlib import Path

from nomp import config
from nomp.driver import explain

DOCS = Path(__file__).parent

GROUPS = {
    "N1": "Pragmas", "N2": "C source", "N3": "Transform and annotation scripts", "N4": "Schedules",
    "N5": "Compilers and devices", "N6": "The running program", "N8": "Options",
}  # fmt: skip


def settings_page() -> str:
    """The table of settings, with what stands around it."""
    return f"""# Settings

A setting is an environment variable, an option of the compiled program (`./program --nomp-device 1`, read by `init`),
or a line under `[tool.nomp]` in the nearest `pyproject.toml`. The environment wins over the option, the option over the
file.

{config.markdown_table().strip()}
"""


def codes_page() -> str:
    """All codes with their titles, by group."""
    lines = ["# Codes", "", "`nomp explain CODE` prints a code's page: what it means, a wrong example, a right one."]
    for prefix, title in GROUPS.items():
        codes = [code for code in explain.all_codes() if code.startswith(prefix)]
        lines += ["", f"## {title}", "", *(f"- `{code}` {explain.title(code)}" for code in codes)]
    return "\n".join(lines) + "\n"


PAGES = {"settings.md": settings_page, "codes.md": codes_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
