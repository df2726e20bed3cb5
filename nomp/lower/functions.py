"""The program's own functions on the device: their text, and the form in which loopy calls them.

In: the region's `Function`s.  Out: C text to stand before the kernels, and loopy callables.  Called by `lower` and
`pipeline`.  A function is called ``nomp_NAME`` on the device, where NAME may mean something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from constantdict import constantdict
from loopy.kernel.function_interface import ScalarCallable

from nomp.lower.ctext import Writer
from nomp.lower.dialects import DIALECTS, OpenCL
from nomp.lower.names import device_name
from nomp.lower.target import loopy_dtype
from nomp.region import Declare, Function
from nomp.walks import walk


class ProgramFunction(ScalarCallable):  # type: ignore[misc]
    """A `Function`, whose types are known from the start."""

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> tuple[Any, Any]:
        """Nothing to infer."""
        return self, clbl_inf_ctx


def callables(functions: Iterable[Function]) -> dict[str, ProgramFunction]:
    """The functions for loopy, by name."""
    made = {}
    for function in functions:
        types = {number: loopy_dtype(dtype) for number, (_, dtype) in enumerate(function.params)}
        types[-1] = loopy_dtype(function.dtype)
        name = device_name(function.name)
        made[name] = ProgramFunction(name=name, name_in_target=name, arg_id_to_dtype=constantdict(types))
    return made


def definitions(functions: tuple[Function, ...], dialect: str) -> str:
    """What stands before everything in *dialect*, and the text of *functions*, each after those that it calls."""
    own, language = {function.name for function in functions}, DIALECTS[dialect]
    return language.prelude + "".join(_definition(function, language, own) for function in functions)


def _definition(function: Function, dialect: type[OpenCL], own: Set[str]) -> str:
    def element(array: str, index: tuple[str, ...]) -> str:
        return writer.scalar(array) + "".join(f"[{i}]" for i in index)

    types = dialect.types
    writer = Writer(dialect, element, own, {})
    params = ", ".join(f"{types[dtype]} {writer.scalar(name)}" for name, dtype in function.params)
    arrays = "".join(
        f"  {types[s.dtype]} {writer.scalar(s.name)}" + "".join(f"[{writer.value(e)}]" for e in s.shape) + ";\n"
        for s in walk(function.body)
        if isinstance(s, Declare) and s.shape
    )
    body = writer.block(function.body).removeprefix("{\n")
    head = f"{dialect.qualifier} {types[function.dtype]} {device_name(function.name)}({params})"
    return f"{head}\n{{\n{arrays}{body}\n\n"
