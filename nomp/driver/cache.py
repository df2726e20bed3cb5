"""``nomp cache``: what the kernel cache holds, and how to empty it.

In: a verb and, for ``show``, the beginning of a key.  Out: text on stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence

from nomp import cache, config
from nomp.cache_entries import Entries, Entry
from nomp.diagnostics import error

_DESCRIPTION = "Look into the kernel cache, or empty it."


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp cache``.  `NompError` N533 if there is no such entry, or no cache."""
    parser = argparse.ArgumentParser(prog="nomp cache", description=_DESCRIPTION)
    verbs = parser.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True)
    verbs.add_parser("ls", help="the entries, the one used last first: key, kind, size, last use, kernel")
    show = verbs.add_parser("show", help="what an entry was made from, and its source")
    show.add_argument("key", help="the beginning of its key")
    verbs.add_parser("clear", help="remove everything")
    verbs.add_parser("path", help="the folder")
    options = parser.parse_args(arguments)
    entries = _entries()
    actions: dict[str, Callable[[], None]] = {
        "ls": lambda: _list(entries), "show": lambda: _show(entries, options.key),
        "clear": lambda: _clear(entries), "path": lambda: print(entries.folder),
    }  # fmt: skip
    actions[options.verb]()
    return 0


def _entries() -> Entries:
    folder = cache.folder_of(config.load())
    if folder is None:
        raise error("N533", "there is no kernel cache: this user has no home", help="set NOMP_CACHE_DIR to a folder")
    return Entries(folder, frozenset({os.geteuid()}))


def _list(entries: Entries) -> None:
    for entry in entries:
        age = _age(time.time() - entry.used)
        kind, kernel = entry.words["kind"], entry.words["kernel"]
        print(f"{entry.key[:12]}  {kind:8}  {entry.size:9}  {age:>5}  {kernel}")


def _age(seconds: float) -> str:
    """*seconds* in the largest unit of which there is one."""
    units = (("d", 86400), ("h", 3600), ("min", 60))
    return next((f"{int(seconds // size)} {unit}" for unit, size in units if seconds >= size), "now")


def _show(entries: Entries, key: str) -> None:
    found = [entry for entry in entries if entry.key.startswith(key)]
    if len(found) != 1:
        what = "no entry's key begins" if not found else f"the keys of {len(found)} entries begin"
        raise error("N533", f"{what} with '{key}'", help="nomp cache ls lists them")
    print(_described(found[0]))


def _described(entry: Entry) -> str:
    inputs = {name: value for name, value in entry.inputs.items() if name != "region"}  # which is long, and no news
    parts = [str(entry.folder), json.dumps(inputs, indent=1)]
    parts += [file.read_text(encoding="utf-8") for file in sorted(entry.folder.glob("kernel.*"))]
    return "\n".join(parts)


def _clear(entries: Entries) -> None:
    try:
        entries.clear()
    except OSError as reason:
        step = "remove the folder by hand, or as the user whose it is"
        raise error("N533", f"the kernel cache cannot be emptied: {reason}", help=step) from reason
