"""Scheduled loopy kernel to device source and launch record.

In: a kernel as a script (or the default) left it, its scalar values, the values of jit parameters.  Out: a
`DeviceSource`.  Called by `pipeline`.  No launch logic hides in closures: grids become small expressions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import redirect_stdout
from dataclasses import replace
from functools import reduce
from io import StringIO
from typing import Any

import islpy as isl
import loopy as lp
from islpy import dim_type
from loopy.codegen.result import process_preambles
from loopy.kernel.data import AddressSpace, ConcurrentTag, LocalInameTag
from loopy.schedule import (
    Barrier,
    CallKernel,
    EnterLoop,
    LeaveLoop,
    ReturnFromKernel,
    RunInstruction,
    get_insn_ids_for_block_at,
    linearize,
)
from loopy.schedule.tools import get_subkernel_arg_info
from loopy.symbolic import condition_to_set
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.substitutor import make_subst_func

from nomp.arithmetic import Number, convert, evaluate, is_launch_expr
from nomp.clocks import timed
from nomp.device_source import Argument, DeviceSource, Launch, Scratch, Step, Value
from nomp.loops import INDEX
from nomp.lower import group_memory, matrix_units
from nomp.lower.dialects import DIALECTS
from nomp.lower.expressions import constant
from nomp.lower.names import legal
from nomp.region import Binary, Const, Expr, Var
from nomp.walks import walk_expr, with_values

_SILENT_FAILURES = ("cannot be made local because a write race",)
"""loopy warnings after which the code would be wrong."""


class CodegenError(Exception):
    """loopy cannot make code of a kernel; the message is loopy's."""


@timed("generate code")
def generate(
    kernel: lp.TranslationUnit, values: tuple[Value, ...], jit: Mapping[str, Number], dialect: str,
    scratch: tuple[Scratch, ...] = (),
) -> DeviceSource:  # fmt: skip
    """The device source of *kernel*, with *jit* parameters fixed.  *scratch* names arrays that are no parameters."""
    fixed, open_values = _fixed(values, jit)
    kernel = _without_empty_loops(lp.fix_parameters(kernel, **fixed) if fixed else kernel)
    kernel, original = legal(_without_needless_barriers(_with_valid_priorities(kernel)))
    _refuse_lost_strides(kernel.default_entrypoint)
    if not kernel.default_entrypoint.instructions:
        return DeviceSource(kernel.default_entrypoint.name, dialect, "/* nothing to do */", (), (), ())
    # What loopy prints when it fails must not get into the program's own output.
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(StringIO()):
        warnings.simplefilter("always")
        try:
            kernel = linearize(lp.preprocess_program(kernel))
            if DIALECTS[dialect].has_matrix_units:
                kernel = matrix_units.used(kernel)
            if (most := DIALECTS[dialect].declared_group_bytes) is not None:
                kernel = group_memory.placed(kernel, most)
            code = lp.generate_code_v2(kernel)
        except Exception as failure:  # loopy raises whatever its parts raise for a kernel that it cannot schedule
            raise CodegenError(f"{failure}" or type(failure).__name__) from failure
    for warning in caught:
        if any(text in str(warning.message) for text in _SILENT_FAILURES):
            raise CodegenError(str(warning.message))
    entry = kernel.default_entrypoint
    if not DIALECTS[dialect].open_extents:
        _refuse_open_extents(entry, original, dialect)
    known = {name: Const(value, INDEX) for name, value in fixed.items() if isinstance(value, int)}
    scratch = tuple(replace(array, size=with_values(array.size, known)) for array in scratch)
    scratch += tuple(_global_temporaries(entry, original))
    launches = tuple(_launches(kernel, {s.name for s in scratch}, original))
    used = {argument.name for launch in launches for argument in launch.arguments}
    sizes = [e for launch in launches for e in (*launch.grid, *launch.block)] + [s.size for s in scratch]
    used |= {node.name for size in sizes for node in walk_expr(size) if isinstance(node, Var)}
    kept = tuple(value for value in open_values if value.name in used)
    local = (t.name for t in entry.temporary_variables.values() if t.address_space == AddressSpace.LOCAL)
    shared = frozenset(original.get(name, name) for name in local)
    preambles = tuple(process_preambles(code.device_preambles))
    text, steps = code.device_code().removeprefix("".join(preambles)), tuple(_steps(entry, original))
    return DeviceSource(entry.name, dialect, text, kept, scratch, launches, steps, shared, preambles=preambles)


