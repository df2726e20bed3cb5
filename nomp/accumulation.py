"""``s = s OP x``: does a statement only accumulate into a variable or an element, and with what?

In: a statement and a `Cell`.  Out: whether it does.  Such statements may run in any order; `neutral` and `combined` say
what partial results start with, and how two of them become one.  Called by `frontend.reductions`, for ``reduce``
clauses, by `accesses`, and by `reduction` and `gpu_rows`, which add up in parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nomp.affine import preserves_value
from nomp.arithmetic import bits, cast, is_float, promoted
from nomp.loops import MIRRORED, NEGATED
from nomp.region import COMPARISONS, Assign, Binary, Call, Cast, Const, Expr, If, Load, Select, Stmt, Unary, Var
from nomp.walks import mentioned, variable, variables, walk, walk_expr, without_places

_COMPARED = {"min": ("<", "<="), "max": (">", ">=")}
_FUNCTIONS = {"min": "fmin", "max": "fmax"}


@dataclass(frozen=True, slots=True)
class Cell:
    """The scalar or element that is accumulated into (*target*, without places), and the operator."""

    target: Var | Load
    op: str

    def accumulates(self, stmt: Stmt) -> bool:
        """Whether *stmt* as a whole accumulates into the cell."""
        match stmt:
            case Assign(target=target, value=value) if self._is_target(target):
                return self._combines(value)
            case If(cond=Binary() as cond, then=(Assign(target=target, value=value),), other=()):
                return self._is_target(target) and self._replaces(cond, cond.op, value)
        return False

    def _is_target(self, expr: Expr) -> bool:
        """Whether *expr* is the cell itself."""
        return isinstance(expr, type(self.target)) and bool(without_places(expr) == self.target)

    def _bare(self, expr: Expr) -> Expr:
        """*expr* without the conversions that lose nothing which the cell's own type would keep."""
        while isinstance(expr, Cast) and _as_wide(expr.dtype, self.target.dtype):
            expr = expr.operand
        return expr

    def _is_term(self, expr: Expr) -> bool:
        """Whether the cell may be combined with *expr*: it does not mention the cell, nor disturb a truth value."""
        return self._free(expr) and (self.target.dtype != "bool" or self.op not in ("+", "^") or _is_truth(expr))

    def _found(self, expr: Expr) -> bool:
        """Whether *expr* is the cell, conversions aside."""
        return self._is_target(self._bare(expr))

    def _free(self, expr: Expr) -> bool:
        """Whether *expr* does not mention the cell; another element of its array is another variable."""
        return not any(self._is_target(inner) for inner in walk_expr(expr))

    def _combines(self, value: Expr) -> bool:
        """Whether *value*, assigned to the cell, is what the cell held, combined with something else."""
        inner = self._bare(value)

        def converted(branch: Expr) -> Expr:
            """*branch* of a conditional expression with the conversions around all of it."""
            plain = _exact(branch)
            narrow = plain if _keeps_values(plain.dtype, value.dtype) else cast(branch, inner.dtype)
            return branch if value is inner else cast(narrow, value.dtype)

        match inner:
            case Call(function=function, args=(left, right)) if function == _FUNCTIONS.get(self.op):
                return (self._found(left) and self._free(right)) or (self._found(right) and self._free(left))
            case Select(cond=Binary() as cond, then=then, other=other) if self._found(other):
                return self._replaces(cond, cond.op, converted(then))
            case Select(cond=Binary() as cond, then=then, other=other) if self._found(then):
                return self._replaces(cond, NEGATED.get(cond.op, ""), converted(other))
            case Binary(op=used, left=left, right=right) if self._keeps_kind(used, left):
                return self._chain(used, left, right)
        return False

    def _keeps_kind(self, used: str, left: Expr) -> bool:
        """Whether the operation is one on integers for an integer cell: ``int s; s += 0.5`` is no sum."""
        return used in ("&&", "||") or is_float(self.target.dtype) or not is_float(left.dtype)

    def _chain(self, used: str, left: Expr, right: Expr) -> bool:
        """Whether ``left used right`` is ``s op x``, ``x op s`` or, of sums and products, a chain with one ``s``."""
        if used == "-" and self.op == "+" and self.target.dtype != "bool":
            return self._free(right) and (self._found(left) or self._combines(left))
        if used != self.op:
            return False
        nested = self.op in ("+", "*")
        return any(
            self._is_term(other) and (self._found(side) or (nested and not self._free(side) and self._combines(side)))
            for side, other in ((left, right), (right, left))
        )

    def _replaces(self, cond: Binary, relation: str, value: Expr) -> bool:
        """Whether ``if (left relation right) s = value`` keeps the smaller (``min``) or larger (``max``) of the two."""
        left, right = _exact(cond.left), _exact(cond.right)
        if self._is_target(left):
            left, right, relation = right, left, MIRRORED.get(relation, "")
        if isinstance(value, Cast) and _grows(value.operand.dtype, value.dtype):
            value = value.operand
        same = without_places(left) == without_places(_exact(value))
        return relation in _COMPARED.get(self.op, ()) and self._is_target(right) and same and self._free(value)


