"""A process that compiles kernels for a search: ``python -m nomp.tuning.worker``, started by `ahead`.

In, on stdin: a line with an `ahead.Job`, and a line for each choice.  Out: sources in the kernel cache, and on stdout
an empty line for each choice, when it is done.  What fails here fails again where it is measured, and is told there.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TextIO

from nomp import config, region_json, source_cache
from nomp.backend import DeviceInfo
from nomp.cache import opened
from nomp.device_source import Variant
from nomp.diagnostics import NompError
from nomp.tuning.database import ordered


def main(lines: TextIO, done: TextIO) -> None:
    """Compile what *lines* say until they end."""
    text, device, jit, variant = json.loads(lines.readline())
    region, settings = region_json.loads(text), config.load()
    given = region, DeviceInfo(**device), jit
    cache = opened(settings, lambda _: None)
    for line in lines:
        chosen = Variant(**{**variant, "choices": ordered(json.loads(line))})
        with contextlib.suppress(NompError):
            source_cache.compile(*given, chosen, settings, cache)
        done.write("\n")
        done.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what scripts print is no answer
    main(sys.stdin, answers)
