"""Python expressions to typed expressions of the loop IR.

In: ``ast`` nodes and the `Context`.  Out: an `Object`: a number, or an array, a shape, a function that the program
names on the way to one.  Called by `frontend.python_statements`.  Raises `NompError` N231, N233, N236, N237, N238.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType

import numpy as np

from nomp.arithmetic import cast, is_signed
from nomp.diagnostics import NompError, did_you_mean
from nomp.frontend import python_arithmetic as arithmetic
from nomp.frontend.python_calls import call
from nomp.frontend.python_context import (
    Array,
    Constant,
    Context,
    Layout,
    Number,
    Object,
    Shape,
    Static,
    Subscript,
    Unset,
    Unusable,
)
from nomp.frontend.python_integers import lowest
from nomp.frontend.python_types import OWN, NoType, Value, as_type, constant_of, is_integer, number, shown, value
from nomp.region import Binary, Const, Expr, Load, Param, Select

_OPERATORS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide,
    ast.FloorDiv: np.floor_divide, ast.Mod: np.remainder, ast.Pow: np.power, ast.LShift: np.left_shift,
    ast.RShift: np.right_shift, ast.BitAnd: np.bitwise_and, ast.BitOr: np.bitwise_or, ast.BitXor: np.bitwise_xor,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], np.ufunc] = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
    ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip

_KINDS = {
    ast.List: ("a list", "use a NumPy array that is made before the loop, or single variables"),
    ast.Tuple: ("a tuple", "use single variables"),
    ast.Dict: ("a dict", "look its values up before the loop"),
    ast.Set: ("a set", "compute with numbers and NumPy arrays"),
    ast.JoinedStr: ("a string", "make strings after the loop"),
    ast.Lambda: ("a lambda", "call a function that 'def' defines"),
    ast.ListComp: ("a list comprehension", "write a loop that fills a NumPy array"),
    ast.SetComp: ("a set comprehension", "write a loop that fills a NumPy array"),
    ast.DictComp: ("a dict comprehension", "write a loop that fills a NumPy array"),
    ast.GeneratorExp: ("a generator", "write a loop"),
    ast.Await: ("'await'", "wait before or after the loop"),
    ast.Yield: ("'yield'", "fill an array, and yield its elements after the loop"),
    ast.YieldFrom: ("'yield from'", "fill an array, and yield its elements after the loop"),
    ast.NamedExpr: ("':='", "assign in a statement of its own"),
    ast.Slice: ("a slice", "write a loop over the elements"),
    ast.Starred: ("'*'", "name the arguments one by one"),
}


def number_of(ctx: Context, node: ast.expr) -> Value:
    """The number that *node* computes."""
    found = translate(ctx, node)
    if isinstance(found, Value):
        return found
    if isinstance(found, Array):
        left = found.layout.rank - len(found.index)
        what = f"'{found.name}' has {found.layout.rank} axes, of which {left} have no subscript here"
        raise ctx.refusal("N238", node, what, "name a single element: one subscript for each axis")
    what = "a shape" if isinstance(found, Shape) else f"'{ast.unparse(node)}'"
    raise ctx.refusal("N232", node, f"{what} is no number", "compute with numbers and elements of arrays")


def translate(ctx: Context, node: ast.expr) -> Object:
    """What *node* is."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        what, advice = _KINDS.get(type(node), (f"'{ast.unparse(node)}'", "compute it before the loop"))
        raise ctx.refusal("N231", node, f"a kernel cannot have {what}", advice)
    try:
        return handler(ctx, node)
    except NoType as reason:
        raise unsuitable(ctx, node, reason) from None


def unsuitable(ctx: Context, node: ast.AST, reason: NoType) -> NompError:
    """What to say of an operation at *node* that *reason* forbids."""
    if reason.out_of_range:
        return ctx.refusal("N236", node, str(reason), "use a wider type, or a number in its range")
    return ctx.refusal("N233", node, str(reason), "convert one of the operands first")


