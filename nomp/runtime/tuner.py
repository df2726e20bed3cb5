"""The search for a kernel's fastest choices on the program's own data: each is run, compared and timed.

In: a kernel, a launch's addresses, and a `Task`.  Out: what was measured, in the database; a line on stderr.  Called by
`runtime.tuning`, before the launch itself.

A choice is left out if its kernel is refused, cannot be proven to be right or does not compile, if its launch fails,
or if it makes something else of the data than the scripts' own choices do, up to rounding (`runtime.comparison`).  All
that a launch may change is given back before each run, and at the end, so that the program notices nothing but the time
that it takes.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from nomp.arithmetic import Number
from nomp.backend import BackendError, Device
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import NompError, error
from nomp.region import Region
from nomp.report.progress import shown
from nomp.runtime.comparison import Made, differences
from nomp.runtime.elements import Bytes, Stretch
from nomp.runtime.kernel import Context, Kernel
from nomp.runtime.plan import Plan
from nomp.runtime.verify import current
from nomp.tuning import ahead, search
from nomp.tuning.database import Choices, Database, Key, Point, Result, Trial, ordered

ROUNDS = 5
"""How often a choice is timed; the median counts."""
LONG_ENOUGH = 2e-3
"""Seconds that a timing takes: launches are repeated until they do."""
HOPELESS = 4.0
"""A choice whose first run takes this many times as long as the best one is not run again."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be tuned: launches of *key*, which have these *scalars*; the choices there are, and what is asked."""

    key: Key
    scalars: Mapping[str, Number]
    space: search.Space
    settings: Settings
    database: Database


class Search:
    """The search for one kernel: *choose* is told what its launches are to be compiled with."""

    def __init__(
        self, kernel: Kernel, context: Context, addresses: Sequence[int], choose: Callable[[Choices], None]
    ) -> None:
        self._kernel, self._addresses, self._choose = kernel, addresses, choose
        self._context = replace(context, compile=self._compile)
        self._compiles = context.compile
        self._job: ahead.Job | None = None
        self._compiled = 0.0

    def _compile(self, region: Region, jit: Mapping[str, Number], variant: Variant) -> DeviceSource:
        """Compile, and remember of what kind that was, and how long it took."""
        self._job = ahead.Job(region, self._context.device.info, jit, variant)
        start = time.perf_counter()
        try:
            return self._compiles(region, jit, variant)
        finally:
            self._compiled = time.perf_counter() - start

    def run(self, task: Task) -> None:
        """Try choices, keep what is measured, and say how it went.  N704 if the database cannot be written."""
        before = task.database.result(task.key).trials
        trials = [trial for trial in before if search.fits(task.space, trial.choices)]
        if len(trials) < len(before):  # else the best may remain one that the scripts do not offer any more
            _keep(task, trials)
        most = min(task.settings.tune_trials, search.size(task.space))
        if not search.left(task.space, most, trials):
            return
        try:
            own = self._planned({name: values[0] for name, values in task.space.items()})
        except NompError as problem:
            print(f"nomp tune: '{task.key.name}' is not tuned: {problem.diagnostics[0].message}", file=sys.stderr)
            return
        saved = Saved(self._kernel.stretches(self._context, own, self._addresses), self._context.device)
        try:
            wanted = self._results(own, saved)
            count = search.left(task.space, most, trials)
            with shown(f"tuning '{task.key.name}'", count) as step, self._ahead(task, most, trials) as compiler:
                for point in search.points(task.space, task.settings.tune, most, trials):
                    if compiler:
                        compiler.before(point)
                    trials.append(self._trial(point, saved, wanted, task, trials))
                    step(_told(trials))
                    _keep(task, trials)
        finally:
            saved.restore()
            saved.release()
        print(f"nomp tune: '{task.key.name}' ({task.key.sizes}): {_told(trials)}", file=sys.stderr)

    def _ahead(
        self, task: Task, most: int, trials: Sequence[Trial]
    ) -> contextlib.AbstractContextManager[ahead.Ahead | None]:
        """What compiles the choices to come, if they are known and what the first took is known."""
        if self._job is None:
            return contextlib.nullcontext()
        points = search.ahead(task.space, task.settings.tune, most, trials)
        return ahead.compiling(self._job, points, self._compiled, task.settings)

    def _planned(self, point: Point) -> Plan:
        self._choose(ordered(point))
        return self._kernel.planned_anew(self._context, self._addresses)

    def _trial(
        self, point: Point, saved: Saved, wanted: list[Bytes], task: Task, before: Sequence[Trial]
    ) -> Trial:
        """What comes of *point*; *wanted* is what the scripts' own choices make of the data."""
        best = min((trial.microseconds for trial in before if trial.microseconds is not None), default=None)
        try:
            plan = self._planned(point)
            made = self._results(plan, saved)
            pairs = zip(saved.stretches, saved.initial, made, wanted, strict=True)
            if found := differences(self._kernel.region, task.scalars, [Made(*pair) for pair in pairs]):
                return Trial(
                    point, skipped=f"other results: {found[0]}".replace("on the host", "by the scripts' choice")
                )
            return Trial(point, round(1e6 * self._time(plan, saved, best), 2))
        except NompError as problem:
            first = problem.diagnostics[0]
            return Trial(point, skipped=f"{first.code}: {first.message}")

    def _results(self, plan: Plan, saved: Saved) -> list[Bytes]:
        """What the launch of *plan* makes of all that it may change."""
        saved.restore()
        self._kernel.carry_out(self._context, plan, self._addresses)
        self._context.device.sync()
        return saved.current()

    def _time(self, plan: Plan, saved: Saved, best: float | None) -> float:
        """Seconds that a launch of *plan* takes; *best* are the microseconds of the fastest so far."""
        first = self._once(plan, saved, 1)
        if best is not None and first > HOPELESS * 1e-6 * best and first > LONG_ENOUGH:
            return first
        repeat = 1 if saved.in_place else max(1, min(200, int(LONG_ENOUGH / max(first, 1e-6))))
        return median(self._once(plan, saved, repeat) for _ in range(ROUNDS))

    def _once(self, plan: Plan, saved: Saved, repeat: int) -> float:
        if saved.in_place:
            saved.restore()
        self._context.device.sync()
        start = time.perf_counter()
        for _ in range(repeat):
            for launch in plan.launches:
                launch.enqueue()
        self._context.device.sync()
        return (time.perf_counter() - start) / repeat


