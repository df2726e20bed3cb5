"""loopy's targets as nomp needs them: C's operators kept exactly, no promises about aliasing, every kernel emitted.

Used by `lower` (which makes kernels for a target) and `codegen` (which prints them).  loopy's own targets regroup
``a + (b + c)``, promise ``restrict`` for every pointer, and drop all kernels after a global barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from cgen import Const, Pointer, Pragma, RestrictPointer
from cgen.opencl import CLRequiredWorkGroupSize
from constantdict import constantdict
from loopy.expression import dtype_to_type_context
from loopy.kernel.data import AddressSpace, UnrollHintTag
from loopy.kernel.function_interface import ScalarCallable
from loopy.symbolic import DependencyMapper, Literal
from loopy.target import DummyHostASTBuilder
from loopy.target.c import FunctionDeclarationWrapper
from loopy.target.c.codegen.expression import CExpressionToCodeMapper
from loopy.target.opencl import ExpressionToOpenCLCExpressionMapper, OpenCLCASTBuilder, OpenCLTarget
from loopy.types import NumpyType
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.stringifier import PREC_CALL, PREC_NONE, PREC_PRODUCT, PREC_SUM
from pytools.tag import Tag

from nomp.arithmetic import SIZES

OPERATORS = {"sub": "-", "div": "/", "rem": "%", "shl": "<<", "shr": ">>", "and": "&", "or": "|", "xor": "^"}
"""Binary operators that loopy either lacks or gives another meaning or type: ``div_int32`` stands for ``/`` on int."""

PREFIX_OPERATORS = {"neg": "-", "not": "~"}

OPERATOR_TYPES = ("int32", "int64", "uint32", "uint64")

MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "atan2", "cbrt", "ceil", "copysign", "cos", "cosh", "erf",
    "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "hypot", "lgamma",
    "log", "log10", "log1p", "log2", "logb", "nextafter", "pow", "remainder", "rint", "round", "sin", "sinh",
    "sqrt", "tan", "tanh", "tgamma", "trunc",
)  # fmt: skip

WITH_SUBSCRIPTS = DependencyMapper(include_subscripts=True)
"""Finds the scalars of an expression, and its elements of arrays."""

BITS = ("popcount", "clz")
"""Functions of unsigned integers, in loopy with their type: ``popcount_uint32``."""

SPECIAL = {"infinity_float32": "INFINITY", "nan_float32": "NAN"}
"""Macros of the devices' languages, of type float, by what loopy calls them."""


def spelled(function: str, dtype: str) -> str:
    """What a function of ``<math.h>``, or of bits, is called in OpenCL C for *dtype*: the same for all."""
    return function


class TypedCallable(ScalarCallable):  # type: ignore[misc]
    """A function whose result has the type of its first argument.

    Its name tells that type: loopy looks calls up by equality, and takes ``f(2.0f)`` and ``f(2.0)`` for the same.
    """

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> tuple[Any, Any]:
        """Fix the types once the first argument's is known."""
        known = {k: v for k, v in arg_id_to_dtype.items() if isinstance(k, int) and k >= 0 and v is not None}
        if 0 not in known:
            return self.copy(arg_id_to_dtype=constantdict(known)), clbl_inf_ctx
        known[-1] = known[0]
        return self.copy(name_in_target=self.target_name(known), arg_id_to_dtype=constantdict(known)), clbl_inf_ctx

    @staticmethod
    def spelled(function: str, dtype: str) -> str:
        """See `spelled`."""
        return spelled(function, dtype)

    def target_name(self, known: Mapping[int, Any]) -> str:
        """The function's name in the device's language."""
        name, dtype = str(self.name).split("_")[0], known[0].numpy_dtype.name
        return self.spelled(name.removesuffix("f") if dtype == "float32" else name, dtype)


