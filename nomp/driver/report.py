"""Shows diagnostics on stderr, as text or (``--diagnostics=json``) as one JSON object a line.  Used by every verb."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from nomp.diagnostics import Diagnostic


def show(diagnostics: Iterable[Diagnostic], form: str = "text") -> None:
    """Write *diagnostics* to stderr; *form* is ``text`` or ``json``."""
    for diagnostic in diagnostics:
        print(_json(diagnostic) if form == "json" else diagnostic.render(), file=sys.stderr)


def _json(diagnostic: Diagnostic) -> str:
    import json

    return json.dumps(diagnostic.to_json())
