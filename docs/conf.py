"""Sphinx's configuration: `make docs`.  The pages are Markdown; what they show is run by ``tests/docs``.

The pages of codes (``nomp/codes``) are copied here while the documentation is built, and listed under ``codes``.
"""

from __future__ import annotations

import re
import shutil
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CODES = HERE / "codes"

project = "nomp"
author = copyright = "the nomp authors"
version = release = version_of("nomp")

extensions = ["myst_parser"]
myst_heading_anchors = 2
exclude_patterns = ["*.py"]

html_theme = "pydata_sphinx_theme"
html_title = "nomp"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False, "navbar_center": [], "footer_end": []}
html_sidebars = {"**": ["globaltoc.html"]}


def setup(app: Any) -> None:
    """Sphinx calls it."""
    app.connect("builder-inited", copy_codes)
    app.connect("source-read", finish)


def copy_codes(app: Any) -> None:
    """Have the pages of codes among the documents."""
    shutil.rmtree(CODES, ignore_errors=True)
    CODES.mkdir()
    for page in (HERE.parent / "nomp" / "codes").glob("*.md"):
        shutil.copy(page, CODES)


def finish(app: Any, name: str, text: list[str]) -> None:
    """The page of codes lists them; what leads to a folder of the repository is text where only its documents are."""
    text[0] = re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text[0])
    if name == "codes":
        text[0] += "\n```{toctree}\n:hidden:\n:glob:\n\ncodes/*\n```\n"
