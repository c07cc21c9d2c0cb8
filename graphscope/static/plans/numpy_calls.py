"""Ops that NumPy can compute into memory that is there already: a table from ops to NumPy's functions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.static.graphs.graph import Node, Value


@dataclass(frozen=True)
class Call:
    """How NumPy computes a node.

    Attributes:
        fresh: A function of the inputs, or the name of a method of the first.
        into: The same with one more argument: the array that the result goes to.
        elementwise: Whether that may be one of the inputs.
        inputs: What it takes, where that is not what the node takes.
    """

    fresh: Callable[..., Any] | str
    into: Callable[..., Any] | str
    elementwise: bool = False
    inputs: tuple[Any, ...] = ()


def _maximum(x: Any, y: Any, out: Any = None) -> Any:
    return np.maximum(x, y, out=out)  # these two want it by name


def _minimum(x: Any, y: Any, out: Any = None) -> Any:
    return np.minimum(x, y, out=out)


ELEMENTWISE: Final[dict[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "neg": np.negative,
    "tanh": np.tanh, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "square": np.square, "abs": np.absolute,
    "sin": np.sin, "cos": np.cos, "maximum": _maximum, "minimum": _minimum, "reciprocal": np.reciprocal,
    "expm1": np.expm1, "log1p": np.log1p, "floor": np.floor, "ceil": np.ceil, "sign": np.sign,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip
"""NumPy's functions that give, of floating numbers of one dtype, just what the op gives."""

Maker = Callable[[Node], Call | None]
MAKERS: Final[dict[str, Maker]] = {}


def maker(*ops: str) -> Callable[[Maker], Maker]:
    """Say how the nodes of these ops are computed into memory."""

    def decorate(function: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(ops, function))
        return function

    return decorate


def call_for(node: Node) -> Call | None:
    """How a node is computed into memory that is there; None where it makes its own."""
    if node.op == "where":
        return _where(node)
    dtype = next((value.dtype for value in node.values), None)
    if dtype is None or dtype.kind != "f" or dtype.itemsize < 4 or len(node.outputs) != 1:
        return None
    if node.op in ELEMENTWISE and not node.attributes:
        if any(value.dtype != dtype for value in node.values) or not all(map(_taken, node.inputs)):
            return None
        function = ELEMENTWISE[node.op]
        inputs = tuple(value if isinstance(value, Value) else dtype.type(value) for value in node.inputs)
        return Call(function, function, elementwise=True, inputs=tuple(map(_number, inputs)))
    made = MAKERS.get(node.op)
    return made(node) if made is not None else None


def _number(value: Any) -> Any:
    """A number as an array, which NumPy takes in half the time."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def _taken(value: Any) -> bool:
    return isinstance(value, Value) or (isinstance(value, int | float) and not isinstance(value, bool))


_MANY: Final = 1 << 14
"""So many numbers `dot` sets to zero before it computes them, which `matmul` does not do."""


@maker("matmul")
def _matmul(node: Node) -> Call | None:
    x, y = (value.shape for value in node.values)
    if x is None or y is None or node.inputs[0].dtype != node.inputs[1].dtype:
        return None
    shape = node.outputs[0].shape
    small = shape is not None and None not in shape and math.prod(shape) < _MANY  # type: ignore[arg-type]
    if len(y) <= 2 and len(x) <= 2 and shape != () and small:
        return Call("dot", "dot")  # the method is called in half the time of the function
    return Call(np.matmul, np.matmul) if shape != () else None


@maker("relu")
def _relu(node: Node) -> Call:
    def relu(x: Any, out: Any = None) -> Any:
        return np.maximum(x, 0, out=out)

    return Call(relu, relu, elementwise=True)


def _where(node: Node) -> Call | None:
    condition, x, y = node.inputs
    shape = node.outputs[0].shape
    if not isinstance(condition, Value) or condition.dtype != np.bool_ or shape is None:
        return None
    if any(isinstance(value, Value) and value.dtype != node.outputs[0].dtype for value in (x, y)):
        return None

    dtype = node.outputs[0].dtype
    if x.__class__ is float and x == 0 and str(x) == "0.0" and isinstance(y, Value) and y.dtype in _BITS:
        return _zeroed(_BITS[y.dtype], shape, dtype)

    def where(condition: Any, x: Any, y: Any, out: Any) -> Any:
        if np.may_share_memory(out, x):  # planned to be written over x
            np.copyto(out, y, where=~condition)
            return out
        if not np.may_share_memory(out, y):
            np.copyto(out, y)
        np.copyto(out, x, where=condition)
        return out

    return Call(lambda c, x, y: where(c, x, y, np.empty(shape, dtype)), where, elementwise=x is not y)


def is_stack(node: Node) -> bool:
    """Whether a node puts values one behind the other."""
    return node.op == "stack" and node.attributes.get("dim") == 0


@maker("stack")
def _stack(node: Node) -> Call | None:
    if not is_stack(node) or len({(value.shape, value.dtype) for value in node.values}) != 1:
        return None
    return Call(lambda *arrays: np.stack(arrays), lambda *arrays: np.stack(arrays[:-1], out=arrays[-1]))


_BITS: Final = {np.dtype("f4"): np.dtype("i4"), np.dtype("f8"): np.dtype("i8")}


def _zeroed(bits: Any, shape: Any, dtype: Any) -> Call:
    """0 where a condition holds: bits times 0 are 0, those of NaN too, and a masked copy takes six times as long."""

    def zeroed(condition: Any, zero: Any, y: Any, out: Any) -> Any:
        np.multiply(y.view(bits), ~condition, out.view(bits))
        return out

    return Call(lambda c, zero, y: zeroed(c, zero, y, np.empty(shape, dtype)), zeroed, elementwise=True)


LONGEST: Final = 4096
"""So many numbers are added up by BLAS; NumPy adds more of them more exactly."""


@functools.lru_cache(256)
def ones(count: int, dtype: Any) -> Any:
    """A line of ones, with which BLAS adds up."""
    return np.ones(count, dtype)


@maker("sum")
def _sum(node: Node) -> Call | None:
    (x,) = node.values
    if x.shape is None or None in x.shape or node.attributes.get("dim") is not None or node.outputs[0].shape:
        return None

    def of_all(x: Any, out: Any = None) -> Any:
        return np.add.reduce(x, None, None, out)

    return Call(of_all, of_all)


@maker("sum_dim")
def _sum_dim(node: Node) -> Call | None:
    (x,) = node.values
    dim, keepdim = node.attributes.get("dim"), node.attributes.get("keepdim", False)
    if x.shape is None or None in x.shape or not isinstance(dim, int):
        return None
    rank = len(x.shape)
    place = dim % rank if rank else 0
    total: Any = np.add.reduce  # NumPy's stubs know keepdims only as a literal
    if rank == 2 and not keepdim and 0 < x.shape[place] <= LONGEST:  # type: ignore[operator]
        row = ones(x.shape[place], x.dtype)
        return Call("dot", "dot", inputs=(row, x) if place == 0 else (x, row))

    def of_dim(x: Any, out: Any = None) -> Any:
        return total(x, place, None, out, keepdim)

    return Call(of_dim, of_dim)
