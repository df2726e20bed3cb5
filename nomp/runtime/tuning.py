"""The choices that a program's kernels are compiled with, where their scripts leave some open.

In: a launch of such a kernel.  Out: what has been measured to be the fastest; if the settings ask for it, after a
search (`runtime.tuner`), and the plan of the same launch with what that has found.  Made by `runtime.session`, called
by `runtime.kernel`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.region import Region
from nomp.runtime.failure import driver_errors
from nomp.tuning.database import Choices, Database, Key, Result, described, digest, size_class

if TYPE_CHECKING:
    from nomp.runtime.kernel import Context, Kernel
    from nomp.runtime.plan import Plan


class Tuning:
    """The choices of a program's kernels: those of the database, and, if the settings ask for it, better ones."""

    def __init__(self, settings: Settings, device: DeviceInfo, database: Database) -> None:
        self._settings, self._device, self._database = settings, device, database
        self._tried: dict[Key, Choices] = {}  # what is used whatever the database says
        self._best: dict[Key, Choices] = {}
        self.results: dict[Key, Result] = {}  # of all that has been launched and could be tuned
        self._digests: dict[int, tuple[Region, str]] = {}  # with the regions, so that they keep their numbers
        self._files = {name for name in settings.tune_files.split(":") if name}

    def choices(self, region: Region, scalars: Mapping[str, Number]) -> Choices:
        """What a launch of *region* with *scalars* is compiled with."""
        if not (region.clauses.transforms or (self._settings.annotations_script and region.clauses.annotations)):
            return ()
        found = self._key(region, scalars)
        if found in self._tried:
            return self._tried[found]
        if found not in self._best:
            self._best[found] = () if self._is_asked(region) else self._database.best(found)
        return self._best[found]

    def tune(self, kernel: Kernel, context: Context, plan: Plan, addresses: Sequence[int]) -> Plan:
        """The plan for the launch of *plan*, after tuning, if the settings ask for it."""
        if plan.program is None or not plan.program.space or not self._is_asked(kernel.region):
            return plan
        scalars = kernel.values(addresses)
        found = self._key(kernel.region, scalars)
        if found in self.results:
            return plan
        from nomp.runtime.tuner import Search, Task  # with numpy, which programs that only use results start without

        self.results[found] = Result(found.device, found.sizes)
        if self._settings.tune_seen is not None:
            with contextlib.suppress(OSError):  # for the sake of a message: `nomp tune` may have gone
                (self._settings.tune_seen / found.name).touch()
        try:
            with driver_errors(f"tuning '{kernel.region.name}'", kernel.span):
                Search(kernel, context, addresses, partial(self._tried.__setitem__, found)).run(
                    Task(found, scalars, plan.program.space, self._settings, self._database)
                )
        finally:
            self._tried.pop(found, None)
        self.results[found] = self._database.result(found)
        self._best[found] = self._database.best(found)
        return kernel.planned_anew(context, addresses)

    def _key(self, region: Region, scalars: Mapping[str, Number]) -> Key:
        if id(region) not in self._digests:
            self._digests[id(region)] = region, digest(region, self._settings.annotations_script)
        _, found = self._digests[id(region)]
        return Key(region.name, found, described(self._device), size_class(region, scalars))

    def _is_asked(self, region: Region) -> bool:
        return self._settings.tune != "off" and (not self._files or region.file in self._files)
