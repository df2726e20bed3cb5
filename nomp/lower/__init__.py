"""Region to loopy kernel: C's arithmetic spelled out, one domain a loop, the source's order kept.

In: a `Region` and the `Variant` to lower it for.  Out: a loopy `TranslationUnit` in the form that transform scripts are
written against (the user's names for loops, arrays and parameters), and the `Value` of each of its scalar arguments.
Called by `pipeline`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import loopy as lp
import numpy as np
from islpy import dim_type
from loopy.symbolic import Reduction as LoopyReduction
from pymbolic import primitives as p

from nomp.clocks import timed
from nomp.device_source import Value, Variant
from nomp.lower.builder import Builder, Context
from nomp.lower.dialects import DIALECTS
from nomp.lower.functions import callables
from nomp.lower.names import entry_name
from nomp.lower.statements import lower_body
from nomp.region import Assign, Binary, Cast, Expr, For, Region, Var
from nomp.walks import walk

LANGUAGE = (2018, 2)
_LOOPY_REDUCTIONS = {"+": "sum", "*": "product", "min": "min", "max": "max"}


@dataclass(frozen=True, slots=True)
class Lowered:
    """A lowered region: *kernel* for loopy, *values* for the launcher.

    *counters* has the value of each loop's counter in terms of inames, outer loops first; *statements* says which
    statement of the region, counted as `walks.walk` does, an instruction carries out.
    """

    kernel: lp.TranslationUnit
    values: tuple[Value, ...]
    counters: Mapping[str, Any]
    statements: Mapping[str, int]


@timed("lower")
def lower(region: Region, variant: Variant, dialect: str, *, for_script: bool = False) -> Lowered:
    """Lower *region* for devices of *dialect*.

    *for_script*: every ``for`` stays a loop of loopy's, and one that is nothing but ``s OP= expression`` of a reduce
    clause becomes one loopy reduction, which scripts can split and map; without a script `reduction` has rewritten it.
    """
    lp.set_caching_enabled(False)
    builder = Builder(region, variant, dialect, for_script)
    builder.parameters()
    simple = _simple_reduction(region) if for_script else None
    if simple:
        _reduce(builder, *simple)
    else:
        lower_body(builder, region.body, Context())
    loops = (stmt.iname for stmt in walk(region.body) if isinstance(stmt, For))
    counters = {iname: builder.names[iname].plain for iname in loops if iname in builder.names}
    return Lowered(_make(builder), tuple(builder.values), counters, builder.statements)


def show(kernel: lp.TranslationUnit) -> str:
    """*kernel* as text, its loops named from the outside in (loopy's own order changes from run to run)."""
    order = [iname for domain in kernel.default_entrypoint.domains for iname in domain.get_var_names(dim_type.set)]

    def ordered(match: re.Match[str]) -> str:
        return match[1] + ", ".join(sorted(match[2].split(", "), key=order.index))

    return re.sub(r"\b((?:for|end) )(\w+(?:, \w+)+)$", ordered, str(kernel), flags=re.MULTILINE)


def _make(builder: Builder) -> lp.TranslationUnit:
    kernel = lp.make_kernel(
        builder.domains or "{ : }",
        builder.instructions or [lp.NoOpInstruction(id="nothing")],
        [*builder.arguments, *builder.temporaries.values()],
        name=entry_name(builder.region.name),
        lang_version=LANGUAGE,
        target=DIALECTS[builder.dialect].targets[builder.variant.apart](),
        index_dtype=np.int64,
        # A C program is in bounds by definition; loopy would refuse what it cannot prove.
        options=lp.Options(enforce_array_accesses_within_bounds="no_check", allow_terminal_colors=False),
        seq_dependencies=False,
    )
    for name, function in callables(builder.region.functions).items():
        kernel = lp.register_callable(kernel, name, function)
    loops = kernel.default_entrypoint
    return kernel.with_kernel(loops.copy(loop_priority=frozenset(builder.priorities)))


def _simple_reduction(region: Region) -> tuple[For, Var, str, Expr, Expr] | None:
    """The loop, cell, operator, the cell's own operand and the other one, of ``for (...) s = s OP expression``."""
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For) or len(loop.body) != 1:
        return None
    clauses = {reduction.name: reduction.op for reduction in region.clauses.reductions}
    match loop.body[0]:
        case Assign(target=Var() as target, value=value) if clauses.get(target.name) in _LOOPY_REDUCTIONS:
            inner = value.operand if isinstance(value, Cast) else value
            if isinstance(inner, Binary) and inner.op == clauses[target.name] and _is_cell(inner.left, target):
                return loop, target, inner.op, inner.left, inner.right
    return None


def _is_cell(expr: Expr, target: Var) -> bool:
    expr = expr.operand if isinstance(expr, Cast) else expr
    return isinstance(expr, Var) and expr.name == target.name


def _reduce(builder: Builder, loop: For, cell: Var, op: str, own: Expr, term: Expr) -> None:
    """``s = s OP reduce(OP, i, expression)``, outside the loop."""
    builder.loop(loop, Context())
    spelled: Any = LoopyReduction(_LOOPY_REDUCTIONS[op], (loop.iname,), builder.spell.value(term))
    before = builder.spell.value(own)
    total = p.Sum((before, spelled)) if op == "+" else p.Product((before, spelled))
    builder.assign(builder.names[cell.name].plain, total, Context(statement=1))
