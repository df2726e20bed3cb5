"""``nomp.kernel``: a function in C, given as text, that Python calls with NumPy arrays.

In: the text of one C function and its clauses.  Out: a callable.  It is `nomp_jit` and `nomp_run` of the C API, for
Python.  `nomp.kernel` is `kernel`.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from nomp.diagnostics import Span, error
from nomp.pragma import ForClauses, Name, Reduce
from nomp.pragma_help import OPERATORS
from nomp.region import Param, Region, Script
from nomp.runtime import api, arrays, interop, session
from nomp.runtime.device_array import DeviceArray
from nomp.runtime.lent import HostArray

_HERE = Span("<nomp.kernel>", 1)
_numbers = itertools.count(1)


class Kernel:
    """A kernel: called with one argument for each parameter of the C function, in their order or by their names.

    Arrays are in C order, of the parameter's type, on the host (NumPy's) or on the device; numbers are converted to
    their types.  The result of a reduction (``double *s``) goes into element 0 of an array on the host.  Errors: N632
    for arguments that do not fit, and those of `session.launch`.
    """

    def __init__(self, region: Region) -> None:
        self.region = region
        self._number: int | None = None

    def __call__(self, *args: Any, **named: Any) -> None:
        """Launch it; returns when that is enqueued, and done if arrays had to be copied."""
        given = interop.adapted(self._bound(args, named), self._span())
        held, addresses, used = [], [], []
        for param, argument in zip(self.region.params, given, strict=True):
            if param.kind == "scalar":
                held.append(self._scalar(param, argument))
                addresses.append(ctypes.addressof(held[-1]))
                continue
            array = self._array(param, argument)
            address = arrays.address_of(array)
            addresses.append(address)
            if param.kind != "cell":
                low, high = arrays.stretch(array, address)
                memory = array.memory if isinstance(array, DeviceArray) else None
                used.append(HostArray(param.name, low, high, True, param.writes, array, memory))
        with session.lock:
            api.ensure_started()
            if self._number is None:
                self._number = session.declare(self.region)
            session.launch(self._number, addresses, used)

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        names = [param.host for param in self.region.params]
        given = dict(zip(names, args, strict=False)) | named
        if len(args) > len(names) or given.keys() != set(names) or len(args) + len(named) != len(names):
            message = f"kernel '{self.region.name}' takes {', '.join(names) or 'nothing'}"
            raise error("N632", message, self._span(), help="give one argument for each parameter")
        return [given[name] for name in names]

    def _span(self) -> Span:
        return self.region.span(self.region.place)

    def _scalar(self, param: Param, argument: Any) -> Any:
        try:
            number = np.asarray(argument).astype(param.dtype, casting="same_kind" if np.ndim(argument) else "unsafe")
            exact = np.ndim(argument) == 0 and (param.dtype.startswith("float") or number == argument)
        except (TypeError, ValueError, OverflowError):
            exact = False
        if not exact:
            message = f"{argument!r} is no {param.dtype}, which parameter '{param.host}' has"
            raise error("N632", message, self.region.span(param.place), help="give a number that fits its type")
        return ctypes.create_string_buffer(number.tobytes(), number.nbytes)

    def _array(self, param: Param, argument: Any) -> Any:
        kinds = np.ndarray if param.kind == "cell" else np.ndarray | DeviceArray
        fits = isinstance(argument, kinds) and argument.dtype == np.dtype(param.dtype)
        if not fits or not argument.flags.c_contiguous or not argument.flags.aligned:
            where = "on the host " if param.kind == "cell" else ""
            message = f"parameter '{param.host}' takes an array {where}of {param.dtype} in C order"
            step = f"convert it: np.ascontiguousarray({param.host}, np.{param.dtype})"
            raise error("N632", message, self.region.span(param.place), help=step)
        if param.writes and not argument.flags.writeable:
            message = f"'{param.host}' is written by kernel '{self.region.name}', and it is read-only"
            raise error("N234", message, self.region.span(param.place), help="write into a copy: a.copy()")
        return argument


def kernel(
    source: str, *, transform: tuple[str, str] | None = None, annotate: Mapping[str, str] | None = None,
    reduce: Mapping[str, str] | None = None, jit: tuple[str, ...] = (), name: str | None = None,
) -> Kernel:  # fmt: skip
    """The C function of *source* as a kernel.

    *transform*: module and function of a script; *annotate*: keys and values; *reduce*: for each variable that the
    function accumulates into (``"s"`` for ``s[0]``) the operator; *jit*: parameters whose values are compiled in;
    *name*: the kernel's, that of the function by default.  Errors: those of ``nomp_jit``, N2xx and N651.
    """
    from nomp.frontend import clang

    for variable, op in (reduce or {}).items():
        if op not in OPERATORS:
            message = f"'{op}' is no operator to reduce '{variable}' with"
            raise error("N651", message, help=f"the operators are {' '.join(OPERATORS)}")
    clauses = ForClauses(
        (Script(*transform),) if transform else (),
        tuple((annotate or {}).items()),
        tuple(Reduce(f"{variable}[0]", op, _HERE) for variable, op in (reduce or {}).items()),
        tuple(Name(parameter, _HERE) for parameter in jit),
        Name(name, _HERE) if name else None,
    )
    return Kernel(clang.parse_function(source, clauses, f"<nomp.kernel {next(_numbers)}>"))
