"""Launching a region: from host addresses to kernels in the device's queue.

In: a `Region` and one host address for each of its parameters.  Out: enqueued kernels, and, once they are done, the
cells and counters that the host reads afterwards.  `runtime.session` keeps one `Kernel` for each region.

What a launch needs follows from the scalars' bytes, the array pointers and where these are mapped.  Where that has been
the same not long ago the plan of that launch is used again, so that a repeated launch, also one of a program that swaps
two arrays, only reads the scalars and enqueues.  Scalars that only the values of elements depend on (time, a factor)
and the buffers of arrays that have been mapped anew may differ: they are put into the plan.  A launch that is repeated
once more is left to C where that can do it (`replay`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nomp.arithmetic import SIZES, Number
from nomp.backend import BackendError, Device
from nomp.cache import Cache
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic, error
from nomp.region import Region
from nomp.report import progress
from nomp.runtime import aliasing, arguments, between, bounds
from nomp.runtime.cells import Cell
from nomp.runtime.decided import Decided, Decisions, in_memory, listed
from nomp.runtime.failure import driver_error, driver_errors
from nomp.runtime.guard import Guard
from nomp.runtime.memory import AddressMap, Entry
from nomp.runtime.plan import Plan, Situation
from nomp.runtime.program import Program, Ready, rebound
from nomp.runtime.replay import Replay, replay
from nomp.runtime.scalars import Scalars
from nomp.runtime.tables import Table

if TYPE_CHECKING:
    from nomp.runtime.elements import Stretch
    from nomp.runtime.recorder import Recorder
    from nomp.runtime.tuning import Tuning
    from nomp.runtime.verify import Trial


@dataclass(frozen=True, slots=True)
class Context:
    """What a launch happens in.

    *compile* makes the source of a region, given its jit values and the variant; *illegal* raises or shows what is
    wrong with a schedule.  *cache* keeps what the device's compiler makes of sources; *recorder*, if there is one,
    measures; *tuning* knows what to choose where scripts leave a choice.
    """

    device: Device
    memory: AddressMap
    compile: Callable[[Region, Mapping[str, Number], Variant], DeviceSource]
    illegal: Callable[[Diagnostic], None]
    cache: Cache = field(default_factory=Cache)
    recorder: Recorder | None = None
    tuning: Tuning | None = None

    def watched(self, name: str) -> Device:
        """The device, for copies of the array *name*."""
        return self.recorder.of_array(name) if self.recorder else self.device

    @contextmanager
    def compiling(self, region: Region) -> Iterator[None]:
        """Around what compiles *region*."""
        recording = self.recorder.compiling(region) if self.recorder else nullcontext()
        with progress.shown(f"compiling '{region.name}'"), recording:
            yield


MAX_PLANS = 16
"""How many plans a kernel keeps; the oldest goes."""


class Kernel:
    """A region, its compiled variants, and the plans of its last launches."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.span = region.span(region.place)
        self._launching = f"launching '{region.name}'"
        places = list(enumerate(region.params))
        self._scalars = Scalars(region)
        self._required = [(i, p) for i, p in places if p.kind != "array"]
        self._arrays = [(i, p) for i, p in places if p.kind in ("array", "table")]
        self._tables = {i: Table(p) for i, p in places if p.kind == "table"}
        self._cells = [Cell(region, i) for i, p in places if p.kind == "cell"]
        self._counters = [(i, p) for i, p in places if p.kind == "counter"]
        self._programs: dict[tuple[tuple[bytes, ...], Variant], Program] = {}
        self._guards: dict[Program, Guard] = {}
        self._decisions = Decisions(region, self._cells, self._counters)
        self._may_alias = aliasing.matters(region)
        self._singles_matter = aliasing.singles_matter(region)
        self._bounds_read = aliasing.read_by_bounds(region)
        self._plans: dict[tuple[Any, ...], Plan] = {}

    def run(self, context: Context, addresses: Sequence[int]) -> Replay | None:
        """Launch with one host address for each parameter.  Out: how to repeat that, if it begins to be repeated.

        Returns when all is enqueued, but waits where there are cells.  Errors: N603, N607 and N616 for arrays,
        N610 for the addresses, N402 for variables and bounds that overlap with arrays, N612 for a division by zero,
        N617 for a counter that wraps around, N309, N403 and N405 for a schedule that is wrong for the scalars, N521 and
        the pipeline's for the first launch of a variant, N611.
        """
        plan = self._plan(context, addresses)
        if context.tuning:
            plan = context.tuning.tune(self, context, plan, addresses)
        self.carry_out(context, plan, addresses)
        return self._replay(context, plan, addresses) if plan.is_repeated(context.memory.version) else None

    def launches(self, context: Context, addresses: Sequence[int]) -> Plan | None:
        """That of a run with these *addresses*, which has just happened; None if it is more than launches."""
        if self._cells or self._counters or self._tables:
            return None
        plan = self._plan(context, addresses)
        return plan if plan in self._plans.values() else None

    def _replay(self, context: Context, plan: Plan, addresses: Sequence[int]) -> Replay | None:
        every = range(len(addresses)) if self._singles_matter else [position for position, _ in self._arrays]
        try:
            made = replay(plan, addresses, set(every), self._scalars, self._cells, context.device, context.memory)
        except BackendError:
            return None  # the launch itself was good, and can be repeated as before
        return context.recorder.labelled(made, self.region, plan.sizes or {}) if made and context.recorder else made

    def attempt(self, context: Context, addresses: Sequence[int]) -> Trial:
        """The same; then the host's memory is what the loop is to start from, for the program to run it there.

        Raises also `Unverifiable`, before anything is launched.
        """
        from nomp.runtime.verify import Trial  # and NumPy, which nothing else needs

        plan = self._plan(context, addresses)
        trial = Trial(self.region, self.values(addresses), self.stretches(context, plan, addresses))
        with driver_errors(self._launching, self.span):
            trial.begin(context.device)
        self.carry_out(context, plan, addresses)
        with driver_errors(self._launching, self.span):
            trial.swap(context.device)
        return trial

    def _plan(self, context: Context, addresses: Sequence[int]) -> Plan:
        arguments.check(self.region, self._required, addresses, self.span)
        decide, loose = self._scalars.read(addresses)
        situation = Situation.of(context.memory, decide, tuple([addresses[i] for i, _ in self._arrays]))
        plan = self._plans.get(situation.key) or self._planned(context, situation, loose)
        if plan.entries != situation.entries and not situation.has_neighbours:
            self._remap(context, plan, situation)
        if plan.loose != loose and plan.program:
            if plan.program.can_rebind:
                new = plan.program.loose(self._scalars.values(decide, loose))
                plan.launches, plan.loose = rebound(plan.launches, new), loose
            else:
                plan = self._planned(context, situation, loose)
        if self._singles_matter and plan.launches and plan.apart != addresses:
            self._check_singles(plan, addresses)
        return plan

    def _remap(self, context: Context, plan: Plan, situation: Situation) -> None:
        """Have *plan* use the buffers of the *situation*'s entries, which are where those of *plan* were."""
        new: dict[tuple[str, str], Any] = {}
        for (_, param), pointer, entry in zip(self._arrays, situation.pointers, situation.entries, strict=True):
            if entry is not None:
                new["buffer", param.name] = arguments.located(self.region, param, pointer, entry, context.device)[0]
        plan.launches, plan.entries = rebound(plan.launches, new), situation.entries

    def planned_anew(self, context: Context, addresses: Sequence[int]) -> Plan:
        """The plan of a launch, where what decides on plans has changed."""
        self._plans.clear()
        return self._plan(context, addresses)

    def values(self, addresses: Sequence[int]) -> dict[str, Number]:
        """The region's scalars at a launch."""
        return self._scalars.values(*self._scalars.read(addresses))

    def stretches(self, context: Context, plan: Plan, addresses: Sequence[int]) -> list[Stretch]:
        """The memory that a launch may touch."""
        return [*self._mapped(plan, addresses), *self._singles(context, plan, addresses)]

    def carry_out(self, context: Context, plan: Plan, addresses: Sequence[int]) -> None:
        """Launch as *plan* says, and write counters."""
        try:  # this is what each launch from Python goes through
            if self._cells or plan.tables or context.recorder:
                self._launch(context, plan, addresses)
            else:
                for launch in plan.launches:
                    launch.enqueue()
            if plan.launches:
                more = self._cells or plan.tables or context.tuning  # copies, and what the tuner tries
                context.memory.overtaking.launched(context.device, None if more else plan.used)
        except BackendError as reason:
            raise driver_error(self._launching, reason, self.span) from reason
        for position, value in plan.counters:
            ctypes.memmove(addresses[position], value, len(value))

    def _planned(self, context: Context, situation: Situation, loose: bytes) -> Plan:
        decide, pointers, entries, before = situation
        scalars, by_data = self._scalars.values(decide, loose), False
        if any(before):
            params = [param for _, param in self._arrays]
            with driver_errors(self._launching, self.span):
                arrays = list(map(between.Pointer, params, pointers, entries, before))
                if between.share(self.region, scalars, arrays, context.memory):
                    situation = decide, pointers, entries, before = Situation.of(context.memory, decide, pointers)
                    arrays = list(map(between.Pointer, params, pointers, entries, before))
                entries, by_data = between.settled(self.region, scalars, arrays, context.device)
        plan = self._prepare(context, scalars, decide, pointers, entries)
        plan.loose = loose
        return plan if by_data else self._remember(situation, plan)

    def _remember(self, situation: Situation, plan: Plan) -> Plan:
        if len(self._plans) >= MAX_PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[situation.key] = plan
        return plan

    def _launch(self, context: Context, plan: Plan, addresses: Sequence[int]) -> None:
        memory = context.memory
        elements = [addresses[c.position] + offset for c, offset in zip(self._cells, plan.cells, strict=True)]
        for cell, element in zip(self._cells, elements, strict=True):
            cell.load(context.watched(cell.param.name), memory, element)
        for position in plan.tables:
            self._tables[position].load(context.watched(self.region.params[position].name), addresses[position])
        if context.recorder:
            if plan.sizes is None:
                plan.sizes = self._scalars.sizes(addresses)
            context.recorder.run(self.region, plan.sizes, plan.enqueue)
        else:
            plan.enqueue()
        for cell, element in zip(self._cells, elements, strict=True):
            cell.store(context.watched(cell.param.name), memory, element)

    def _mapped(self, plan: Plan, addresses: Sequence[int]) -> Iterator[Stretch]:
        """What is mapped of the arrays that the kernel uses, each stretch of it once."""
        from nomp.runtime.elements import Stretch

        places: dict[Entry, dict[str, int]] = {}
        for (position, param), entry in zip(self._arrays, plan.entries, strict=True):
            if entry is not None and (param.reads or param.writes):
                places.setdefault(entry, {})[param.name] = addresses[position]
        for entry, params in places.items():
            yield Stretch(self.region, entry.start, entry.end, params, entry.buffer, entry.offset(entry.start))

    def _singles(self, context: Context, plan: Plan, addresses: Sequence[int]) -> Iterator[Stretch]:
        """The variables and single elements that the kernel writes, and counters."""
        from nomp.runtime.elements import Stretch

        for cell, offset in zip(self._cells, plan.cells, strict=True):
            start, name = addresses[cell.position] + offset, cell.param.name
            buffer, place = cell.mapped(context.memory, start) or (None, 0)
            yield Stretch(self.region, start, start + SIZES[cell.param.dtype], {name: start}, buffer, place)
        for position, param in self._counters:
            start = addresses[position]
            yield Stretch(self.region, start, start + SIZES[param.dtype], {param.name: start})

    def compile(self, context: Context, scalars: Mapping[str, Number], variant: Variant) -> Program:
        """The compiled *variant* for the jit values among *scalars*."""
        jit = {name: scalars[name] for name in self.region.clauses.jit}
        key = tuple(in_memory(value, self.region.param(name).dtype) for name, value in jit.items()), variant
        if key not in self._programs:
            with context.compiling(self.region):
                source = context.compile(self.region, jit, variant)
                self._programs[key] = Program(context.device, source, self.span, context.cache, self._scalars.loose)
            if context.recorder:
                context.recorder.compiled(self.region, source.text)
            self._guards[self._programs[key]] = Guard(self.region, source.schedule)
        return self._programs[key]

    @property
    def usual(self) -> Variant:
        """The variant of launches that are nothing special, for who compiles before there is one."""
        return Variant(no_wrap=self._decisions.needs_ranges, apart=True)

    def release(self, context: Context) -> None:
        """Forget what is compiled and free what launches needed; the region can be run again on another device."""
        self._plans.clear()
        self._guards.clear()
        self._decisions.forget()
        with ExitStack() as steps:  # all of them, whatever fails
            while self._programs:
                steps.callback(self._programs.popitem()[1].release)
            for held in (*self._cells, *self._tables.values()):
                steps.callback(held.release, context.device)

    # ---------------------------------------------------------------------------------------------- values to plan

    def _prepare(
        self, context: Context, scalars: Mapping[str, Number], deciding: bytes, pointers: Sequence[int],
        entries: Sequence[Entry | None],
    ) -> Plan:  # fmt: skip
        try:
            decided = self._decisions.of(deciding, scalars)
            with driver_errors(f"preparing '{self.region.name}'", self.span):
                bound = None if decided.idle else self._bind(context, scalars, decided, pointers, entries)
                for cell in self._cells:
                    cell.buffer(context.device)  # which is filled and read even if there is no launch
        except ZeroDivisionError as reason:
            message = f"the bounds of kernel '{self.region.name}' divide by zero, or a step is zero"
            raise error("N612", message, self.span, help=f"the values are {listed(scalars)}") from reason
        unmapped = tuple(i for (i, _), e in zip(self._arrays, entries, strict=True) if e is None and i in self._tables)
        if bound is None:
            return Plan(tuple(entries), cells=decided.cells, counters=decided.counters)
        program, launches, used = bound
        tables = unmapped if launches else ()
        return Plan(tuple(entries), launches, program, b"", decided.cells, decided.counters, tables, used)

    def _bind(
        self, context: Context, scalars: Mapping[str, Number], decided: Decided, pointers: Sequence[int],
        entries: Sequence[Entry | None],
    ) -> tuple[Program, tuple[Ready, ...], tuple[aliasing.Used, ...]]:  # fmt: skip
        """The program, its launches, and what they use of the arrays."""
        buffers: dict[str, Any] = {}
        offsets: dict[str, int] = {}
        mapped: dict[str, bounds.Elements] = {}
        for (position, param), pointer, entry in zip(self._arrays, pointers, entries, strict=True):
            if entry is None and position in self._tables:
                buffers[param.name], offsets[param.name] = self._tables[position].buffer(context.device), 0
            else:
                given = arguments.located(self.region, param, pointer, entry, context.device)
                buffers[param.name], offsets[param.name] = given
            if entry is not None:
                size = SIZES[param.dtype]
                mapped[param.name] = (entry.start - pointer) // size, (entry.end - pointer) // size
        self._decisions.check(decided, scalars, mapped)
        names = [param.name for _, param in self._arrays]
        held = {name: (e.start, e.end) for name, e in zip(names, entries, strict=True) if e is not None}
        used = aliasing.arrays(self.region, decided.reach, dict(zip(names, pointers, strict=True)), held)
        program = self.compile(context, scalars, self._variant(context, scalars, decided.exact, offsets, used))
        if wrong := self._guards[program].refusal(scalars):
            context.illegal(wrong)
        for cell in self._cells:
            buffers[cell.param.name] = cell.buffer(context.device, once=cell.param.name in program.finished)
        if program not in decided.values:
            decided.values[program] = program.settled(scalars)
        return program, program.bind(scalars, decided.values[program], buffers, offsets), used

    def _variant(
        self, context: Context, scalars: Mapping[str, Number], exact: bool, offsets: Mapping[str, int],
        used: tuple[aliasing.Used, ...],
    ) -> Variant:  # fmt: skip
        aliased = self._may_alias and self._aliased(used)
        apart = not self._may_alias or (not aliased and aliasing.apart(used))
        no_wrap = self._decisions.needs_ranges and exact
        choices = context.tuning.choices(self.region, scalars) if context.tuning else ()
        return Variant(no_wrap, any(offsets.values()), aliased, apart, wraps=not exact, choices=choices)

    def _aliased(self, used: tuple[aliasing.Used, ...]) -> bool:
        if self._bounds_read and aliasing.overlap(self.region, used, self._bounds_read):
            loop = next(iter(self._bounds_read.values()))
            message = f"arrays of kernel '{self.region.name}' may overlap in this launch, and the bound of loop "
            step = "copy the bound to a variable before the loop, or give the kernel arrays that are apart"
            span = self.region.span(loop.place)
            raise error("N402", f"{message}'{loop.iname}' may change in it", span, help=step)
        return aliasing.overlap(self.region, used)

    def _check_singles(self, plan: Plan, addresses: Sequence[int]) -> None:
        """Refuse variables that the kernel has copies of while it changes them under another name, or the reverse."""
        offsets = dict(zip([cell.position for cell in self._cells], plan.cells, strict=True))
        singles = [aliasing.single(p, addresses[i] + offsets.get(i, 0)) for i, p in self._required]
        both = aliasing.meeting(singles, plan.used)
        if both:
            one, other = map(arguments.shown, both)
            message = f"'{one}' and '{other}' may be the same memory in this launch of kernel '{self.region.name}'"
            step = f"copy '{one}' to a variable of its own before the loop, or give the kernel memory that is apart"
            raise error("N402", message, self.region.span(both[0].place), help=step)
        plan.apart[:] = addresses