class Operator(TypedCallable):
    """A C operator spelled as a function in loopy, printed as the operator."""

    def emit_call(self, expression_to_code_mapper: Any, expression: Any, target: Any) -> Any:
        """The operator applied to its operands, in parentheses of its own."""
        call = super().emit_call(expression_to_code_mapper, expression, target)
        text = expression_to_code_mapper.codegen_state.ast_builder.get_c_expression_to_code_mapper()
        operands = [text(operand, PREC_CALL) for operand in call.parameters]
        operator = self.name.split("_")[0]
        if operator in PREFIX_OPERATORS:
            return var(f"({PREFIX_OPERATORS[operator]}{operands[0]})")
        return var(f"({operands[0]} {OPERATORS[operator]} {operands[1]})")


class Conversion(ScalarCallable):  # type: ignore[misc]
    """``as_float32(x)``: a C cast.  A call, because loopy refuses its own `TypeCast` in subscripts."""

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> tuple[Any, Any]:
        """The result's type is in the name."""
        known = {k: v for k, v in arg_id_to_dtype.items() if k == 0 and v is not None}
        known[-1] = loopy_dtype(self.name.removeprefix("as_"))
        return self.copy(name_in_target=self.name, arg_id_to_dtype=constantdict(known)), clbl_inf_ctx

    def emit_call(self, expression_to_code_mapper: Any, expression: Any, target: Any) -> Any:
        """``(float) (x)``, or just ``x`` where it has the type."""
        (operand,) = expression.parameters
        return expression_to_code_mapper.rec(operand, None, self.arg_id_to_dtype[-1])


class Special(ScalarCallable):  # type: ignore[misc]
    """``infinity_float32()``: a number that has no literal, by its macro.

    A call, because macros have one type only, NaN is not equal to itself, and loopy looks expressions up by equality.
    """

    def with_types(self, arg_id_to_dtype: Mapping[Any, Any], clbl_inf_ctx: Any) -> tuple[Any, Any]:
        """The type of the macros."""
        known = constantdict({-1: loopy_dtype("float32")})
        return self.copy(name_in_target=SPECIAL[self.name], arg_id_to_dtype=known), clbl_inf_ctx

    def emit_call(self, expression_to_code_mapper: Any, expression: Any, target: Any) -> Any:
        """The macro."""
        return var(self.name_in_target)


def callables(kind: type[TypedCallable]) -> dict[str, Any]:
    """The functions that lowered kernels may call, by name; *kind* spells them."""
    operators = [f"{name}_{dtype}" for name in (*OPERATORS, *PREFIX_OPERATORS) for dtype in OPERATOR_TYPES]
    functions = [name + suffix for name in MATH for suffix in ("", "f")]
    functions += [f"{name}_{dtype}" for name in BITS for dtype in ("uint32", "uint64")]
    conversions = [f"as_{dtype}" for dtype in SIZES]
    return {
        **{name: Operator(name=name) for name in operators},
        **{name: kind(name=name) for name in functions},
        **{name: Conversion(name=name) for name in conversions},
        **{name: Special(name=name) for name in SPECIAL},
    }


class ExactCMapper(CExpressionToCodeMapper):  # type: ignore[misc]
    """Prints sums and products in the order of their tree: floating-point addition is not associative."""

    def map_sum(self, expr: p.Sum, enclosing_prec: int) -> str:
        """``a + b - c``, with a nested sum in parentheses unless it comes first."""
        first, *rest = expr.children
        text = self.rec(first, PREC_SUM)
        for child in rest:
            minus, term = _without_minus(child)
            inner = f"({self.rec(term, PREC_NONE)})" if isinstance(term, p.Sum) else self.rec(term, PREC_SUM)
            text += f" {'-' if minus else '+'} {inner}"
        return str(self.parenthesize_if_needed(text, enclosing_prec, PREC_SUM))

    def map_product(self, expr: p.Product, enclosing_prec: int) -> str:
        """``a * b * c``, with a nested product or quotient in parentheses unless it comes first."""
        first, *rest = expr.children
        text = self.rec(first, PREC_PRODUCT)
        for child in rest:
            nested = isinstance(child, self.multiplicative_primitives)
            text += f" * ({self.rec(child, PREC_NONE)})" if nested else f" * {self.rec(child, PREC_PRODUCT)}"
        return str(self.parenthesize_if_needed(text, enclosing_prec, PREC_PRODUCT))


