"""The fuzzer for Python: random annotated functions must do what they do without nomp.

    python run_python.py [-n PROGRAMS] [-s SEED] [-o FOLDER]

Programs that raise an exception as plain Python are dropped; those that nomp refuses with N2xx, or N402 for arrays that
overlap, are counted by code.  Anything else is a failure: other results, another exception, a refusal of another kind.
Failures are saved in FOLDER.  Exit status 1 if there was one.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from python_loops import Program, generate

from nomp.diagnostics import NompError


def load(program: Program, folder: Path) -> ModuleType:
    """*program* as a module."""
    file = folder / f"python_{program.seed}.py"
    file.write_text(program.text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def attempt(program: Program, folder: Path) -> tuple[str, str]:
    """What became of *program*: ``ok``, ``dropped``, a code, or ``failed`` and why."""
    expected, found = program.arguments, generate(program.seed).arguments
    try:
        function = load(program, folder).f
        with np.errstate(all="ignore"):
            wanted = function.__wrapped__(*expected)
    except NompError as refusal:
        return "failed", str(refusal)
    except (ArithmeticError, ValueError, IndexError, TypeError) as reason:
        return "dropped", str(reason)
    reals = [x.astype(float) for x in expected if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    if not all(np.all(abs(x) < 1e15) for x in reals):
        return "dropped", "numbers that are too large"
    try:
        got = function(*found)
    except NompError as refusal:
        return (refusal.code, "") if refusal.code.startswith(("N2", "N402")) else ("failed", str(refusal))
    except Exception:  # whatever it is, it is a failure of nomp: the plain function raised nothing
        return "failed", traceback.format_exc()
    pairs = [*zip(expected, found, strict=True), *zip(_tuple(wanted), _tuple(got), strict=True)]
    wrong = [
        f"{one!r}\nwithout nomp, and\n{other!r}\nwith it"
        for one, other in pairs
        if not alike(one, other, program.exact)
    ]
    return ("failed", "\n".join(wrong)) if wrong else ("ok", "")


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def alike(one: Any, other: Any, exact: bool) -> bool:
    """Whether two results are the same, as nearly as the program can be computed."""
    if type(one) is not type(other) and not (isinstance(one, float) and isinstance(other, float)):
        return False
    if exact:
        return bool(np.array_equal(one, other, equal_nan=True))
    rtol = {"float16": 1e-2, "float32": 1e-4}.get(str(getattr(one, "dtype", "")), 1e-6)
    return bool(np.allclose(one, other, rtol=rtol, atol=1e-2 if rtol == 1e-2 else 1e-5, equal_nan=True))


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("-s", type=int, default=0)
    parser.add_argument("-o", type=Path, default=Path("build/fuzz"))
    options = parser.parse_args()
    options.o.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="nomp-fuzz-") as folder:
        for seed in range(options.s, options.s + options.n):
            program = generate(seed)
            outcome, reason = attempt(program, Path(folder))
            counts[outcome] += 1
            if outcome == "failed":
                (options.o / f"python_{seed}.py").write_text(f'{program.text}\n"""\n{reason}\n"""\n')
                print(f"seed {seed}: {reason.splitlines()[0] if reason else ''}", file=sys.stderr, flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