class Saved:
    """What a launch may change, as it was: those of *stretches* that it writes, on the device where they are there.

    *initial* has the bytes of each.
    """

    def __init__(self, stretches: Iterable[Stretch], device: Device) -> None:
        self._device = device
        self.stretches = [s for s in stretches if any(elements.param.writes for elements in s.elements)]
        self.in_place = any(e.param.writes and e.param.reads for s in self.stretches for e in s.elements)
        self.initial = self.current()
        self._copies: list[Any] = []
        try:
            for stretch in self.stretches:
                self._copies.append(self._copied(stretch))
        except BackendError:
            self.release()
            raise

    def _copied(self, stretch: Stretch) -> Any:
        if stretch.buffer is None:
            return None
        copy = self._device.alloc(stretch.end - stretch.start)
        self._device.copy(copy, 0, stretch.buffer, stretch.offset, stretch.end - stretch.start)
        return copy

    def current(self) -> list[Bytes]:
        """The bytes of all stretches now."""
        return [current(stretch, self._device) for stretch in self.stretches]

    def restore(self) -> None:
        """Give everything back."""
        for stretch, copy, initial in zip(self.stretches, self._copies, self.initial, strict=True):
            if copy is None:
                ctypes.memmove(stretch.start, initial.ctypes.data, initial.size)
            else:
                self._device.copy(stretch.buffer, stretch.offset, copy, 0, stretch.end - stretch.start)

    def release(self) -> None:
        """Free the copies."""
        while self._copies:
            if (copy := self._copies.pop()) is not None:
                self._device.free(copy)


def _keep(task: Task, trials: Sequence[Trial]) -> None:
    try:
        task.database.keep(task.key, Result(task.key.device, task.key.sizes, tuple(trials)))
    except OSError as reason:
        step = "set NOMP_TUNING_DIR to a folder that can be written"
        raise error("N704", f"what is measured cannot be kept in {task.database.folder}: {reason}", help=step) from None


def _told(trials: Sequence[Trial]) -> str:
    """How the search stands, in a line."""
    skipped = Counter(trial.skipped.partition(":")[0] for trial in trials if trial.skipped)
    text = f"{len(trials)} tried"
    if skipped:
        text += f", {skipped.total()} of them left out ({', '.join(f'{n} {why}' for why, n in skipped.items())})"
    timed = [trial for trial in trials if trial.microseconds is not None]
    if not timed:
        return text
    best = min(timed, key=lambda trial: trial.microseconds or 0.0)
    chosen = ", ".join(f"{name} = {value}" for name, value in best.choices.items())
    own = f"the scripts' own {timed[0].microseconds:.1f} us" if timed[0] is trials[0] else "the scripts' own fails"
    return f"{text}; best {best.microseconds:.1f} us ({chosen}), {own}"
