"""``nomp.tune``: a Python function tunes the kernels that it launches, on its own data.

In: a function and its arguments.  Out: what it is that has been found for each kernel; the next launches use it.  The
search is that of ``nomp tune`` (`runtime.tuner`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from nomp.diagnostics import Diagnostic, error
from nomp.runtime import api, session
from nomp.runtime.shown import show
from nomp.tuning.database import Result
from nomp.tuning.search import SAMPLERS


@dataclass(frozen=True, slots=True)
class Tuned:
    """What has been found for launches of *kernel* of one class of *sizes*: the fastest *choices*, {} if all failed.

    *microseconds* are the time of a launch with them, *tried* the number of choices that were tried, and *left_out*
    those of them that were refused, failed, or gave other results.
    """

    kernel: str
    sizes: str
    choices: Mapping[str, int | float | str]
    microseconds: float | None
    tried: int
    left_out: int


def tune(
    function: Callable[..., Any], args: Sequence[Any] = (), *, sampler: str = "auto", trials: int = 64,
    folder: str | PathLike[str] | None = None,
) -> tuple[Tuned, ...]:  # fmt: skip
    """Call ``function(*args)`` once, and try for the kernels that it launches what their scripts leave open.

    *sampler* and *trials* are those of ``nomp tune``.  Results are kept in *folder*, or where the settings say, and are
    used from then on; the function does what it always does.  It may raise; a search that is interrupted goes on the
    next time.
    Errors: N602, N703, N704, N802.  Warns: N706 if it launches nothing that could be tuned.
    """
    if sampler not in SAMPLERS:
        raise error("N802", f"'{sampler}' is no sampler", help=f"there are {', '.join(SAMPLERS)}")
    api.ensure_started()
    before = session.settings()
    where = before.tuning_dir if folder is None else Path(folder)
    asked = replace(before, tuning_dir=where, tune=sampler, tune_trials=trials, tune_files="")
    tuning = session.tune(asked)
    if tuning is None:
        step = "give tune(...) a folder, or set NOMP_TUNING_DIR"
        raise error("N704", "there is no folder for what is measured", help=step)
    try:
        function(*args)
    finally:
        if session.started():
            session.tune(replace(before, tuning_dir=where))
    if not tuning.results:
        name = getattr(function, "__name__", "the function")
        step = "tune a function that launches loops whose scripts call context.param"
        message = f"'{name}' has launched no loop that can be tuned"
        show([Diagnostic("N706", message, severity="warning", help=step)], before)
    return tuple(_tuned(key.name, result) for key, result in tuning.results.items())


def _tuned(kernel: str, result: Result) -> Tuned:
    best = result.best
    left_out = sum(bool(trial.skipped) for trial in result.trials)
    choices, time = (best.choices, best.microseconds) if best else ({}, None)
    return Tuned(kernel, result.sizes, choices, time, len(result.trials), left_out)