def _without_minus(expr: Any) -> tuple[bool, Any]:
    """Whether *expr* is ``-1 * term``, and the term."""
    if isinstance(expr, p.Product) and len(expr.children) == 2 and _is_minus_one(expr.children[0]):
        return True, expr.children[1]
    return False, expr


def _is_minus_one(expr: Any) -> bool:
    if isinstance(expr, Literal):
        return expr.s in ("-1.0", "-1.0f")
    return isinstance(expr, int) and expr == -1


class HostBuilder(DummyHostASTBuilder):  # type: ignore[misc]
    """The host side is ours; this only keeps loopy from dropping the kernels after the first."""

    can_implement_conditionals = True

    def emit_if(self, condition_str: str, ast: Any) -> Any:
        """Nothing to wrap."""
        return ast


class DeviceBuilderMixin:
    """What nomp changes in loopy's printers of C dialects."""

    functions: ClassVar[type[TypedCallable]] = TypedCallable

    @property
    def known_callables(self) -> dict[str, Any]:
        """loopy's functions, ours in front."""
        return {**super().known_callables, **callables(self.functions)}  # type: ignore[misc]

    def get_c_expression_to_code_mapper(self) -> ExactCMapper:
        """The printer of expressions."""
        return ExactCMapper()

    def emit_barrier(self, synchronization_kind: str, mem_kind: str, comment: str) -> Any:
        """A barrier without its comment, whose text depends on the hash seed."""
        return super().emit_barrier(synchronization_kind, mem_kind, "")  # type: ignore[misc]

    def get_array_arg_declarator(self, arg: Any, is_written: bool) -> Any:
        """A pointer, with ``restrict`` only where nothing overlaps; loopy always promises it."""
        builder: Any = self
        base = builder.wrap_decl_for_address_space(builder.get_array_base_declarator(arg), arg.address_space)
        pointer = builder.target.pointer(base)
        return pointer if is_written else Const(pointer)


class ExactMapperMixin:
    """What nomp changes in loopy's mappers to expressions of C dialects."""

    def map_constant(self, expr: Any, type_context: str) -> Any:
        """Constants of exactly their type; loopy would make 64-bit ones of uint32."""
        if isinstance(expr, np.uint32):
            return Literal(f"{int(expr)}u")
        return super().map_constant(expr, type_context)  # type: ignore[misc]

    def map_comparison(self, expr: p.Comparison, type_context: str) -> p.Comparison:
        """Both sides have one type; loopy asks for that of their difference, which large constants do not have."""
        mapper: Any = self
        context = dtype_to_type_context(mapper.kernel.target, mapper.infer_type(expr.left))
        return p.Comparison(mapper.rec(expr.left, context), expr.operator, mapper.rec(expr.right, context))


class OpenCLMapper(ExactMapperMixin, ExpressionToOpenCLCExpressionMapper):  # type: ignore[misc]
    """Expressions of loopy to expressions of OpenCL C."""


_ALIGNMENT = 16
"""That of a group's arrays: NVIDIA's compiler else loads their numbers one by one."""
_MOST_ITEMS = 256
"""How many items of a group fit on each device with as many registers as they can have."""


class OpenCLBuilder(DeviceBuilderMixin, OpenCLCASTBuilder):  # type: ignore[misc]
    """The printer of OpenCL C."""

    def get_function_declaration(self, codegen_state: Any, codegen_result: Any, schedule_index: int) -> Any:
        """See `AllRegisters`."""
        preambles, declared = super().get_function_declaration(codegen_state, codegen_result, schedule_index)
        sized = getattr(declared, "subdecl", None)
        if not codegen_state.kernel.tags_of_type(AllRegisters) or not isinstance(sized, CLRequiredWorkGroupSize):
            return preambles, declared
        fits = prod(sized.dim) <= _MOST_ITEMS
        return preambles, FunctionDeclarationWrapper(sized.subdecl) if fits else declared

    def get_temporary_var_declarator(self, codegen_state: Any, temp_var: Any) -> Any:
        """A group's arrays begin at multiples of `_ALIGNMENT`."""
        if temp_var.address_space == AddressSpace.LOCAL and temp_var.shape:
            temp_var = temp_var.copy(alignment=_ALIGNMENT)
        return super().get_temporary_var_declarator(codegen_state, temp_var)

    def get_expression_to_c_expression_mapper(self, codegen_state: Any) -> OpenCLMapper:
        """The mapper to C expressions."""
        return OpenCLMapper(codegen_state)

    def emit_unroll_hint(self, value: int | str | None) -> Any:
        """What stands before a loop whose tag has *value*: that itself, where it is no number of iterations.

        NVIDIA's compiler unrolls loops whose attribute says that they are not to be.
        """
        if value == 1:
            return Pragma("unroll 1")
        return Pragma(value) if isinstance(value, str) else super().emit_unroll_hint(value)


