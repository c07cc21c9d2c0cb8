"""Expressions: operators, indices, attributes and calls, on symbols, numbers, and tuples and lists of them."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs.dynamic_shapes import length
from graphscope.static.graphs.graph_builder import current
from graphscope.static.graphs.symbols import Symbol, call, twin
from graphscope.static.script.drawing import drawing
from graphscope.static.script.parts import CHANGING, replaced, shared, written
from graphscope.static.script.subset import SUBSET, Source, told

_BINARY: Final[dict[type[ast.operator], Callable[..., Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], Callable[..., Any]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[..., Any]]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_BUILTINS: Final[dict[str, Any]] = {
    "range": range, "len": len, "int": int, "float": float, "bool": bool, "abs": abs, "min": min, "max": max,
    "tuple": tuple, "list": list, "zip": zip, "enumerate": enumerate, "print": print, "sum": sum,
    "reversed": reversed,
}  # fmt: skip
"""Python's own functions that can be called."""


class Names(dict[str, Any]):
    """The variables of a function, and why some that were there are gone."""

    def __init__(self, names: Names | None = None) -> None:
        super().__init__(names or {})
        self.lost: dict[str, str] = dict(names.lost) if names is not None else {}

    def lose(self, name: str, reason: str) -> None:
        """Forget a variable that has no value on every way."""
        self.pop(name, None)
        self.lost[name] = reason


@dataclass(frozen=True)
class Turns:
    """A loop whose length is told when it runs: how many turns, and from the number of a turn its element."""

    count: Any
    element: Callable[[Any], Any]


