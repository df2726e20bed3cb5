"""Keep what benchmarks have measured, commit by commit: ``benchmarks/history.jsonl``, a line a case.

    python benchmarks/history.py MEASURED.json

In: what ``benchmarks/cpu.py --json`` wrote.  Out: lines for the commit that is checked out, in the place of earlier
ones for the same commit, machine, kernel and size: the shortest times in seconds, and the ratios to nomp's.
``docs/ratios.py`` draws them.  `make bench` does all of it.  Exit status 1 if the tree is not as it was committed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "benchmarks" / "history.jsonl"
OURS = (HISTORY, ROOT / "docs" / "pictures" / "history.svg")
"""What a measurement changes itself."""


def main(words: list[str]) -> int:
    """Append; the exit status."""
    (measured,) = words
    if changed := _changed():
        print(f"commit first, the times are those of a commit: {', '.join(changed)}", file=sys.stderr)
        return 1
    commit, date = _git("log", "-1", "--format=%h %cs").split()
    new = list(lines(json.loads(Path(measured).read_text(encoding="utf-8")), commit, date))
    HISTORY.write_text("".join(f"{json.dumps(line)}\n" for line in merged(read(HISTORY), new)), encoding="utf-8")
    print(f"{len(new)} lines for {commit}")
    return 0


def lines(measured: dict[str, Any], commit: str, date: str) -> Iterator[dict[str, Any]]:
    """A line for each case of *measured* that went well."""
    machine = {name: text for name, text in measured["machine"].items() if name != "date"}
    for case in measured["cases"]:
        seconds = case["seconds"]
        if not case["wrong"] and "nomp" in seconds:
            ratios = {name: round(time / seconds["nomp"], 4) for name, time in seconds.items() if name != "nomp"}
            yield {"commit": commit, "date": date, "kernel": case["kernel"], "size": case["size"], "seconds": seconds,
                   "ratios": ratios, "machine": ", ".join(machine.values())}  # fmt: skip


def merged(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """*old* lines with the *new* ones behind them, or where there have been such."""
    return list({tuple(line[name] for name in ("commit", "machine", "kernel", "size")): line
                 for line in (*old, *new)}.values())  # fmt: skip


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of *path*, none if it is not there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _changed() -> list[str]:
    """Files that differ from the commit, but those that measuring changes."""
    files = [ROOT / line[3:] for line in _git("status", "--porcelain").splitlines()]
    return [str(file.relative_to(ROOT)) for file in files if file not in OURS]


def _git(*words: str) -> str:
    return subprocess.run(("git", "-C", str(ROOT), *words), check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
