"""nomp: a framework for building domain-specific compilers.

The compiler is `nomp.pipeline`, its command line `nomp.driver`, its C API `nomp.capi`.  Importing this package imports
nothing else; what Python programs use comes from `nomp.runtime` when it is first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nomp.diagnostics import NompError as NompError
    from nomp.runtime.api import devices as devices
    from nomp.runtime.api import finalize as finalize
    from nomp.runtime.api import init as init
    from nomp.runtime.api import sync as sync
    from nomp.runtime.api import update as update
    from nomp.runtime.c_kernel import kernel as kernel
    from nomp.runtime.device_array import DeviceArray as DeviceArray
    from nomp.runtime.device_array import empty as empty
    from nomp.runtime.interop import array as array
    from nomp.runtime.interop import asarray as asarray
    from nomp.runtime.interop import from_dlpack as from_dlpack
    from nomp.runtime.interop import mapped as mapped
    from nomp.runtime.interop import zeros as zeros
    from nomp.runtime.jit import jit as jit
    from nomp.runtime.measuring import profile as profile
    from nomp.runtime.tuned import tune as tune

_API = dict.fromkeys(("devices", "finalize", "init", "sync", "update"), "nomp.runtime.api")
_API |= {"jit": "nomp.runtime.jit", "kernel": "nomp.runtime.c_kernel", "profile": "nomp.runtime.measuring"}
_API |= {"tune": "nomp.runtime.tuned"}
_API |= dict.fromkeys(("array", "asarray", "from_dlpack", "mapped", "zeros"), "nomp.runtime.interop")
_API |= dict.fromkeys(("DeviceArray", "empty"), "nomp.runtime.device_array")
_API |= {"NompError": "nomp.diagnostics", "load_ipython_extension": "nomp.notebook"}

__all__ = [
    "DeviceArray", "NompError", "array", "asarray", "devices", "empty", "finalize", "from_dlpack", "init", "jit",
    "kernel", "mapped", "profile", "sync", "tune", "update", "zeros",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module 'nomp' has no attribute '{name}'")
    found = globals()[name] = getattr(import_module(_API[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