def misuse(body: tuple[Stmt, ...], cell: Cell) -> Stmt | None:
    """The first statement of *body* that mentions the variable or array of *cell* and does not accumulate into it."""
    accumulating = [stmt for stmt in walk(body) if cell.accumulates(stmt)]
    accepted = {id(inner) for stmt in accumulating for inner in (stmt, *(stmt.then if isinstance(stmt, If) else ()))}
    name = variable(cell.target)
    return next((s for s in walk(body) if id(s) not in accepted and name in variables(*mentioned(s))), None)


def _exact(expr: Expr) -> Expr:
    """*expr* without the conversions around it that keep all values."""
    while isinstance(expr, Cast) and _keeps_values(expr.operand.dtype, expr.dtype):
        expr = expr.operand
    return expr


def _keeps_values(dtype: str, target: str) -> bool:
    if is_float(target):
        return dtype <= target if is_float(dtype) else bits(dtype) <= _EXACT_BITS[target]
    return preserves_value(dtype, target)


def _grows(dtype: str, target: str) -> bool:
    """Whether a conversion keeps the order of values, were it that some become equal."""
    return target != "bool" and (is_float(dtype) or is_float(target) or preserves_value(dtype, target))


def _is_truth(expr: Expr) -> bool:
    """Whether *expr* is 0 or 1."""
    while isinstance(expr, Cast) and not is_float(expr.dtype):
        expr = expr.operand
    truth = isinstance(expr, Binary) and (expr.op in COMPARISONS or expr.op in ("&&", "||"))
    return truth or expr.dtype == "bool" or (isinstance(expr, Unary) and expr.op == "!")


_EXACT_BITS = {"float32": 16, "float64": 32}
"""The widest integers of which a floating-point type holds every value."""


def _as_wide(dtype: str, least: str) -> bool:
    if is_float(dtype):
        return dtype >= least if is_float(least) else bits(least) <= _EXACT_BITS[dtype]
    return not is_float(least) and bits(dtype) >= bits(least)


_STARTS: Mapping[str, float] = {"+": -0.0, "^": 0, "*": 1}
"""Where an accumulator starts, which changes nothing, not even a -0.0; every other operator is idempotent, and starts
with the variable's own value."""


def neutral(op: str, cell: Var | Load) -> Expr:
    """What an accumulator for *cell* starts with, one of several whose results are combined with it."""
    if op not in _STARTS:
        return cell
    return Const(float(_STARTS[op]) if is_float(cell.dtype) else int(_STARTS[op]), cell.dtype)


def combined(op: str, left: Expr, right: Expr) -> Expr:
    """``left OP right`` for two values of a reduction, in their type."""
    dtype = left.dtype
    if op in ("min", "max"):
        better: Expr = Binary("<" if op == "min" else ">", right, left, "int32")
        if is_float(dtype):  # fmin takes the other one where one of the two is no number
            better = Binary("||", better, Binary("!=", left, left, "int32"), "int32")
        return Select(better, right, left, dtype)
    wide = promoted(dtype)
    result = "int32" if op in ("&&", "||") else wide
    return cast(Binary(op, cast(left, wide), cast(right, wide), result), dtype)