def condition(ctx: Context, node: ast.expr) -> Expr:
    """*node* as a truth value: an int32 that is 0 or 1, or an expression to be compared with 0."""
    match node:
        case ast.BoolOp(op=op, values=values):
            symbol = "&&" if isinstance(op, ast.And) else "||"
            first, *rest = [condition(ctx, part) for part in values]
            for part in rest:
                first = Binary(symbol, first, part, "int32")
            return first
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _not(condition(ctx, operand))
    return arithmetic.truth(number_of(ctx, node))


def _not(truth: Expr) -> Expr:
    if isinstance(truth, Const):
        return Const(int(not truth.value), "int32")
    return Binary("==", truth, Const(0, "int32"), "int32")


# ------------------------------------------------------------------------------------------------- names, constants


def _constant(ctx: Context, node: ast.Constant) -> Object:
    if isinstance(node.value, bool | int | float):
        return number(node.value)
    what = {str: "a string", bytes: "bytes", complex: "a complex number", type(None): "None"}
    shown_ = what.get(type(node.value), f"'{ast.unparse(node)}'")
    raise ctx.refusal("N231", node, f"a kernel cannot have {shown_}", "kernels compute with real numbers only")


def _name(ctx: Context, node: ast.Name) -> Object:
    name = node.id
    if name in ctx.counters:
        return value(ctx.counters[name], "pyint")
    if name in ctx.kinds:
        return ctx.variable(name, node)
    given = ctx.given.get(name)
    match given:
        case None:
            advice = did_you_mean(name, [*ctx.given, *ctx.kinds]) or "assign to it before the loop"
            raise ctx.refusal("N237", node, f"'{name}' has no value here", advice)
        case Number(kind=kind):
            return value(ctx.parameter(("value", name), name, OWN.get(kind, kind), name, ctx.place(node)), kind)
        case Layout():
            return Array(name, given)
        case Unusable(what=what, advice=advice, code=code):
            raise ctx.refusal(code, node, f"'{name}' is {what}", advice)
        case Constant(value=constant):
            return constant
        case Unset():
            raise ctx.refusal("N237", node, f"'{name}' has no value here", "assign to it before the loop")
        case Static(object=found):
            return constant_of(found) or given


def _attribute(ctx: Context, node: ast.Attribute) -> Object:
    owner = translate_owner(ctx, node.value)
    if isinstance(owner, Array) and not owner.index:
        if node.attr == "shape":
            return Shape(owner)
        if node.attr == "ndim":
            return number(owner.layout.rank)
        if node.attr == "size":
            size: Expr = Const(1, "int64")
            for axis in range(owner.layout.rank):
                size = Binary("*", size, ctx.extent(owner, axis, node), "int64") if axis else ctx.extent(owner, 0, node)
            return value(size, "pyint")
        what = f"'{node.attr}' of an array"
        raise ctx.refusal("N231", node, f"a kernel cannot use {what}", "use elements, shape, size or ndim")
    if isinstance(owner, Static) and isinstance(owner.object, ModuleType):
        return _member(ctx, node, owner.object)
    text = ast.unparse(node)
    advice = f"copy it to a variable before the loop: {node.attr} = {text}"
    raise ctx.refusal("N231", node, f"a kernel cannot look up '{text}'", advice)


def translate_owner(ctx: Context, node: ast.expr) -> Object | None:
    """What stands before a dot, None where that is nothing that a kernel can have."""
    if isinstance(node, ast.Name) and node.id not in ctx.counters and node.id not in ctx.kinds:
        given = ctx.given.get(node.id)
        if isinstance(given, Unusable) and given.code == "N232":
            return None
    return translate(ctx, node)


