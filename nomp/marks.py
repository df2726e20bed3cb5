"""Marks on a kernel's instructions, by which it can be told what scripts have made of the loops around them.

A mark is a predicate that always holds, one for each loop around the instruction: ``i != -2**62``.  Whatever a script
does to loops, loopy writes into it what the loop's iname has become: ``i_inner + 16*i_outer != -2**62``.
Used by `pipeline` around scripts, `priorities` and `execution`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import loopy as lp
from pymbolic import primitives as p
from pymbolic import var

from nomp.lower import Lowered

_MARK = -(2**62)

Marks = Mapping[str, Mapping[str, Any]]
"""For each instruction, what the inames around it have become."""


def marked(lowered: Lowered) -> lp.TranslationUnit:
    """The kernel of *lowered* with the marks of its loops."""
    entry = lowered.kernel.default_entrypoint
    marks = {iname: p.Comparison(var(iname), "!=", _MARK - k) for k, iname in enumerate(lowered.counters)}
    instructions = [
        insn.copy(predicates=insn.predicates | {marks[iname] for iname in insn.within_inames})
        for insn in entry.instructions
    ]
    return lowered.kernel.with_kernel(entry.copy(instructions=instructions))


def unmarked(lowered: Lowered, kernel: lp.TranslationUnit) -> tuple[lp.TranslationUnit, Marks]:
    """*kernel*, which scripts have made, without marks; and these."""
    entry = kernel.default_entrypoint
    inames, marks, instructions = list(lowered.counters), dict[str, dict[str, Any]](), []
    for insn in entry.instructions:
        own = {predicate: number for predicate in insn.predicates if (number := _number(predicate)) is not None}
        marks[insn.id] = {inames[number]: predicate.left for predicate, number in own.items()}
        instructions.append(insn.copy(predicates=insn.predicates - own.keys()) if own else insn)
    return kernel.with_kernel(entry.copy(instructions=instructions)), marks


def _number(predicate: Any) -> int | None:
    match predicate:
        case p.Comparison(operator="!=", right=int(right)) if right <= _MARK:
            return _MARK - right
    return None