class Expressions:
    """Evaluates expressions: each adds its nodes.

    Args:
        source: The function.
        outside: Names of its module and of the functions around it.
        script: What scripts the functions that it calls.
    """

    def __init__(self, source: Source, outside: dict[str, Any], script: Callable[..., Any]) -> None:
        self.source = source
        self.given: list[Any] = []
        self.outside = outside
        self.script = script

    def value(self, node: ast.expr, names: Names) -> Any:
        """What an expression is: a symbol, a number, a tuple or list, a function."""
        known = self._expressions.get(type(node))
        if known is None:
            raise self.source.refused(node)
        try:
            found = known(self, node, names)
        except StaticError as error:
            if error.message.startswith(self.source.file):
                raise
            raise self.source.error(node, error.message, error.hint or SUBSET) from None
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
            raise self.source.error(node, *told(error)) from error
        return found

    def truth(self, symbol: Symbol) -> Symbol:
        """A condition as a boolean."""
        return symbol if symbol.dtype == np.bool_ else symbol != 0

    def bind(self, target: ast.expr, value: Any, names: Names) -> None:
        """Assign to a name, or to several."""
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = list(value)
            if len(parts) != len(target.elts):
                raise self.source.error(
                    target, f"{len(parts)} values for {len(target.elts)} names", "name each of them"
                )
            for each, part in zip(target.elts, parts, strict=True):
                self.bind(each, part, names)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._write(target, value, names)
        else:
            raise self.source.error(target, "an attribute can't be written", "give it as an argument, and return it")

    def _write(self, target: Any, value: Any, names: Names) -> None:
        """A part of what a name stands for: all names of it stand for the new one."""
        whole = self.value(target.value, names)
        why = shared(whole, names, self.given)
        if why is not None:
            raise self.source.error(
                target,
                f"a part of {target.value.id!r} can't be written: {why}",
                "clone() it first, or make a new one, with where or cat",
            )
        replaced(names, whole, written(whole, self.value(target.slice, names), value))

    def iterated(self, node: ast.expr, names: Names) -> Any:
        """What a loop goes over: a range, a list of values, or turns."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            bounds = [self.value(each, names) for each in node.args]
            if not any(isinstance(each, Symbol) for each in bounds):
                return range(*bounds)
            if len(bounds) > 2:
                raise self.source.error(node, "a range with a step ends at a number", "count turns, and multiply")
            start, end = (0, bounds[0]) if len(bounds) == 1 else bounds
            return Turns(end - start, lambda turn: turn + start)
        over = self.value(node, names)
        if isinstance(over, Symbol):
            return Turns(length(over), lambda turn: _row(over, turn))
        return list(over)

    # Kinds of expressions --------------------------------------------------------------------------------------------

    def _name(self, node: Any, names: Names) -> Any:
        if node.id in names:
            return names[node.id]
        if node.id in names.lost:
            raise self.source.error(node, f"{node.id!r} {names.lost[node.id]}", "give it a value before")
        if node.id in self.outside:
            return _from_outside(self.outside[node.id], node.id)
        if node.id in _BUILTINS:
            return _BUILTINS[node.id]
        if hasattr(builtins, node.id):
            raise self.source.error(
                node, f"Python's {node.id} can't be scripted", f"of its own functions these can: {', '.join(_BUILTINS)}"
            )
        raise self.source.error(node, f"{node.id!r} is not defined", "assign it, or pass it as an argument")

    def _constant(self, node: Any, names: Names) -> Any:
        return node.value

    def _binary(self, node: Any, names: Names) -> Any:
        if type(node.op) not in _BINARY:
            raise self.source.refused(node.op if hasattr(node.op, "lineno") else node)
        return _BINARY[type(node.op)](self.value(node.left, names), self.value(node.right, names))

    def _unary(self, node: Any, names: Names) -> Any:
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.Not):
            return operator.invert(self.truth(value)) if isinstance(value, Symbol) else not value
        return _UNARY[type(node.op)](value)

    def _compare(self, node: Any, names: Names) -> Any:
        left, total = self.value(node.left, names), None
        for test, each in zip(node.ops, node.comparators, strict=True):
            if type(test) not in _COMPARISONS:
                raise self.source.error(node, "`in` can't be scripted", "compare, and use any()")
            right = self.value(each, names)
            held = _COMPARISONS[type(test)](left, right)
            total = held if total is None else _both(total, held)
            left = right
        return total

    def _bool(self, node: Any, names: Names) -> Any:
        total = None
        for each in node.values:
            value = self.value(each, names)
            if total is None:
                total = value
            elif isinstance(node.op, ast.And):
                total = _both(total, value)
            else:
                total = (
                    operator.or_(as_symbol(total), as_symbol(value)) if _any_symbol(total, value) else total or value
                )
            if not isinstance(total, Symbol) and bool(total) is isinstance(node.op, ast.Or):
                return total
        return total

    def _choice(self, node: Any, names: Names) -> Any:
        test = self.value(node.test, names)
        if not isinstance(test, Symbol):
            return self.value(node.body if test else node.orelse, names)
        one, other = (as_symbol(self.value(each, names)) for each in (node.body, node.orelse))
        return call(OPS["where"], self.truth(test), one, other)

    def _tuple(self, node: Any, names: Names) -> Any:
        return tuple(self._spread(node.elts, names))

    def _list(self, node: Any, names: Names) -> Any:
        return self._spread(node.elts, names)

    def _spread(self, nodes: list[ast.expr], names: Names) -> list[Any]:
        """Values in a row, where `*values` stands for several."""
        found: list[Any] = []
        for each in nodes:
            if isinstance(each, ast.Starred):
                found += self.value(each.value, names)
            else:
                found.append(self.value(each, names))
        return found

    def _dict(self, node: Any, names: Names) -> Any:
        found: dict[Any, Any] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.value(each, names)
            found.update(value if key is None else {self.value(key, names): value})
        return found

    def _comprehension(self, node: Any, names: Names) -> Any:
        """A list or dict of what an expression is for each of several values."""
        found = [Names(names)]
        for part in node.generators:
            found = [after for before in found for after in self._each(part, before)]
        if isinstance(node, ast.DictComp):
            return {self.value(node.key, each): self.value(node.value, each) for each in found}
        return [self.value(node.elt, each) for each in found]

    def _each(self, part: ast.comprehension, before: Names) -> list[Names]:
        over = self.iterated(part.iter, before)
        if isinstance(over, Turns):
            if isinstance(over.count, Symbol):
                raise self.source.error(part.iter, "how many these are is told when it runs", "write the loop out")
            over = [over.element(as_symbol(np.int64(turn))) for turn in range(over.count)]
        found = []
        for value in over:
            after = Names(before)
            self.bind(part.target, value, after)
            tests = [self.value(test, after) for test in part.ifs]
            if any(isinstance(test, Symbol) for test in tests):
                raise self.source.error(part.ifs[0], "this is told when it runs", "write the loop out, with where")
            if all(tests):
                found.append(after)
        return found

    def _index(self, node: Any, names: Names) -> Any:
        value = self.value(node.value, names)
        index = self.value(node.slice, names)
        if isinstance(value, Symbol) and isinstance(index, Symbol):
            return _row(value, index)
        return value[index]

    def _slice(self, node: Any, names: Names) -> Any:
        return slice(
            *(None if each is None else self.value(each, names) for each in (node.lower, node.upper, node.step))
        )

    def _attribute(self, node: Any, names: Names) -> Any:
        value = self.value(node.value, names)
        return _from_outside(getattr(value, node.attr), node.attr)

    def _call(self, node: Any, names: Names) -> Any:
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            items = names.get(node.func.value.id)
            if isinstance(items, list | dict) and node.func.attr in CHANGING:
                new = items.copy()  # what runs to see what changes, changes nothing
                found = getattr(new, node.func.attr)(*self._spread(node.args, names))
                replaced(names, items, new)
                return found
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            owner = self.value(node.func.value, names)
            if isinstance(owner, Symbol):
                return _number(owner, None)
        function = self.value(node.func, names)
        args = self._spread(node.args, names)
        words = {each.arg: self.value(each.value, names) for each in node.keywords if each.arg is not None}
        current().site = self.source.site(node)
        if function in _NUMBERS and len(args) == 1 and isinstance(args[0], Symbol):
            return _number(args[0], _NUMBERS[function])
        draw = drawing(function)
        if draw is not None:
            return draw(*args, **words)
        inline = getattr(function, "inline", None)
        if inline is not None:
            return inline(*args, **words)
        if function is len and isinstance(args[0], Symbol):
            return length(args[0])
        if function is print:
            return _printed(args, words)
        if function in _BUILTINS.values() or isinstance(getattr(function, "__self__", None), list | tuple | dict):
            return function(*args, **words)
        if isinstance(function, type) or not callable(function):
            raise self.source.error(
                node, f"{ast.unparse(node.func)} can't be called here", "call ops, or scripted functions"
            )
        if isinstance(function, FunctionType) and not _is_ours(function):
            return self.script(function).inline(*args, **words)
        if not _is_ours(function):
            raise self.source.error(
                node, f"{ast.unparse(node.func)} is not scripted", "call ops, and functions that can be scripted"
            )
        return twin(function)(*args, **words)

    _expressions: Final[Any] = {
        ast.Name: _name, ast.Constant: _constant, ast.BinOp: _binary, ast.UnaryOp: _unary, ast.Compare: _compare,
        ast.BoolOp: _bool, ast.IfExp: _choice, ast.Tuple: _tuple, ast.List: _list, ast.Subscript: _index,
        ast.Slice: _slice, ast.Attribute: _attribute, ast.Call: _call, ast.Dict: _dict,
        ast.ListComp: _comprehension, ast.DictComp: _comprehension,
    }  # fmt: skip


def as_symbol(value: Any) -> Symbol:
    """A value as a symbol; a number is a constant of the dtype that tensors have that are made of it."""
    if isinstance(value, Symbol):
        return value
    if not isinstance(value, bool | int | float | np.ndarray | np.generic):
        raise TypeError(f"{type(value).__name__} can't be carried by a branch or a loop: carry tensors and numbers")
    dtype = None if hasattr(value, "dtype") else dtypes.result_type([value])
    builder = current()
    return Symbol.of(builder.constant(np.asarray(value, dtype)), builder)


_NUMBERS: Final[dict[Any, np.dtype]] = {int: np.dtype(np.int64), float: dtypes.float64, bool: dtypes.bool_}
"""Python's numbers, and the dtype of a tensor that stands for one."""