def _refuse_open_extents(entry: lp.LoopKernel, original: Mapping[str, str], dialect: str) -> None:
    for name, local in entry.temporary_variables.items():
        known = all(hasattr(extent, "__index__") for extent in local.shape)
        if local.address_space != AddressSpace.GLOBAL and not known:
            what = f"local array '{original.get(name, name)}' has a size that only a launch tells"
            raise CodegenError(f"{what}, which {dialect} does not have: name what it depends on in a jit clause")


def _refuse_lost_strides(entry: lp.LoopKernel) -> None:
    """Refuse split loops of so few iterations that one new counter is a fraction of the other.

    loopy 2025.2 then runs the iterations that the fraction rounds to as well: of ``-1 <= 4*o + i < 1``, in which i is
    -3*o, those with i = 1 and i = 2.
    """
    for domain in entry.domains if entry.applied_iname_rewrites else ():
        hull = domain.affine_hull()
        for constraint in hull.get_constraints():
            counters = hull.get_var_names(dim_type.set)
            values = (constraint.get_coefficient_val(dim_type.set, k) for k in range(len(counters)))
            pairs = zip(counters, values, strict=True)
            factors = {name: value.to_python() for name, value in pairs if not value.is_zero()}
            if constraint.is_equality() and len(factors) > 1 and max(map(abs, factors.values())) > 1:
                names = " and ".join(f"'{name}'" for name in factors)
                raise CodegenError(f"{names} belong to a loop of too few iterations to be split")


def _fixed(values: tuple[Value, ...], jit: Mapping[str, Number]) -> tuple[dict[str, Any], tuple[Value, ...]]:
    """The values that *jit* determines, as constants, and the others."""
    fixed: dict[str, Any] = {}
    for value in values:
        if value.expr is not None and is_launch_expr(value.expr, set(jit)):
            number = convert(evaluate(value.expr, jit), value.dtype)
            fixed[value.name] = constant(number, value.dtype) if isinstance(number, float) else number
    return fixed, tuple(value for value in values if value.name not in fixed)


