"""Marks on a kernel's instructions, by which it can be told what scripts have made of the loops around them.

A mark is a predicate that always holds, one for each loop around the instruction: ``i != -2**62``.  Whatever a script
does to loops, loopy writes into it what the loop's iname has become: ``i_inner + 16*i_outer != -2**62``.
Used by `pipeline` around scripts, and by `priorities` and `execution`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import loopy as lp
from islpy import dim_type
from pymbolic import primitives as p
from pymbolic import var

from nomp.device_source import Blame
from nomp.diagnostics import Span
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


def changed_by(given: lp.TranslationUnit, versions: Iterable[tuple[Span, lp.TranslationUnit]]) -> dict[str, Blame]:
    """What in a script last changed each instruction of *given* or its loops; *versions* are what the script made."""
    found: dict[str, Blame] = {}
    before = {insn.id: _looks(given.default_entrypoint, insn) for insn in given.default_entrypoint.instructions}
    known = list(before)
    for number, (span, kernel) in enumerate(versions):
        entry = kernel.default_entrypoint
        now = {insn.id: _looks(entry, insn) for insn in entry.instructions}
        found |= {name: (number, span) for name in known if now.get(name) != before.get(name)}
        before = now
    return found


def _looks(entry: lp.LoopKernel, insn: Any) -> tuple[Any, ...]:
    """All that says when and where *insn* runs."""
    within = insn.within_inames
    tags = {iname: entry.inames[iname].tags for iname in within}
    domains = [str(domain) for domain in entry.domains if within & set(domain.get_var_names(dim_type.set))]
    return insn, tags, domains, {order for order in entry.loop_priority if within & set(order)}
