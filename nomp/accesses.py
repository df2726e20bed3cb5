"""What the iterations of a region's loops touch: each mention of a variable, and the iterations that get to it.

In: a region.  Out: `Access`es.  Iterations are integer sets over the counters' values; what is not affine in counters
and parameters (data, ``while``, jumps) makes a set larger than the truth, and the access inexact.  Used by
`dependence`, `conflict` and all that judge schedules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import islpy as isl

from nomp import jumps
from nomp.accumulation import Cell
from nomp.arithmetic import is_float, is_signed
from nomp.frontend.private import sets_first
from nomp.loops import compares_as_integers, signed_step
from nomp.polynomial import Polynomial, polynomial
from nomp.pragma_help import OPERATORS
from nomp.region import (
    COMPARISONS,
    Assign,
    Binary,
    Const,
    Declare,
    Expr,
    For,
    If,
    Load,
    Param,
    Place,
    Region,
    Select,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
)
from nomp.walks import expressions, loads, operands, walk, without_places


@dataclass(frozen=True, slots=True)
class Access:
    """A mention of *variable* (the element *index* of it) in the body of *loops*, outermost first.

    *domain* holds the iterations that get there, counters in the order of *loops*; it is *exact*, or too large.  A
    subscript is None where it is no polynomial; an array that the program steps through from row to row has one
    subscript, in row order.  *op* is the operator where the mention is part of an accumulation, *statement* the
    number of the statement that it is part of, as `walk` counts.
    """

    variable: str
    writes: bool
    index: tuple[Polynomial | None, ...]
    loops: tuple[For, ...]
    domain: isl.Set
    exact: bool
    place: Place
    op: str = ""
    statement: int = 0


@dataclass(frozen=True, slots=True)
class Accesses:
    """The accesses of a region in program order.  *parameters* gives the names that sets have for the region's scalars.

    *declared* says how many loops are around the declaration of each local: it is private to their iterations.
    """

    found: tuple[Access, ...]
    parameters: Mapping[str, str]
    declared: Mapping[str, int]


def accesses(region: Region, *, each: bool = False) -> Accesses:
    """The accesses of *region*; *each* of them: of a local's first value, too, and those that are like earlier ones."""
    reader = _Reader(region, each)
    reader.body(region.body, _Site((), reader.everything(()), True))
    found = (replace(access, domain=access.domain.intersect_params(reader.defined)) for access in reader.found)
    return Accesses(tuple(found), reader.parameters, reader.declared)


def parameters(region: Region) -> dict[str, str]:
    """The names that sets have for the scalars of *region* that may be in them."""
    return {param.name: f"p{number}" for number, param in enumerate(_integers(region))}


def _integers(region: Region) -> list[Param]:
    return [param for param in region.params if param.kind == "scalar" and not is_float(param.dtype)]