def _member(ctx: Context, node: ast.Attribute, module: ModuleType) -> Object:
    """What *module* has under a name; the launch will see whether that is still so."""
    found = getattr(module, node.attr, None)
    if found is None:
        raise ctx.refusal("N237", node, f"module '{module.__name__}' has no '{node.attr}'", "import what has it")
    ctx.shared.guard(node.attr, vars(module), node.attr, found)
    return constant_of(found) or Static(found)


# -------------------------------------------------------------------------------------------------------- operators


def _binary(ctx: Context, node: ast.BinOp) -> Object:
    return binary_operator(ctx, node, node.op, number_of(ctx, node.left), number_of(ctx, node.right))


def binary_operator(ctx: Context, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
    """``left op right``, at *node*."""
    ufunc = _OPERATORS.get(type(op))
    if ufunc is None:
        raise ctx.refusal("N231", node, "a kernel cannot have '@'", "write loops over the elements")
    try:
        return arithmetic.binary(ctx, ufunc, left, right)
    except NoType as reason:
        raise unsuitable(ctx, node, reason) from None


def _unary(ctx: Context, node: ast.UnaryOp) -> Object:
    if isinstance(node.op, ast.Not):
        return value(condition(ctx, node), "pybool")
    given = number_of(ctx, node.operand)
    operations = {ast.USub: arithmetic.negative, ast.UAdd: arithmetic.positive, ast.Invert: arithmetic.invert}
    return operations[type(node.op)](ctx, given)


def _boolean(ctx: Context, node: ast.BoolOp) -> Object:
    """``a and b``: one of the two values."""
    *values, last = [number_of(ctx, part) for part in node.values]
    for given in reversed(values):
        (one, other), kinds = arithmetic.unified([given, last])
        pair = (other, one) if isinstance(node.op, ast.And) else (one, other)
        last = Value(Select(arithmetic.truth(given), *pair, one.dtype), kinds)
    return last


def _compare(ctx: Context, node: ast.Compare) -> Object:
    operands = [node.left, *node.comparators]
    results = []
    for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
        ufunc = _COMPARISONS.get(type(op))
        if ufunc is None:
            words = {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}
            advice = "compare numbers with == or <"
            raise ctx.refusal("N231", node, f"a kernel cannot have '{words[type(op)]}'", advice)
        results.append(arithmetic.binary(ctx, ufunc, number_of(ctx, left), number_of(ctx, right)))
    whole, *rest = results
    for part in rest:
        both = Binary("&&", arithmetic.truth(whole), arithmetic.truth(part), "int32")
        whole = Value(both, whole.kinds | part.kinds)
    return whole


def _choice(ctx: Context, node: ast.IfExp) -> Object:
    test = condition(ctx, node.test)
    (then, other), kinds = arithmetic.unified([number_of(ctx, node.body), number_of(ctx, node.orelse)])
    return Value(Select(test, then, other, then.dtype), kinds)


# ------------------------------------------------------------------------------------------------------- subscripts


def _subscript(ctx: Context, node: ast.Subscript) -> Object:
    owner = translate(ctx, node.value)
    if isinstance(owner, Shape):
        return _extent(ctx, node, owner.array)
    if not isinstance(owner, Array):
        advice = "subscript NumPy arrays only"
        raise ctx.refusal("N232", node, f"'{ast.unparse(node.value)}' has no elements", advice)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    first = len(owner.index)
    if first + len(parts) > owner.layout.rank:
        message = f"'{owner.name}' has {owner.layout.rank} axes, and more subscripts"
        raise ctx.refusal("N238", node, message, "write one subscript for each axis")
    whole = Array(owner.name, owner.layout)
    index = [_position(ctx, part, whole, axis) for axis, part in enumerate(parts, first)]
    found = Array(owner.name, owner.layout, (*owner.index, *index))
    return element(ctx, node, found) if len(found.index) == found.layout.rank else found


def _extent(ctx: Context, node: ast.Subscript, array: Array) -> Object:
    axis = number_of(ctx, node.slice).constant
    rank = array.layout.rank
    if not isinstance(axis, int) or not -rank <= axis < rank:
        advice = f"'{array.name}' has the axes 0 to {rank - 1}"
        raise ctx.refusal("N238", node, "no constant number of an axis", advice)
    return value(ctx.extent(array, int(axis) % rank, node), "pyint")


def _position(ctx: Context, node: ast.expr, array: Array, axis: int) -> Expr:
    """The subscript *node* along *axis* of *array*, from zero on."""
    if isinstance(node, ast.Slice) or (isinstance(node, ast.Constant) and node.value in (None, Ellipsis)):
        raise ctx.refusal("N238", node, f"'{ast.unparse(node)}' is no subscript of one element", "write a loop")
    given = number_of(ctx, node)
    if not is_integer(given.kinds) or given.kinds & {"bool", "pybool"}:
        message = f"a subscript is an integer, and this is {shown(given.kinds)}"
        raise ctx.refusal("N238", node, message, "write int(...) around it")
    extent = ctx.extent(array, axis, node)
    constant = given.constant
    if isinstance(constant, int):
        index = Const(constant, "int64")
        return index if constant >= 0 else Binary("+", extent, index, "int64")
    expr = as_type(given, "int64") if given.expr.dtype == "uint64" else given.expr
    low = lowest(ctx, expr)
    if (low is not None and low >= 0) or not is_signed(expr.dtype):
        return expr
    return _signed(ctx, cast(expr, "int64"), extent)


def _signed(ctx: Context, index: Expr, extent: Expr) -> Expr:
    """*index*, which may be below zero and then counts from the end."""
    number_, wrapping = ctx.count, ctx.wrapping
    ctx.count += 1
    from_end = Binary("+", index, extent, "int64")
    if number_ in wrapping.below:
        return from_end
    if number_ in wrapping.both:
        return Select(Binary("<", index, Const(0, "int64"), "int32"), from_end, index, "int64")
    ctx.subscripts.append(Subscript(number_, index, extent))
    return index


def element(ctx: Context, node: ast.expr, array: Array) -> Value:
    """The one element of *array* that its subscripts name."""
    layout = array.layout
    whole = Array(array.name, layout)
    if ("array", array.name) not in ctx.params:
        _array_parameter(ctx, node, whole)
    name = ctx.params["array", array.name].name
    index = tuple(array.index[axis] for axis in layout.order)
    if layout.strides is not None:
        index = (_linear(array.index, layout.strides),)
    return value(Load(name, index, layout.dtype, ctx.place(node)), layout.dtype)


def _linear(index: tuple[Expr, ...], strides: tuple[int, ...]) -> Expr:
    whole: Expr | None = None
    for part, stride in zip(index, strides, strict=True):
        term = Binary("*", cast(part, "int64"), Const(stride, "int64"), "int64")
        whole = term if whole is None else Binary("+", whole, term, "int64")
    return whole if whole is not None else Const(0, "int64")


def _array_parameter(ctx: Context, node: ast.expr, array: Array) -> None:
    layout = array.layout
    name = ctx.names.unique(array.name)
    ctx.params["array", array.name] = Param(name, layout.dtype, "array", array.name, (None,), place=ctx.place(node))
    shape: tuple[Expr | None, ...] = (None,)
    if layout.strides is None:
        first, *others = layout.order
        shape = (ctx.extent(array, first, node), *(ctx.pitch(array, axis, node) for axis in others))
    ctx.params["array", array.name] = Param(name, layout.dtype, "array", array.name, shape, place=ctx.place(node))


def _call(ctx: Context, node: ast.Call) -> Object:
    return call(ctx, node, translate, number_of)


_HANDLERS: dict[type[ast.expr], Callable[..., Object]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary, ast.UnaryOp: _unary,
    ast.BoolOp: _boolean, ast.Compare: _compare, ast.IfExp: _choice, ast.Subscript: _subscript, ast.Call: _call,
}  # fmt: skip
