"""``nomp explain``: the page of a diagnostic's code, or (`explain_region`) what is done with a loop.

In: a code, as it stands in brackets at the end of a message.  Out: its page of ``nomp/codes``, in Markdown.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from importlib import resources

from nomp.diagnostics import did_you_mean, error

_DESCRIPTION = """Explains what a diagnostic's code means, with an example; without a code: lists all of them. With a
place instead: what is done with the annotated loop there, and why. Options after the place (-I, -D, -std=...) are the
C compiler's."""


def main(arguments: Sequence[str]) -> int:
    """Print the page of a code, the list of codes, or what is done with a loop; the exit status."""
    place = re.fullmatch(r"(.+?):(\d+)(:\d+)?:?", arguments[0]) if arguments else None
    if place:
        from nomp.driver import explain_region

        return explain_region.explain(place[1], int(place[2]), arguments[1:])
    parser = argparse.ArgumentParser(
        prog="nomp explain", usage="%(prog)s [CODE | FILE:LINE [OPTION ...]]", description=_DESCRIPTION
    )
    parser.add_argument("code", nargs="?", metavar="CODE", help="what stands in brackets in a message, as in N101")
    code = parser.parse_args(arguments).code
    titles = "\n".join(f"{code}: {title(code)}" for code in all_codes()) if code is None else ""
    print(titles or explain_code(code).rstrip("\n"))
    return 0


def explain_code(code: str) -> str:
    """The page of *code* (upper or lower case).  Raises `NompError` N805 if there is no such code."""
    codes = all_codes()
    if code.upper() not in codes:
        step = did_you_mean(code.upper(), codes) or "nomp explain, without a code, lists them"
        raise error("N805", f"no code '{code}'", help=step)
    return _page(code.upper())


def all_codes() -> tuple[str, ...]:
    """Every code that has a page, in order."""
    pages = (resources.files("nomp") / "codes").iterdir()
    return tuple(sorted(page.name.removesuffix(".md") for page in pages if page.name.endswith(".md")))


def _page(code: str) -> str:
    return (resources.files("nomp") / "codes" / f"{code}.md").read_text(encoding="utf-8")


def title(code: str) -> str:
    """What *code* means, in a few words."""
    return _page(code).partition("\n")[0].removeprefix(f"# {code}: ")
