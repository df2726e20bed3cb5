"""Running the user's program.

In: its command, and what is set in its environment.  Out: the status that a shell would say.  Used by `profile` and
`tune`; `host` says statuses in the same way.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from nomp.diagnostics import error


def run(command: Sequence[str], environment: Mapping[str, str], code: str) -> int:
    """Run *command* with *environment* besides our own; its `shell_status`.  Error *code* if it cannot be started."""
    try:
        with subprocess.Popen(command, env=os.environ | environment) as process:
            while True:
                try:
                    return shell_status(process.wait())
                except KeyboardInterrupt:  # the program has got it as well, and ends or does not
                    continue
    except OSError as reason:
        message = f"'{command[0]}' cannot be started: {reason.strerror}"
        raise error(code, message, help="give the program as a shell would: a path, or a name on PATH") from reason


def shell_status(status: int) -> int:
    """What a shell makes of Python's *status*: 128 and the signal of what died of one."""
    return status if status >= 0 else 128 - status
