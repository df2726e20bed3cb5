"""From init to finalize: the state of a running program, one for the process.

In: the calls of the C API and of the pragmas' functions (`capi`).  Out: their effects on the device.  The module's
functions work on one `Session` and may be called from several threads; tests make their own.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from nomp import backend, cache, source_cache
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import NompError, Span, error
from nomp.region import Region
from nomp.runtime import choices, lent, markers
from nomp.runtime.device_memory import Borrowed, collect
from nomp.runtime.devices import Backends, open_device
from nomp.runtime.failure import driver_errors
from nomp.runtime.kernel import Context, Kernel
from nomp.runtime.launched import Launched
from nomp.runtime.lent import HostArray, Lent
from nomp.runtime.markers import Markers
from nomp.runtime.memory import FROM, AddressMap
from nomp.runtime.replay import Replays, restarted
from nomp.runtime.shown import judge, show, warned
from nomp.runtime.trials import Trials

if TYPE_CHECKING:
    from nomp.report.events import Sink
    from nomp.runtime.tuning import Tuning


class Session:
    """The runtime's state; every method may be called from any thread.

    Kernels outlive `finalize`: an id that a program keeps is good after the next `init`, on whatever device that opens.
    """

    def __init__(
        self, compile: source_cache.Compile | None = None, backends: Callable[[], Backends] = backend.registered
    ) -> None:
        self.lock = threading.RLock()  # held while a loop runs on the host, too
        self._compile = compile
        self._backends = backends
        self._kernels: dict[int, Kernel] = {}
        self._numbers = itertools.count()
        self._context: Context | None = None
        self._trials = Trials(self.lock)
        self._settings = Settings()
        self.replays: Replays | None = None  # set by who launches without Python
        self._keeps = False
        self._markers = Markers()
        self._lent = Lent()
        self.borrowed = Borrowed()  # the memory of others that the map knows
        self._owner = 0  # the process that has, or had, a device: its driver's threads are not there after fork

    def init(self, settings: Settings) -> None:
        """Open the device that *settings* name.

        Errors: N601 started already, N602 in a forked process, N611 and N613 to N615 for the device; it is then not
        started.
        """
        with self.lock:
            self._refuse_forked()
            if self._context is not None:
                step = "call init once, or finalize before the next init"
                raise error("N601", "nomp is already initialized", help=step)
            show(settings.warnings, settings)
            device = open_device(settings, self._backends())
            self._owner = os.getpid()
            self._settings = settings
            elsewhere = (self.replays.count, self.replays.rest) if self.replays else ()
            memory = AddressMap(device, self._forget, *elsewhere)
            kept = cache.opened(settings, lambda remark: show([remark], settings))
            tuning = choices.tuning(settings, device.info)
            compile = self._compiler(device.info, settings, kept)
            self._context = Context(device, memory, compile, judge(settings), kept, tuning=tuning)
            self._markers = Markers()
            with warned(settings):
                self._markers = markers.opened(settings.ranges)
            if self.replays and (native := device.native()) and not settings.verify:
                self.replays.start(native, self._markers)
                self._keeps = True
            if settings.profile:
                from nomp.runtime.measuring import measurement

                with warned(settings):  # of a device without a clock
                    self.measure(measurement(settings, device.info))

    def started(self) -> bool:
        """Whether `init` has been called, and `finalize` not since."""
        return self._context is not None

    def settings(self) -> Settings:
        """Those of the last `init`."""
        return self._settings

    def device(self) -> DeviceInfo | None:
        """The device in use, or None."""
        context = self._context
        return context.device.info if context else None

    def kept(self) -> cache.Cache:
        """The kernel cache; N602 before init."""
        return self.opened().cache

    def measure(self, sink: Sink) -> None:
        """From now on tell *sink*, too, of all launches, copies and stages of the compiler, until `measured`.

        Errors: N602 before init, N611 for a device without a clock.
        """
        with self.lock, driver_errors("measuring"):
            context = self.opened()
            if context.recorder:
                context.recorder.join(sink)
                return
            from nomp.runtime.recorder import Recorder

            replays = self.replays if self._keeps else None
            context.memory.renew()
            with restarted(replays, context.device, self._markers):
                if replays:
                    replays.stop()
                recorder = Recorder(context.device, sink, replays)
                self._context = replace(context, recorder=recorder)
                context.memory.watch(recorder.of_array)

    def measured(self, sink: Sink) -> None:
        """Tell *sink* the rest, unless it has been told, and close it.  Errors: N602 before init, N611."""
        with self.lock, driver_errors("measuring"):
            context = self.opened()
            if context.recorder and context.recorder.leave(sink):
                self._context = replace(context, recorder=None)
                context.memory.watch(None)
                context.memory.renew()
                with restarted(self.replays if self._keeps else None, context.device, self._markers):
                    context.recorder.stop()

    def marked(self, what: str, span: Span | None) -> AbstractContextManager[None]:
        """Around *what* the program does at *span*: a range, if they are asked for."""
        return self._markers.around(what, span)

    def tune(self, settings: Settings) -> Tuning | None:
        """From now on choose, and try, what *settings* say.  N602 before init."""
        with self.lock:
            context, self._settings = self.opened(), settings
            tuning = choices.tuning(settings, context.device.info)
            self._context = replace(context, tuning=tuning)
            self._forget()
            return tuning

    def update(
        self, address: int, start: int, end: int, unit: int, op: int, name: str = "", span: Span | None = None
    ) -> None:
        """See `AddressMap.update`; N602 before init."""
        with self.lock:
            if self._trials.are_running:
                return  # in a function that a loop calls: the kernel has no such thing
            memory = self.mapped(address + start * unit, address + end * unit, span)
            memory.update(address, start, end, unit, op, name, span)

    def mapped(self, low: int, high: int, span: Span | None = None) -> AddressMap:
        """The address map, with nothing from *low* to *high* but what the program has put there.  N602 before init."""
        with self.lock:
            memory = self.opened(span).memory
            self._lent.drop(memory, low, high)
            return memory

    def fetch(self, array: HostArray, span: Span | None = None) -> None:
        """``update(from)`` of an array whose elements have gaps between them.  N602 before init, N604."""
        with self.lock:
            memory = self.mapped(array.low, array.high, span)
            if memory.containing(array.low, array.high) is None:
                memory.update(array.low, 0, array.high - array.low, 1, FROM, array.name, span)  # says what is missing
            with driver_errors(f"updating '{array.name}' on the device", span):
                lent.fetch(memory, array)

    def declare(self, region: Region, eager: bool = False) -> int:
        """The id of *region*'s kernel, for `run`.  It is compiled at its first run, or now if *eager*.

        Errors: N602 before init; with *eager* those of `pipeline.compile`, and N521.
        """
        with self.lock:
            kernel = Kernel(region)
            context = self.opened(kernel.span)
            if eager and not region.clauses.jit:  # which values these have, only a launch tells
                kernel.compile(context, {}, kernel.usual)
            self._kernels[number := next(self._numbers)] = kernel
            return number

    def drop(self, kernels: Iterable[int]) -> None:
        """Forget *kernels*, which nobody runs again, and give back what they have on the device."""
        with self.lock, driver_errors("freeing what kernels needed"):
            for kernel in map(self._kernels.pop, kernels):
                if self._context is not None and self._owner == os.getpid():
                    self._context.memory.renew()  # launches that may be repeated use it
                    kernel.release(self._context)

    def run(self, kernel: int, addresses: Sequence[int], has_loop: bool = False) -> bool:
        """Launch: one host address for each parameter.

        *has_loop*: the program can run the kernel's loop itself.  True: it is to do so now, and then to call `confirm`.
        Errors: N602 before init, N609 no such kernel, and those of `Kernel.run`.  Warns: N619.
        """
        with self.lock:
            found = self._kernels.get(kernel)
            context = self.opened(found.span if found else None)
            if found is None:
                step = "use the id that nomp_jit gave, after it has succeeded"
                raise error("N609", f"Kernel id {kernel} passed to nomp_run is not valid.", help=step)
            self._lent.clear(context.memory)
            if not self._settings.verify:
                replays = self.replays if self._keeps else None
                held = replays.held_back() if replays else nullcontext()
                with held, self.marked(found.region.name, found.span):
                    replay = found.run(context, addresses)
                if replay and replays:
                    replays.keep(kernel, replay, markers.text(found.region.name, found.span))
                return False
            return self._trials.attempt(context, found, addresses, has_loop, self._settings)

    def launch(
        self, kernel: int, addresses: Sequence[int], arrays: Sequence[HostArray], loop: Callable[[], None] | None = None
    ) -> Launched:
        """`run` for a program in Python: what is not on the device of *arrays* is copied there and back.

        *loop* does the same without the kernel, which verify compares.  Errors: those of `run`, N618 and N630.
        """
        with self.lock:
            found = self._kernels[kernel]
            context = self.opened(found.span)
            with driver_errors(f"launching '{found.region.name}'", found.span):
                queues = self.borrowed.provide(context.memory, arrays, found.span)
                for queue in queues:
                    context.device.wait_for(queue)
                loan = self._lent.lend(context.memory, arrays, found.span)
            verify = self._settings.verify
            if verify and any(array.memory is not None for array in arrays):
                reason = "arrays on the device have nothing on the host to compare with"
                self._trials.warn(found, reason, self._settings)
                verify = False
            if verify:
                self._trials.verify(context, found, addresses, loop, self._settings)
            else:
                with self.marked(found.region.name, found.span):
                    found.run(context, addresses)
            with driver_errors(f"launching '{found.region.name}'", found.span):
                self._lent.take_back(context.memory, loan)
                for queue in queues:
                    context.device.hold_up(queue)
            launched = bool(loan), found.region, context, context.memory.version
            more = loan or self._settings.verify or self._markers.push  # for each launch
            plan = None if more else found.launches(context, addresses)
            again = (plan.launches, plan.sizes or {}, frozenset(queues), plan.used) if plan else ()
            return Launched(*launched, *again)

    def again(self, launched: Launched) -> bool:
        """Launch once more what has been *launched*, if that is known and still possible; whether it was."""
        with self.lock:
            context = self._context
            if not launched.launches or launched.context is not context or launched.version != context.memory.version:
                return False
            self._refuse_forked()
            with driver_errors("launching a kernel again"):
                launched.again()
            return True

    def failed(self, kernel: int, status: int) -> None:
        """Raise N611: the driver has refused a part of a launch of *kernel* that was repeated, with its *status*."""
        found = self._kernels[kernel]
        with driver_errors(f"launching '{found.region.name}'", found.span):
            raise backend.BackendError(f"the driver's status is {status}, after parts of the launch had been enqueued")

    def verifying(self) -> bool:
        """Whether a loop runs on the host now, to be compared."""
        return self._trials.are_running

    def confirm(self) -> None:
        """The program has run the loop of its last `run`.  Raises N618 if the kernel differs."""
        self._trials.confirm()

    def sync(self) -> None:
        """Wait for all kernels and copies.  N602 before init."""
        with self.lock, driver_errors("waiting for the device"):
            if self._trials.are_running:
                return
            context = self.opened()
            context.device.sync()
            if context.recorder:
                context.recorder.pass_on()

    def finalize(self) -> None:
        """Wait, then release everything; `init` may follow.  N602 before init."""
        with self.lock:
            context = self.opened()
            self._lent = Lent()  # what it keeps goes with the map
            self.borrowed.clear()
            self._forget()
            self._context, self._keeps = None, False
            with driver_errors("closing the device"), ExitStack() as steps:  # all of it, in reverse
                steps.callback(context.device.close)
                steps.callback(context.memory.clear)
                for kernel in self._kernels.values():
                    steps.callback(kernel.release, context)
                if self.replays:
                    steps.callback(self.replays.stop)
                if context.recorder:
                    steps.callback(context.recorder.stop)
                context.device.sync()
                collect(context.memory)

    def _forget(self) -> None:
        """Let no launch be repeated: what it rests on is about to change."""
        if self.replays:
            self.replays.forget()

    def opened(self, span: Span | None = None) -> Context:
        """The open device and its address map; N602 before init."""
        if self._context is None:
            step = "start nomp first: add '#pragma nomp init(argc, argv)' at the beginning of main"
            raise error("N602", "nomp is not initialized", span, help=step)
        self._refuse_forked(span)
        return self._context

    def _refuse_forked(self, span: Span | None = None) -> None:
        if self._owner not in (0, os.getpid()):
            step = "start nomp in the child, after fork, and not before"
            raise error("N602", "nomp was initialized by the parent process", span, help=step)

    def _compiler(
        self, info: DeviceInfo, settings: Settings, kept: cache.Cache
    ) -> Callable[[Region, Mapping[str, Number], Variant], DeviceSource]:
        def compile(region: Region, jit: Mapping[str, Number], variant: Variant) -> DeviceSource:
            given = region, info, jit, variant, settings
            source, diagnostics = self._compile(*given) if self._compile else source_cache.compile(*given, kept)
            if self._settings.tune != "off" and variant.choices:  # these are tried: only if proven; a line tells
                if doubts := tuple(found for found in diagnostics if found.code == "N404"):
                    raise NompError(doubts)
                return source
            show(diagnostics, settings)
            return source

        return compile


_session = Session()


def repeat_by(replays: Replays) -> None:
    """Have *replays* repeat launches, from the next `init` on."""
    _session.replays = replays


lock = _session.lock
init = _session.init
started = _session.started
device = _session.device
opened = _session.opened
borrowed = _session.borrowed
kept = _session.kept
update = _session.update
declare = _session.declare
drop = _session.drop
run = _session.run
launch = _session.launch
again = _session.again
settings = _session.settings
failed = _session.failed
confirm = _session.confirm
verifying = _session.verifying
marked = _session.marked
mapped = _session.mapped
fetch = _session.fetch
sync = _session.sync
finalize = _session.finalize
measure = _session.measure
measured = _session.measured
tune = _session.tune


@atexit.register
def _at_exit() -> None:
    """Release the device of a program that ends without finalize; there is no one left to tell of errors."""
    if started():
        with suppress(NompError):
            finalize()