def spelled(found: Any, parameters: Mapping[str, str]) -> tuple[str, bool]:
    """A set or map of isl's as text, for any values of what is not in *parameters*; whether these do not matter."""
    exact, param = True, isl.dim_type.param
    for place in reversed(range(found.dim(param))):
        if found.get_dim_name(param, place) not in parameters:
            exact = exact and not found.involves_dims(param, place, 1)
            found = found.project_out(param, place, 1)
    names = [parameters[found.get_dim_name(param, place)] for place in range(found.dim(param))]
    for form in ("_{}_", "{}"):  # in two steps: a region may have scalars p0 and p1 of its own
        for place, name in enumerate(names):
            found = found.set_dim_name(param, place, form.format(name))
    return str(found), exact


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a statement stands: the *loops* around it, the iterations that get there, whether these are *exact*.

    *statement* is its number, *own* the cell that it accumulates into.
    """

    loops: tuple[For, ...]
    domain: isl.Set
    exact: bool
    own: Cell | None = None
    statement: int = 0

    def within(self, domain: isl.Set, exact: bool) -> _Site:
        """This site, where only the iterations of *domain* get to."""
        return replace(self, domain=self.domain & domain, exact=self.exact and exact)


@dataclass(frozen=True, slots=True)
class _Truth:
    """The iterations in which a condition may hold and those in which it may not; if *exact*, these are apart."""

    yes: isl.Set
    no: isl.Set
    exact: bool


class _Reader:
    """Walks through a region.

    *known* says what counters, parameters and locals are that never change, and scalars that each iteration sets once
    (`_set_once`) from there to its end.  *defined* are the parameters with which no subscript is certainly out of
    bounds: C defines what the region does only for these.
    """

    def __init__(self, region: Region, each: bool) -> None:
        self.parameters = parameters(region)
        natural = (p.name for p in _integers(region) if p.dtype == "bool" or not is_signed(p.dtype))
        self._natural = [self.parameters[name] for name in natural]
        self.known = {name: _variable(name) for name in self.parameters}
        arrays = {param.name for param in region.params if param.kind in ("array", "cell")}
        self.declared = dict.fromkeys(arrays, 0)
        self._shapes = {param.name: param.shape for param in region.params if param.kind == "array"}
        self._assigned = Counter(scalar.name for stmt in walk(region.body) if (scalar := _scalar_target(stmt)))
        self._set_once: set[str] = set()
        self._flat = {load.array for stmt in walk(region.body) for load in loads(stmt) if load.flat}
        self.found: list[Access] = []
        self._seen: dict[object, isl.Set] = {}
        self.defined = self.everything(()).params()
        self._each = each
        self._numbers = {id(stmt): number for number, stmt in enumerate(walk(region.body))}

    # ----------------------------------------------------------------------------------------------------- sets

    def set(self, loops: tuple[For, ...], constraint: str) -> isl.Set:
        """The iterations of *loops* that *constraint* allows; counter number *k* is called ``ik`` in it."""
        counters = ", ".join(f"i{depth}" for depth in range(len(loops)))
        parameters = ", ".join(self.parameters.values())
        return isl.Set(f"[{parameters}] -> {{ [{counters}] : {constraint} }}")

    def everything(self, loops: tuple[For, ...]) -> isl.Set:
        """All iterations of *loops*, for parameters of their types."""
        return self.set(loops, " and ".join(f"{name} >= 0" for name in self._natural) or "true")

    def affine(self, expr: Expr, site: _Site, *, offset: bool = True) -> str | None:
        """*expr* as isl spells it, None if it is not affine; *offset* is that of `polynomial`."""
        found = polynomial(expr, self.known, offset=offset)
        if found is None or not found.is_affine:
            return None
        spelled = self.parameters | {loop.iname: f"i{depth}" for depth, loop in enumerate(site.loops)}
        return found.renamed(spelled).text()

    def _truth(self, cond: Expr, site: _Site) -> _Truth:
        match cond:
            case Unary(op="!", operand=operand):
                inner = self._truth(operand, site)
                return _Truth(inner.no, inner.yes, inner.exact)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                one, two = self._truth(left, site), self._truth(right, site)
                exact = one.exact and two.exact
                return _both(one, two, exact) if op == "&&" else _either(one, two, exact)
            case Binary(op=op, left=left, right=right) if op in COMPARISONS:
                first, second = (self.affine(side, site, offset=False) for side in (left, right))
            case _:
                op, first, second = "!=", self.affine(cond, site, offset=False), "0"
        everything = self.everything(site.loops)
        if first is None or second is None:
            return _Truth(everything, everything, False)
        holds = self.set(site.loops, f"{first} {'=' if op == '==' else op} {second}")
        return _Truth(everything & holds, everything - holds, True)

    def _inside(self, loop: For, site: _Site) -> _Site:
        """The site of the body of *loop*, which stands at *site*."""
        loops = (*site.loops, loop)
        inner = replace(site, loops=loops, domain=site.domain.add_dims(isl.dim_type.set, 1), own=None)
        counter, increment = f"i{len(loops) - 1}", signed_step(loop)
        step = int(increment.value) if isinstance(increment, Const) else 0
        if step == 0:
            return replace(inner, exact=False)
        exact = not any(jumps.own(loop.body)) and (loop.relation != "!=" or abs(step) == 1)
        start = f"{counter} {'>=' if step > 0 else '<='} {{0}} and ({counter} - ({{0}})) mod {abs(step)} = 0"
        bounds = [(start, part) for part in (_limits(loop.lower, step < 0) if abs(step) == 1 else (loop.lower,))]
        if compares_as_integers(loop):
            relation = loop.relation if loop.relation != "!=" else "<" if step > 0 else ">"
            bounds += [(f"{counter} {relation} {{0}}", part) for part in _limits(loop.upper, step > 0)]
        for constraint, bound in bounds:
            spelled = self.affine(bound, site)
            exact = exact and spelled is not None
            if spelled is not None:
                inner = inner.within(self.set(loops, constraint.format(spelled)), True)
        return replace(inner, exact=inner.exact and exact and compares_as_integers(loop))

    # ----------------------------------------------------------------------------------------------- statements

    def body(self, stmts: tuple[Stmt, ...], site: _Site) -> None:
        """Read *stmts*, which stand at *site*."""
        for stmt in stmts:
            self._statement(stmt, site)

    def _statement(self, stmt: Stmt, site: _Site) -> None:
        site = replace(site, statement=self._numbers[id(stmt)], own=_accumulation(stmt) or site.own)
        for expr in expressions(stmt):
            self._read(expr, site)
        match stmt:
            case Assign(target=target, value=value):
                self._mention(target, site, writes=True)
                if isinstance(target, Var) and target.name in self._set_once:
                    self._know(target.name, value)
            case Declare(name=name, init=init):
                self.declared[name] = len(site.loops)
                self._shapes[name] = stmt.shape
                if init is not None and self._each:
                    at = stmt.place, "", site.statement
                    self.found.append(Access(name, True, (), site.loops, site.domain, site.exact, *at))
                if init is not None and not self._assigned[name]:
                    self._know(name, init)
            case If(cond=cond, then=then, other=other):
                truth = self._truth(cond, site)
                self.body(then, site.within(truth.yes, truth.exact))
                self.body(other, site.within(truth.no, truth.exact))
            case For(iname=iname, body=body):
                self.known[iname] = _variable(iname)
                once = {scalar.name for inner in body if (scalar := _scalar_target(inner))}
                once = {name for name in once if self._assigned[name] == 1 and sets_first(body, name)}
                self._set_once |= once
                self.body(body, self._inside(stmt, site))
                for name in once:
                    self.known.pop(name, None)
            case While(body=body):
                self.body(body, replace(site, exact=False))
            case Switch(cases=cases):
                for case in cases:
                    self.body(case.body, replace(site, exact=False))

    def _know(self, name: str, value: Expr) -> None:
        """The scalar *name* has *value* wherever it is read from here on, in the iterations that get here."""
        found = polynomial(value, self.known, offset=False)
        if found is not None:
            self.known[name] = found

    def _read(self, expr: Expr, site: _Site) -> None:
        """Note what *expr* reads where it is evaluated."""
        if isinstance(expr, Var | Load):
            self._mention(expr, site, writes=False)
        if isinstance(expr, Select):
            truth = self._truth(expr.cond, site)
            self._read(expr.cond, site)
            self._read(expr.then, site.within(truth.yes, truth.exact))
            self._read(expr.other, site.within(truth.no, truth.exact))
        elif isinstance(expr, Binary) and expr.op in ("&&", "||"):
            truth = self._truth(expr.left, site)
            self._read(expr.left, site)
            self._read(expr.right, site.within(truth.yes if expr.op == "&&" else truth.no, truth.exact))
        else:
            for operand in operands(expr):
                self._read(operand, site)

    def _mention(self, expr: Var | Load, site: _Site, *, writes: bool) -> None:
        name = expr.name if isinstance(expr, Var) else expr.array
        if name in self.declared:
            index = self._index(expr) if isinstance(expr, Load) else ()
            op = site.own.op if site.own and without_places(expr) == site.own.target else ""
            terms = tuple(part and frozenset(part.terms.items()) for part in index)
            key = (name, writes, terms, op, site.exact, id(site.domain), self._each and site.statement)
            if key not in self._seen:  # one that is like another before it adds nothing
                self._seen[key] = site.domain
                domain = self._in_bounds(expr, site) if isinstance(expr, Load) else site.domain
                at = expr.place, op, site.statement
                self.found.append(Access(name, writes, index, site.loops, domain, site.exact, *at))

    def _index(self, load: Load) -> tuple[Polynomial | None, ...]:
        index = tuple(polynomial(part, self.known) for part in load.index)
        if load.array not in self._flat:
            return index
        flat, *inner = index
        for extent, part in zip(self._shapes[load.array][1:], inner, strict=True):
            size = extent and polynomial(extent, self.known)
            flat = flat * size + part if flat and size and part else None
        return (flat,)

    def _in_bounds(self, load: Load, site: _Site) -> isl.Set:
        """The iterations that get to *load*, without those in which a subscript is out of bounds."""
        domain = site.domain
        if load.array in self._flat:
            return domain
        for index, extent in zip(load.index, self._shapes[load.array], strict=True):
            spelled, size = self.affine(index, site), extent and self.affine(extent, site)
            if spelled is not None and size is not None:
                domain &= self.set(site.loops, f"0 <= {spelled} < {size}")
        if site.exact:
            self.defined -= (site.domain - domain).params()
        return domain


def _both(one: _Truth, two: _Truth, exact: bool) -> _Truth:
    return _Truth(one.yes & two.yes, one.no | two.no, exact)


def _either(one: _Truth, two: _Truth, exact: bool) -> _Truth:
    return _Truth(one.yes | two.yes, one.no & two.no, exact)


def _limits(bound: Expr, upper: bool) -> Iterator[Expr]:
    """What a counter must not pass if it must not pass *bound*: of ``a < b ? a : b``, as tiles have it, a and b."""
    match bound:
        case Select(cond=Binary(op="<" | "<=" | ">" | ">=" as op, left=left, right=right), then=then, other=other):
            first, second = (left, right) if (op[0] == "<") == upper else (right, left)
            if without_places((then, other)) == without_places((first, second)):
                yield from _limits(then, upper)
                yield from _limits(other, upper)
                return
    yield bound


def _variable(name: str) -> Polynomial:
    return Polynomial({(name,): 1})


def _scalar_target(stmt: Stmt) -> Var | None:
    return stmt.target if isinstance(stmt, Assign) and isinstance(stmt.target, Var) else None


def _accumulation(stmt: Stmt) -> Cell | None:
    """What *stmt* accumulates into, if it does nothing else."""
    assign = stmt.then[0] if isinstance(stmt, If) and stmt.then else stmt
    if not isinstance(assign, Assign):
        return None
    cells = (Cell(without_places(assign.target), op) for op in OPERATORS)
    return next((cell for cell in cells if cell.accumulates(stmt)), None)