class CMapper(OpenCLMapper):
    """Expressions of loopy to expressions of OpenCL C for C compilers."""

    def map_subscript(self, expr: p.Subscript, type_context: str) -> Any:
        """An element; of one that data choose its place is hidden from the compiler, which would else gather several at
        once.  For gcc 12 on an AMD EPYC, sums over rows of 16 such elements take a third of the time without."""
        made = super().map_subscript(expr, type_context)
        if isinstance(made, p.Subscript) and _has_elements(expr.index):
            return made.aggregate[var("nomp_by_data")(made.index)]
        return made


def _has_elements(expr: Any) -> bool:
    """Whether there is an element of an array in *expr*."""
    return any(isinstance(node, p.Subscript) for node in WITH_SUBSCRIPTS(expr))


class CBuilder(OpenCLBuilder):
    """The printer of OpenCL C for C compilers."""

    def get_expression_to_c_expression_mapper(self, codegen_state: Any) -> CMapper:
        """The mapper to C expressions."""
        return CMapper(codegen_state)

    def emit_unroll_hint(self, value: int | str | None) -> Any:
        """As in OpenCL C, but for the attribute, which only its compilers know."""
        return super().emit_unroll_hint(value) if isinstance(value, str) else Pragma(f"GCC unroll {value or UNROLLED}")


UNROLLED = 64
"""How many iterations a C compiler is asked to do at once, where nobody says how many: all, if there are no more."""


def vectors_of(width: int) -> UnrollHintTag:
    """The tag of a loop of which clang is to make vectors of *width* numbers; other compilers pass over that."""
    return UnrollHintTag(f"clang loop vectorize_width({width})")


@dataclass(frozen=True)
class AllRegisters(Tag):  # type: ignore[misc]
    """Of a kernel: *groups* groups on a multiprocessor are enough, so items may have all registers that leaves them.

    Else NVIDIA's compilers save registers, and load one number only after they have used the one before.  That of
    OpenCL heeds its option for this (`opencl_devices.options`) in kernels that do not say how large groups are."""

    groups: int = 1


@dataclass(frozen=True)
class ReadOnce(Tag):  # type: ignore[misc]
    """Of a kernel: it reads elements of *arrays*, and no element twice, so that caches had better keep others."""

    arrays: frozenset[str]


class TargetMixin:
    """What nomp changes in loopy's targets: kernels alone, printed by *builder*, with *pointer* for arrays."""

    builder: ClassVar[Callable[[Any], Any]]
    pointer: ClassVar[type[Pointer]] = Pointer

    def get_host_ast_builder(self) -> HostBuilder:
        """The host side, which does nothing."""
        return HostBuilder(self)

    def get_device_ast_builder(self) -> Any:
        """The printer."""
        return type(self).builder(self)


class NompOpenCLTarget(TargetMixin, OpenCLTarget):  # type: ignore[misc]
    """OpenCL C for any device."""

    builder = OpenCLBuilder


class ApartOpenCLTarget(NompOpenCLTarget):
    """OpenCL C for any device, of kernels whose arrays share no memory."""

    pointer = RestrictPointer


class NompCTarget(NompOpenCLTarget):
    """OpenCL C for the host's C compiler."""

    builder = CBuilder


class ApartCTarget(NompCTarget):
    """The same, of kernels whose arrays share no memory."""

    pointer = RestrictPointer


def loopy_dtype(dtype: str) -> NumpyType:
    """The loopy type of a region's type.  C's bool is a byte that holds 0 or 1."""
    return NumpyType(np.dtype("int8" if dtype == "bool" else dtype))