def _number(x: Symbol, dtype: np.dtype | None) -> Any:
    """A tensor of no dims that stands for the number that a tensor of one element holds."""
    lone = x if x.shape == () else x.reshape(())
    return lone if dtype in (None, lone.dtype) else lone.to(dtype)


def _any_symbol(*values: Any) -> bool:
    return any(isinstance(value, Symbol) for value in values)


def _both(one: Any, other: Any) -> Any:
    if _any_symbol(one, other):
        return operator.and_(as_symbol(one), as_symbol(other))
    return one and other


def _from_outside(value: Any, name: str) -> Any:
    """What a name outside of the function stands for: a tensor there is read at each run."""
    if isinstance(value, Tensor):
        builder = current()
        value.name = value.name or name
        return Symbol.of(builder.operand(value), builder)
    return value


def _row(x: Any, index: Any) -> Any:
    return call(OPS["index"], x, index, 0)


def _printed(args: list[Any], words: dict[str, Any]) -> None:
    """A node that prints when the graph runs."""
    if words:
        raise TypeError("print can be given values alone: no sep, end or file")
    here = current()
    symbols = [here.take(each.output, each.builder) for each in args if isinstance(each, Symbol)]
    here.append("say", symbols, {"words": tuple(None if isinstance(each, Symbol) else str(each) for each in args)})


def _is_ours(function: Any) -> bool:
    """Whether a function is the engine's, one of a symbol's methods, or a module's."""
    inner = getattr(function, "func", function)
    module = getattr(inner, "__module__", None) or ""
    return isinstance(function, ModuleType) or module.startswith("graphscope") or isinstance(
        getattr(inner, "__self__", None), Symbol
    )  # fmt: skip
