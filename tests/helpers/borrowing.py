"""Arrays of other libraries, as far as nomp looks at them."""

from __future__ import annotations

from typing import Any

ADD = """
@nomp.jit
def add(a, b):
    #pragma nomp for
    for i in range(len(a)):
        a[i] = a[i] + b[i]
"""
"""A program that uses them."""


class OnGpu:
    """An array that has ``__cuda_array_interface__`` and no more."""

    def __init__(self, address: int, shape: tuple[int, ...], typestr: str = "<f8", **more: Any) -> None:
        read_only = more.pop("read_only", False)
        interface = {"version": 3, "shape": shape, "typestr": typestr, "data": (address, read_only)}
        self.__cuda_array_interface__ = interface | more
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]


class Tensor:
    """One that has DLPack and no more; *old*: that of before version 1."""

    def __init__(self, array: Any, old: bool = False) -> None:
        self._array, self._old = array, old
        self.streams: list[Any] = []
        self.shape = array.shape

    def __len__(self) -> int:
        return len(self._array)

    def __dlpack__(self, stream: Any = None, **more: Any) -> Any:
        if self._old and more:
            raise TypeError("unexpected arguments")
        self.streams.append(stream)
        return self._array.__dlpack__(**({} if stream is None else {"stream": stream}), **more)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()
