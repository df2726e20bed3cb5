"""nomp: a framework for building domain-specific compilers.

The compiler is `nomp.pipeline`, its command line `nomp.driver`, its C API `nomp.capi`.  Importing this package imports
nothing else; `profile` (see `nomp.runtime.measuring`) comes when it is named.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name != "profile":
        raise AttributeError(f"module 'nomp' has no attribute '{name}'")
    from nomp.runtime import measuring

    return measuring.profile
