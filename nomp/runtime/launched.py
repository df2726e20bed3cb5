"""A launch from Python that has happened, and that may happen again in the same way.

In: what `runtime.session` has found out for the first one.  Out: launches, timed while the program is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomp.arithmetic import Number
from nomp.region import Region
from nomp.runtime.aliasing import Used
from nomp.runtime.kernel import Context
from nomp.runtime.program import Ready


@dataclass(frozen=True, slots=True)
class Launched:
    """What `session.launch` has done: whether arrays were *copied*; if not, *launches* of *region* for the *sizes* that
    decide, which are right in this *context* while the map has this *version*, and what they have *used* of arrays.
    *queues* are those of others that use the arrays."""

    copied: bool
    region: Region
    context: Context
    version: int
    launches: tuple[Ready, ...] = ()
    sizes: Mapping[str, Number] = field(default_factory=dict)
    queues: frozenset[int] = frozenset()
    used: tuple[Used, ...] = ()

    def again(self) -> None:
        """Launch once more."""
        device = self.context.device
        for queue in self.queues:
            device.wait_for(queue)
        if self.context.recorder:
            self.context.recorder.run(self.region, self.sizes, self._enqueue)
        else:
            self._enqueue()
        self.context.memory.overtaking.launched(device, None if self.queues else self.used)
        for queue in self.queues:
            device.hold_up(queue)

    def _enqueue(self) -> None:
        for ready in self.launches:
            ready.enqueue()
