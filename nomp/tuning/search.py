"""Which choices to try next.

In: a space, the parameters of a kernel's scripts with their values, and what has been tried already.  Out: choices, one
after the other, the scripts' own first; none twice.  Called by `runtime.tuner`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from nomp.diagnostics import error
from nomp.tuning.database import Choices, Point, Trial, ordered

Space = Mapping[str, tuple[int | float | str, ...]]

SAMPLERS = ("auto", "exhaustive", "random", "tpe")


def size(space: Space) -> int:
    """How many choices there are."""
    return prod(len(values) for values in space.values())


def fits(space: Space, choices: Mapping[str, Any]) -> bool:
    """Whether *choices* are of *space*, and not of what the scripts offered at another time."""
    return choices.keys() == space.keys() and all(value in space[name] for name, value in choices.items())


def left(space: Space, most: int, trials: Iterable[Trial]) -> int:
    """How many choices are to be tried yet, if *most* are."""
    return max(0, min(most, size(space)) - len(_known(space, trials)))


def _known(space: Space, trials: Iterable[Trial]) -> set[Choices]:
    """The choices of *space* that have been tried."""
    return {ordered(trial.choices) for trial in trials if fits(space, trial.choices)}


def points(space: Space, sampler: str, most: int, trials: list[Trial]) -> Iterator[Point]:
    """Up to *most* choices that are not in *trials*, to which the caller adds each one before it asks for the next.

    *sampler* is one of `SAMPLERS`: ``auto`` tries all where these are no more than *most*, else as Optuna says where
    that is installed, else at random.  Raises N703 for ``tpe`` without Optuna.
    """
    known = _known(space, trials)
    for point in _ordered(space, _chosen(space, sampler, most), trials):
        if len(known) >= min(most, size(space)):
            return
        if ordered(point) not in known:
            known.add(ordered(point))
            yield point


def ahead(space: Space, sampler: str, most: int, trials: Sequence[Trial]) -> list[Point]:
    """Those of these `points` that are known already, whatever will be measured."""
    return [] if _chosen(space, sampler, most) == "tpe" else list(points(space, sampler, most, list(trials)))


def _chosen(space: Space, sampler: str, most: int) -> str:
    if sampler != "auto":
        return sampler
    return "exhaustive" if size(space) <= most else "tpe" if _optuna() else "random"


def _ordered(space: Space, sampler: str, trials: list[Trial]) -> Iterator[Point]:
    """Choices of *space* in the order of *sampler*, some of them several times; those that scripts would make first."""
    yield {name: values[0] for name, values in space.items()}
    if sampler == "tpe":
        yield from _by_optuna(space, trials)
    elif sampler == "random":
        yield from _at_random(space)
    yield from (dict(zip(space, values, strict=True)) for values in product(*space.values()))


def _at_random(space: Space) -> Iterator[Point]:
    """The same order in each run, so that a search can go on."""
    generator = random.Random(0)
    for _ in range(20 * size(space)):
        yield {name: generator.choice(values) for name, values in space.items()}


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        return None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _by_optuna(space: Space, trials: list[Trial]) -> Iterator[Point]:
    """What Optuna's tree-structured Parzen estimator proposes, from all that has been tried."""
    optuna = _optuna()
    if optuna is None:
        raise error("N703", "Optuna is not installed", help="pip install 'nomp[tune]', or choose another sampler")
    forms = {name: optuna.distributions.CategoricalDistribution(values) for name, values in space.items()}
    for number in range(20 * size(space)):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=number, n_startup_trials=8))
        study.add_trials(_told(optuna, forms, [trial for trial in trials if fits(space, trial.choices)]))
        yield dict(study.ask(forms).params)


def _told(optuna: Any, forms: Mapping[str, Any], trials: Sequence[Trial]) -> list[Any]:
    """*trials* as Optuna has them; those that were skipped are worse than all others."""
    worst = 10 * max((trial.microseconds or 0.1 for trial in trials), default=0.1)
    return [
        optuna.trial.create_trial(params=dict(trial.choices), distributions=forms, value=trial.microseconds or worst)
        for trial in trials
    ]
