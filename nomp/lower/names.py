"""Names that a C program may use and a device language may not: ``local``, ``half``, ``max``, ``new`` ...

Scripts see the program's names; `legal` renames what the device's compiler would trip on just before code is made of a
kernel.  Called by `codegen` and, for the names of kernels, by `lower`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from zlib import crc32

import loopy as lp
from pymbolic import var
from pymbolic.mapper.substitutor import make_subst_func

from nomp.lower.target import MATH

_WORDS = {
    "HUGE_VAL", "HUGE_VALF", "I", "INFINITY", "MAXFLOAT", "NAN", "__syncthreads", "abs", "abs_diff", "acospi",
    "add_sat", "alignas", "alignof", "all", "and", "and_eq", "any", "as_type", "asinpi", "asm",
    "async_work_group_copy", "atan2pi", "atanpi", "atomicAdd", "barrier", "bitand", "bitor", "bitselect",
    "blockDim", "blockIdx", "bool", "catch", "char16_t", "char32_t", "clamp", "class", "clk_event_t", "clz",
    "compl", "complex", "const_cast", "constant", "constexpr", "cospi", "cross", "ctz", "decltype", "degrees",
    "delete", "device", "distance", "dot", "dynamic_cast", "event_t", "exp10", "explicit", "export", "false",
    "fast_distance", "fast_length", "fast_normalize", "fract", "frexp", "friend", "generic",
    "get_enqueued_local_size", "get_global_id", "get_global_linear_id", "get_global_offset", "get_global_size",
    "get_group_id", "get_local_id", "get_local_linear_id", "get_local_size", "get_num_groups", "get_work_dim",
    "global", "gridDim", "hadd", "half", "half_sqrt", "host", "ilogb", "image1d_t", "image2d_t", "image3d_t",
    "imaginary", "intptr_t", "isequal", "isfinite", "isgreater", "isinf", "isless", "isnan", "isnormal",
    "isnotequal", "isordered", "isunordered", "kernel", "ldexp", "length", "lgamma_r", "local", "mad", "mad24",
    "mad_hi", "mad_sat", "main", "max", "maxmag", "mem_fence", "min", "minmag", "mix", "modf", "mul24", "mul_hi",
    "mutable", "namespace", "nan", "native_cos", "native_divide", "native_exp", "native_log", "native_recip",
    "native_sin", "native_sqrt", "ndrange_t", "new", "noexcept", "normalize", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "pipe", "popcount", "pown", "powr", "prefetch", "printf", "private", "protected",
    "ptrdiff_t", "public", "quad", "queue_t", "radians", "read_mem_fence", "read_only", "read_write",
    "reinterpret_cast", "remquo", "reserve_id_t", "rhadd", "rootn", "rotate", "rsqrt", "sampler_t", "select",
    "shared", "shuffle", "shuffle2", "sign", "signbit", "sincos", "sinpi", "size_t", "smoothstep", "static_assert",
    "static_cast", "step", "sub_sat", "tanpi", "template", "this", "threadIdx", "thread_local", "throw", "true",
    "try", "typeid", "typename", "typeof", "uchar", "uint", "uintptr_t", "ulong", "uniform", "upsample", "ushort",
    "using", "vec_step", "virtual", "warpSize", "wchar_t", "work_group_barrier", "write_mem_fence", "write_only",
    "xor", "xor_eq",
}  # fmt: skip
"""Words, functions and macros of OpenCL C, CUDA and C++ that are no words of C."""

_C_WORDS = {
    "NULL", "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
}  # fmt: skip

_PATTERNS = re.compile(
    r"(u?char|u?short|u?int|u?long|float|double|half|bool)(2|3|4|8|16)"  # vector types
    r"|(as|convert)_\w+|vload\w+|vstore\w+|atom_\w+|atomic_\w+|image\w+_t|read_image\w+|write_image\w+"
    r"|(CLK|CL|FLT|DBL|INT|UINT|LONG|ULONG|CHAR|UCHAR|SHRT|USHRT|SCHAR|HALF|M)_\w+|[lg]id|[bt]Idx|loopy_\w+|lpy_\w+|nomp_\w+|__\w+"
)


_LONGEST = 200
"""PoCL stops the program at names of 255 characters and more, which it makes file names of."""


def is_taken(name: str) -> bool:
    """Whether *name* means something else in a device language."""
    return name in _WORDS or name.removesuffix("f") in MATH or bool(_PATTERNS.fullmatch(name))


def device_name(function: str) -> str:
    """What the program's own *function* is called on the device."""
    return f"nomp_{function}"


def entry_name(name: str) -> str:
    """*name*, or a variation of it that is an identifier, free and not too long, for an entry point."""
    name = re.sub(r"\W|^(?=\d)", "_", name, flags=re.ASCII)
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}_{crc32(name.encode()):x}"
    known = lp.OpenCLTarget().get_device_ast_builder().known_callables  # PyOpenCL's would import mako
    return _other(name) if is_taken(name) or name in known or name in _C_WORDS else name


def _other(name: str) -> str:
    """A name like *name* that means nothing else."""
    return f"c_{name}" if is_taken(f"{name}_") else f"{name}_"


def legal(kernel: lp.TranslationUnit) -> tuple[lp.TranslationUnit, dict[str, str]]:
    """*kernel* without taken names, and the original of each new name."""
    entry = kernel.default_entrypoint
    generate = entry.get_var_name_generator()
    names = [*entry.arg_dict, *entry.temporary_variables, *entry.all_inames()]
    renamed = {name: generate(_other(name)) for name in sorted(names) if is_taken(name)}
    return kernel.with_kernel(_with_names(entry, renamed)), {new: old for old, new in renamed.items()}


def _with_names(entry: lp.LoopKernel, names: dict[str, str]) -> lp.LoopKernel:
    mapper = lp.symbolic.SubstitutionMapper(make_subst_func({old: var(new) for old, new in names.items()}))
    inames = {old: new for old, new in names.items() if old in entry.all_inames()}

    def known(old: str) -> str:
        return names.get(old, old)

    return entry.copy(
        instructions=[_instruction(insn, mapper, known) for insn in entry.instructions],
        args=[_variable(arg, mapper, known(arg.name)) for arg in entry.args],
        temporary_variables={
            known(name): _variable(temporary, mapper, known(name))
            for name, temporary in entry.temporary_variables.items()
        },
        domains=[_domain(domain, names) for domain in entry.domains],
        assumptions=_domain(entry.assumptions, names),
        inames={known(name): iname.copy(name=known(name)) for name, iname in entry.inames.items()},
        loop_priority=frozenset(tuple(inames.get(i, i) for i in order) for order in entry.loop_priority),
    )


def _instruction(insn: Any, mapper: Any, known: Callable[[str], str]) -> Any:
    changed = insn.with_transformed_expressions(mapper).copy(within_inames=frozenset(map(known, insn.within_inames)))
    if not isinstance(changed, lp.CInstruction):
        return changed
    code = re.sub(r"@(\w+)@", lambda match: known(match[1]), changed.code)
    return changed.copy(code=code, read_variables=frozenset(map(known, changed.read_variables)))


def _variable(variable: Any, mapper: Any, name: str) -> Any:
    changed = variable.map_exprs(mapper) if hasattr(variable, "map_exprs") else variable
    return changed.copy(name=name)


def _domain(domain: Any, names: dict[str, str]) -> Any:
    for old, new in names.items():
        place = domain.get_var_dict().get(old)
        if place is not None:
            domain = domain.set_dim_name(*place, new)
    return domain
