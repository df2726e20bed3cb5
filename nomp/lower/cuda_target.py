"""loopy's target for CUDA C++, which is also what HIP compiles: see `target`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from cgen import AlignedAttribute, ArrayOf, DeclSpecifier, RestrictPointer
from cgen.cuda import CudaLaunchBounds
from loopy.kernel.data import AddressSpace
from loopy.symbolic import Literal
from loopy.target.cuda import CUDACASTBuilder, CudaTarget, ExpressionToCudaCExpressionMapper
from pymbolic import primitives as p
from pymbolic import var

from nomp.lower.target import (
    AllRegisters,
    DeviceBuilderMixin,
    ExactMapperMixin,
    ReadOnce,
    TargetMixin,
    TypedCallable,
)

_BITS = {
    ("popcount", "uint32"): "(unsigned int)__popc", ("popcount", "uint64"): "(unsigned long long)__popcll",
    ("clz", "uint32"): "(unsigned int)__clz", ("clz", "uint64"): "(unsigned long long)__clzll",
}  # fmt: skip


def spelled(function: str, dtype: str) -> str:
    """What a function of ``<math.h>``, or of bits, is called for *dtype*."""
    return _BITS.get((function, dtype)) or function + ("f" if dtype == "float32" else "")


class CudaFunction(TypedCallable):
    """A function of CUDA's."""

    @staticmethod
    def spelled(function: str, dtype: str) -> str:
        """See `spelled`."""
        return spelled(function, dtype)


class CudaMapper(ExactMapperMixin, ExpressionToCudaCExpressionMapper):  # type: ignore[misc]
    """Expressions of loopy to expressions of CUDA C++."""

    def map_constant(self, expr: Any, type_context: str) -> Any:
        """64-bit constants have the type that 64-bit variables have."""
        if isinstance(expr, np.int64 | np.uint64):
            return Literal(f"{int(expr)}{'ll' if isinstance(expr, np.int64) else 'ull'}")
        return super().map_constant(expr, type_context)

    def map_subscript(self, expr: p.Subscript, type_context: str) -> Any:
        """An element; of an array that is read once, as one that caches need not keep."""
        made = super().map_subscript(expr, type_context)
        if expr.aggregate.name not in self._read_once or not isinstance(made, p.Subscript):
            return made
        return var("__ldcs")(p.Sum((made.aggregate, made.index)))

    @cached_property
    def _read_once(self) -> frozenset[str]:
        return frozenset().union(*(tag.arrays for tag in self.kernel.tags_of_type(ReadOnce)))


class CudaBuilder(DeviceBuilderMixin, CUDACASTBuilder):  # type: ignore[misc]
    """The printer of CUDA C++."""

    functions = CudaFunction

    def get_expression_to_c_expression_mapper(self, codegen_state: Any) -> CudaMapper:
        """The mapper to C expressions."""
        return CudaMapper(codegen_state)

    def wrap_decl_for_address_space(self, decl: Any, address_space: AddressSpace) -> Any:
        """Pointers to global memory are plain ones; loopy has a word for functions before them."""
        if address_space == AddressSpace.GLOBAL:
            return decl
        return super().wrap_decl_for_address_space(decl, address_space)

    def get_function_declaration(self, codegen_state: Any, codegen_result: Any, schedule_index: int) -> Any:
        """See `target.AllRegisters`."""
        preambles, declared = super().get_function_declaration(codegen_state, codegen_result, schedule_index)
        for tag in codegen_state.kernel.tags_of_type(AllRegisters):
            if isinstance(declared.subdecl, CudaLaunchBounds):
                declared.subdecl.min_blocks_per_mp = tag.groups
        return preambles, declared

    def get_temporary_var_declarator(self, codegen_state: Any, temp_var: Any) -> Any:
        """The array in which others have their places (`group_memory`) has no size: launches give it one."""
        if temp_var.name in codegen_state.kernel.get_temporary_to_base_storage_map().values():
            array = AlignedAttribute(16, ArrayOf(self.get_array_base_declarator(temp_var)))
            return DeclSpecifier(self.wrap_decl_for_address_space(array, temp_var.address_space), "extern")
        return super().get_temporary_var_declarator(codegen_state, temp_var)


class NompCudaTarget(TargetMixin, CudaTarget):  # type: ignore[misc]
    """CUDA C++ for any device."""

    builder = CudaBuilder


class ApartCudaTarget(NompCudaTarget):
    """CUDA C++ for any device, of kernels whose arrays share no memory."""

    pointer = RestrictPointer