def _with_valid_priorities(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* with the loop priorities of sequential loops only: loopy trips on renamed and on parallel inames."""
    entry = kernel.default_entrypoint

    def sequential(iname: str) -> bool:
        return iname in entry.all_inames() and not entry.iname_tags_of_type(iname, ConcurrentTag)

    kept = (tuple(filter(sequential, priority)) for priority in entry.loop_priority)
    return kernel.with_kernel(entry.copy(loop_priority=frozenset(k for k in kept if len(k) > 1)))


def each_by_itself(kernel: lp.TranslationUnit, shared: Set[str] = frozenset()) -> lp.TranslationUnit:
    """*kernel* for items that are known not to meet, except in the locals *shared* of a group: nothing else waits.

    So loopy need not look at each pair of accesses.
    """
    entry = kernel.default_entrypoint
    alone = {insn.id for insn in entry.instructions if not shared & insn.dependency_names()}
    no_one = frozenset((insn.id, "any") for insn in entry.instructions)
    these = frozenset((name, "any") for name in alone)
    instructions = [i.copy(no_sync_with=no_one if i.id in alone else these) for i in entry.instructions]
    instructions = list(_by_all_items(entry, instructions))
    spaces = {False: AddressSpace.PRIVATE, True: AddressSpace.LOCAL}
    locals_ = {name: t.copy(address_space=spaces[name in shared]) for name, t in entry.temporary_variables.items()}
    return kernel.with_kernel(entry.copy(instructions=instructions, temporary_variables=locals_))


def _by_all_items(entry: lp.LoopKernel, instructions: Iterable[Any]) -> Iterator[Any]:
    """*instructions*; those outside of the loops over items are done by each of these, as part of the longest loops."""
    items: dict[Any, list[str]] = {}
    for iname in sorted(entry.all_inames()):
        for tag in entry.iname_tags_of_type(iname, LocalInameTag):
            items.setdefault(tag, []).append(iname)
    all_items = {tag: max(inames, key=entry.get_constant_iname_length) for tag, inames in items.items()}
    for insn in instructions:
        missing = frozenset(all_items[tag] for tag, inames in items.items() if not insn.within_inames & {*inames})
        yield insn.copy(within_inames=insn.within_inames | missing) if missing else insn


def _without_needless_barriers(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* without barriers between instructions in the same parallel loops that loopy cannot tell apart.

    loopy asks for a barrier, or fails, where it cannot look into C text or into a subscript that data decide.  The
    instructions in the same parallel loops are run by one item, one after the other; they conflict with those of other
    items only in a schedule that lets iterations run in parallel that depend on each other.
    """
    entry = kernel.default_entrypoint
    unclear = {insn.id for insn in entry.instructions if _is_unclear(entry, insn)}
    parallel = {iname for iname in entry.all_inames() if entry.iname_tags_of_type(iname, ConcurrentTag)}
    nests: dict[frozenset[str], set[str]] = {}
    for insn in entry.instructions:
        nests.setdefault(insn.within_inames & parallel, set()).add(insn.id)
    instructions = []
    for insn in entry.instructions:
        others = nests[insn.within_inames & parallel] - {insn.id}
        free = others if insn.id in unclear else others & unclear
        added = frozenset((other, "any") for other in free)
        instructions.append(insn.copy(no_sync_with=insn.no_sync_with | added) if added else insn)
    return kernel.with_kernel(entry.copy(instructions=instructions))


def _is_unclear(entry: lp.LoopKernel, insn: Any) -> bool:
    """Whether *insn* is C text, or writes an element whose subscript depends on data."""
    if isinstance(insn, lp.CInstruction):
        return True
    data = set(entry.temporary_variables) | {arg.name for arg in entry.args if not isinstance(arg, lp.ValueArg)}
    return any(subscript & data for subscript in insn.assignee_subscript_deps())


def _without_empty_loops(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* without what never runs, whatever the parameters are: loopy makes no loops of empty domains."""
    entry = kernel.default_entrypoint
    idle = {
        insn.id
        for insn in entry.instructions
        if (inames := insn.within_inames | insn.reduction_inames())
        and entry.get_inames_domain(inames).is_empty()
    }
    if not idle:
        return kernel
    kernel = lp.remove_unused_inames(lp.remove_instructions(kernel, idle))
    entry = kernel.default_entrypoint
    loops = [domain for domain in entry.domains if domain.dim(dim_type.set)]
    return kernel.with_kernel(entry.copy(domains=loops or [isl.BasicSet("{ : }")]))


def is_parallel(kernel: lp.TranslationUnit) -> bool:
    """Whether some loop of *kernel* is mapped to a parallel axis."""
    entry = kernel.default_entrypoint
    return any(entry.iname_tags_of_type(iname, ConcurrentTag) for iname in entry.all_inames())


def parallel_writers(kernel: lp.TranslationUnit, names: set[str]) -> Iterator[tuple[str, str]]:
    """Each of the single cells *names* that several iterations of a parallel loop write, with that loop's iname."""
    entry = kernel.default_entrypoint
    for instruction in entry.instructions:
        for name in set(instruction.assignee_var_names()) & names:
            for iname in sorted(instruction.within_inames):
                if entry.iname_tags_of_type(iname, ConcurrentTag) and _repeats(entry, instruction, iname):
                    yield name, iname


def _repeats(entry: lp.LoopKernel, instruction: Any, iname: str) -> bool:
    """Whether *instruction* may run for two values of *iname*, its predicates considered."""
    runs = entry.get_inames_domain(instruction.within_inames).to_set()
    for predicate in instruction.predicates:
        holds = condition_to_set(runs.space, predicate)
        runs = runs & holds if holds is not None else runs
    pairs = isl.Map.from_domain_and_range(runs, runs)
    place = runs.find_dim_by_name(dim_type.set, iname)
    return not pairs.order_lt(dim_type.in_, place, dim_type.out, place).is_empty()


def _global_temporaries(entry: lp.LoopKernel, original: Mapping[str, str]) -> Iterator[Scratch]:
    for name in sorted(entry.temporary_variables):
        temporary = entry.temporary_variables[name]
        if temporary.address_space == AddressSpace.GLOBAL:
            (size,) = _sizes((reduce(lambda a, b: a * b, temporary.shape, 1),), original)
            yield Scratch(original.get(name, name), str(temporary.dtype.numpy_dtype), size)


def _steps(entry: lp.LoopKernel, original: Mapping[str, str]) -> Iterator[Step]:
    """The code of a scheduled kernel."""
    depth = 0
    for item in entry.linearization:
        match item:
            case EnterLoop(iname=iname):
                depth += 1
                yield "loop", original.get(iname, iname)
            case LeaveLoop(iname=iname):
                depth -= 1
                yield "end", original.get(iname, iname)
            case RunInstruction(insn_id=name):
                if loop := matrix_units.loop_of(entry.id_to_insn[name]):
                    yield "loop", original.get(loop, loop)
                yield "run", name
                if loop:
                    yield "end", original.get(loop, loop)
            case Barrier(synchronization_kind="local", mem_kind=memory):
                yield "barrier", "local" if memory == "local" else "group"
            case ReturnFromKernel():
                yield "barrier", "all"
            case CallKernel() if depth:
                raise CodegenError("a loop goes around what must be several kernels")


def _launches(kernel: lp.TranslationUnit, scratch: set[str], original: Mapping[str, str]) -> Iterator[Launch]:
    entry = kernel.default_entrypoint
    for place, item in enumerate(entry.linearization):
        if isinstance(item, CallKernel):
            instructions = get_insn_ids_for_block_at(entry.linearization, place)
            grid, block = entry.get_grid_sizes_for_insn_ids_as_exprs(instructions, kernel.callables_table)
            passed = get_subkernel_arg_info(entry, item.kernel_name).passed_names
            yield Launch(
                item.kernel_name,
                tuple(_argument(entry, name, scratch, original) for name in passed),
                *_same_rank(_sizes(grid, original), _sizes(block, original)),
                group_memory.asked_for(entry, item.kernel_name),
            )


def _argument(entry: lp.LoopKernel, name: str, scratch: set[str], original: Mapping[str, str]) -> Argument:
    given = original.get(name, name)
    if given in scratch:
        return Argument("scratch", given)
    return Argument("value" if isinstance(entry.arg_dict[name], lp.ValueArg) else "buffer", given)


def _same_rank(grid: tuple[Expr, ...], block: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    rank = max(len(grid), len(block), 1)
    ones = (Const(1, INDEX),) * rank
    return (grid + ones)[:rank], (block + ones)[:rank]


def _sizes(exprs: tuple[Any, ...], original: Mapping[str, str]) -> tuple[Expr, ...]:
    mapper = lp.symbolic.SubstitutionMapper(make_subst_func({new: var(old) for new, old in original.items()}))
    return tuple(_launch_expr(mapper(expr)) for expr in exprs)


def _launch_expr(expr: Any) -> Expr:
    """A pymbolic integer expression over values as a launch expression."""
    match expr:
        case int():
            return Const(expr, INDEX)
        case p.Variable():
            return Var(expr.name, INDEX)
        case p.Sum():
            return _chain("+", expr.children)
        case p.Product():
            return _chain("*", expr.children)
        case p.Min():
            return _chain("min", expr.children)
        case p.Max():
            return _chain("max", expr.children)
        case p.FloorDiv():
            return Binary("//", _launch_expr(expr.numerator), _launch_expr(expr.denominator), INDEX)
    if hasattr(expr, "__index__"):
        return Const(int(expr), INDEX)
    raise CodegenError(f"a grid size is not an expression of parameters: {expr}")


def _chain(op: str, children: tuple[Any, ...]) -> Expr:
    return reduce(lambda left, right: Binary(op, left, right, INDEX), map(_launch_expr, children))
