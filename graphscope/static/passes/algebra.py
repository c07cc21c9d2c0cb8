"""Rules of algebra: a table from ops to what their nodes may become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.rewriting import rewrite
from graphscope.static.passes.redundancy import constant_of

Rule = Callable[[Graph, Node, tuple[Any, ...]], Any]

RULES: Final[dict[str, list[Rule]]] = {}
"""For each op the rules that may apply to its nodes; the first that gives something is taken."""


def rule(*ops: str) -> Callable[[Rule], Rule]:
    """Add a rule for these ops."""

    def decorate(function: Rule) -> Rule:
        for op in ops:
            RULES.setdefault(op, []).append(function)
        return function

    return decorate


def simplify(graph: Graph) -> Graph:
    """Apply rules of algebra: x·1, x+0, a transpose of a transpose, a number in the place of a full array, ..."""

    def simplified(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
        for each in RULES.get(node.op, ()):
            found = each(new, node, inputs)
            if found is not None:
                return [found]
        return None

    return rewrite(graph, simplified)


def number_of(value: Any) -> float | None:
    """The number that every element of a constant is, or None."""
    if not isinstance(value, Value):
        return value if isinstance(value, float | int) and not isinstance(value, bool) else None
    array = constant_of(value)
    if array is None or array.dtype.kind != "f" or not array.size or value.dtype.itemsize < 4:  # type: ignore[union-attr]
        return None
    first = array.flat[0] if isinstance(array, np.ndarray) else array
    return float(first) if array.size == 1 or not np.any(np.asarray(array) != first) else None


def _is(value: Any, number: float) -> bool:
    return number_of(value) == number


def _same_type(node: Node, value: Any) -> bool:
    out = node.outputs[0]
    return isinstance(value, Value) and value.shape == out.shape and value.dtype == out.dtype


def _add(new: Graph, node: Node, op: str, *inputs: Any, **attributes: Any) -> Any:
    out = node.outputs[0]
    return new.append(op, inputs, attributes, name=node.name, types=[(out.shape, out.dtype)]).outputs[0]


_NEUTRAL: Final = {"mul": 1, "add": 0}
"""The number with which each op gives its other operand."""


@rule(*_NEUTRAL)
def _neutral(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    (x, y), number = inputs, _NEUTRAL[node.op]
    if _is(y, number) and _same_type(node, x):
        return x
    return y if _is(x, number) and _same_type(node, y) else None


@rule("sub", "div")
def _of_nothing(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    x, y = inputs
    return x if _is(y, 0 if node.op == "sub" else 1) and _same_type(node, x) else None


@rule("mul", "add", "sub", "div")
def _number_for_full_array(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    for place, value in enumerate(inputs):
        other = inputs[1 - place]
        if isinstance(value, Value) and _same_type(node, other):
            number = number_of(value)
            if number is not None:
                given = (number, other) if place == 0 else (other, number)
                return _add(new, node, node.op, *given)
    return None


@rule("mul")
def _number_behind(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    x, y = inputs
    return _add(new, node, "mul", y, x) if not isinstance(x, Value) and isinstance(y, Value) else None


def reassociate(graph: Graph) -> Graph:
    """Turn (x·y)·c into x·(y·c) where y is there earlier than x: what comes after x waits for one product less."""
    depths: dict[Value, int] = {}
    for node in graph.nodes:
        depth = 1 + max((depths[value] for value in node.values), default=0)
        depths.update(dict.fromkeys(node.outputs, depth))
    users = graph.users()

    def turned(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
        if node.op != "mul" or isinstance(node.inputs[1], Value):
            return None
        product, number = node.inputs
        if (
            product.node.op != "mul"
            or len(users[product]) > 1
            or not all(_same_type(node, v) for v in product.node.inputs)
        ):
            return None
        before, place = product.node.inputs, inputs[0].node.inputs
        late = 0 if depths[before[0]] > depths[before[1]] else 1
        types = [(product.shape, product.dtype)]
        scaled = new.append("mul", (place[1 - late], number), types=types, origins=node.origins).outputs[0]
        return [new.append("mul", (place[late], scaled), types=types, name=node.name).outputs[0]]

    return rewrite(graph, turned)


@rule("sub")
def _slope_apart(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    """G - (g·y)·z is g·(1 - y·z): the second part does not wait for g."""
    g, product = inputs
    if not isinstance(product, Value) or product.node.op != "mul" or not isinstance(g, Value):
        return None
    inner, z = product.node.inputs
    if not isinstance(inner, Value) or inner.node.op != "mul" or not isinstance(z, Value):
        return None
    first, y = inner.node.inputs
    if first is not g or not isinstance(y, Value) or not (_same_type(node, y) and _same_type(node, z)):
        return None
    out = node.outputs[0]
    types = [(out.shape, out.dtype)]
    square = new.append("mul", (y, z), types=types).outputs[0]
    slope = new.append("sub", (1.0, square), types=types).outputs[0]
    return new.append("mul", (g, slope), name=node.name, types=types).outputs[0]


def _swapped(value: Any) -> tuple[int, int] | None:
    """The two dims that a view of a matrix swaps."""
    if not isinstance(value, Value) or value.node.op not in ("t", "transpose") or len(value.shape or ()) != 2:
        return None
    attributes = value.node.attributes
    return (0, 1) if {attributes.get("dim0", 0) % 2, attributes.get("dim1", 1) % 2} == {0, 1} else None


@rule("t", "transpose")
def _twice_transposed(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    (x,) = inputs
    dims = {node.attributes.get("dim0", 0) % 2, node.attributes.get("dim1", 1) % 2}
    return x.node.inputs[0] if _swapped(x) and dims == {0, 1} else None


@rule("expand", "reshape", "view", "to", "sum_to")
def _as_it_was(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    return inputs[0] if _same_type(node, inputs[0]) else None


@rule("reshape", "view")
def _reshaped_twice(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    x = inputs[0]
    if isinstance(x, Value) and x.node.op in ("reshape", "view"):
        return _add(new, node, "reshape", x.node.inputs[0], shape=node.outputs[0].shape)
    return None


@rule("sum", "mean")
def _of_one_element(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    return inputs[0] if _same_type(node, inputs[0]) and inputs[0].shape == () else None


@rule("stack")
def _stacked_again(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    """Rows of one stack, all of them in order, are that stack."""
    first = inputs[0]
    if not isinstance(first, Value) or first.node.op != "getitem":
        return None
    source = first.node.inputs[0]
    rows = [value.node.attributes["index"] if isinstance(value, Value) and value.node.op == "getitem"
            and value.node.inputs[0] is source else None for value in inputs]  # fmt: skip
    if node.attributes.get("dim") != 0 or not _same_type(node, source):
        return None
    return source if all(row.__class__ is int and row == place for place, row in enumerate(rows)) else None
