"""Running a graph node by node through the engine: recorded, stepped and differentiated like any program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import run_recorder
from graphscope.static.graphs.generated_function import GeneratedFunction
from graphscope.static.graphs.graph import Graph, Node, Value, fits, needed, spelled
from graphscope.static.graphs.node_kinds import KINDS
from graphscope.static.graphs.op_calls import at, called, is_plain


def run(graph: Graph, feeds: Sequence[Any]) -> list[Any]:
    """Run a graph whole: from tensors for its inputs, in order, to its outputs.

    Raises:
        StaticError: They are not as many as it has inputs, or one does not fit; the message names the node.
    """
    if len(feeds) != len(graph.inputs):
        raise StaticError(
            f"{graph.name!r} takes {len(graph.inputs)} tensors, and was given {len(feeds)}",
            hint="feed one for each input of the graph, in order",
        )
    tensors = map(fed, graph.inputs, feeds)
    order = _order_of(graph)
    if record.writer is None and order.ran:
        return _function_of(graph, order)(tensors)
    found = dict(zip(graph.inputs, tensors, strict=True))
    run_nodes(order.nodes, found, graph)
    order.ran = True
    return [found[value] for value in graph.outputs]


@dataclass
class _Order:
    """How a graph runs whole."""

    key: Any
    """How many nodes it had, and what it gave."""
    nodes: list[Node]
    """The nodes that this needs, in order."""
    ran: bool = False
    """Whether it ran before: a function of its own pays for graphs that run again."""
    function: GeneratedFunction | None = None


_orders: Final[WeakKeyDictionary[Graph, _Order]] = WeakKeyDictionary()
"""For graphs that ran whole, how."""


def _order_of(graph: Graph) -> _Order:
    key = (len(graph.nodes), tuple(graph.outputs), len(graph.inputs))
    known = _orders.get(graph)
    if known is None or known.key != key:
        known = _orders[graph] = _Order(key, [node for node in needed(graph) if node.op != "input"])
    return known


def _function_of(graph: Graph, order: _Order) -> GeneratedFunction:
    if order.function is None:
        order.function = GeneratedFunction(graph, order.nodes, compute)
    return order.function


def body_function(graph: Graph) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that runs a graph whole on tensors that fit its inputs: for bodies that run turn by turn."""
    if record.writer is not None:
        return functools.partial(run, graph)
    return _function_of(graph, _order_of(graph))


def run_nodes(
    nodes: Sequence[Node], values: dict[Value, Any], graph: Graph | None = None, began: int | None = None
) -> None:
    """Run nodes in the order given; what they compute is added to `values`.

    Args:
        nodes: The nodes.
        values: What is known already.
        graph: Whose nodes they are: for a log, which is told what gradients are of.
        began: The row that the run began with, of which this is a part.
    """
    if record.writer is None:
        for node in nodes:
            execute(node, values)
    else:
        run = run_recorder.Run.here(record.writer, began)
        run.nodes(run_recorder.Part(nodes, values, graph), execute)


def execute(node: Node, values: dict[Value, Any]) -> None:
    """Run one node on what is in `values`, and put there what it gives (unless it is there already: it was fed)."""
    inputs = [values[value] if isinstance(value, Value) else value for value in node.inputs]
    try:
        found = compute(node, inputs)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        if not hasattr(error, "node_that_failed"):
            error.node_that_failed = node  # type: ignore[union-attr]
        raise
    if modes.anomaly and node.rule is not None:
        _look_for_nan(node, node.rule, found)
    for value, result in zip(node.outputs, found, strict=True):
        values.setdefault(value, result)


def _look_for_nan(node: Node, rule: Node, found: Sequence[Any]) -> None:
    """As a backward pass does under `detect_anomaly`, of a node that computes gradients."""
    for tensor in found:
        if isinstance(tensor, Tensor) and tensor.array.dtype.kind in "fc" and np.isnan(tensor.array).any():
            raise RuntimeError(f"{node.name} gave nan: it is part of the rule of the {rule.where}")


def compute(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """What a node gives for these tensors and numbers. In a log it stands at the node's own place in the program."""
    own = KINDS.get(node.op)
    if own is not None:
        return own.run(node, inputs)
    recorded = record.writer is not None and node.site is not None
    if not recorded and is_plain(node):
        return (OPS[node.op].call(*inputs),)
    return called(OPS[node.op], inputs, node.attributes, at(node) if recorded else None)


def fed(value: Value, what: Any) -> Any:
    """What was fed for a value, as a tensor that fits it.

    Raises:
        StaticError: Its shape is another.
    """
    if value.dtype is not None and value.dtype.hasobject:  # what bodies keep for their gradients
        return what
    if not isinstance(what, Tensor):
        array = _as_array(value, what)
        what = Tensor(array[()] if array.ndim == 0 else array)
        what.name = value.node.name
    shape = what.array.shape
    if not fits(shape, value.shape):
        raise StaticError(
            f"{value.node.where} takes {spelled(value.shape, value.dtype)}, and was fed an array of shape {shape}",
            hint="feed an array of that shape, or leave the dim open in the placeholder: None",
        )
    return what


def _as_array(value: Value, what: Any) -> np.ndarray:
    """What was fed as an array of the dtype of a value.

    Raises:
        StaticError: It is complex, and the value is not.
    """
    array = np.asarray(what)
    if array.dtype.kind == "c" and value.dtype is not None and value.dtype.kind != "c":
        raise StaticError(
            f"{value.node.where} takes {spelled(value.shape, value.dtype)}, and was fed complex numbers",
            hint="feed their real or imaginary parts, or their absolute values",
        )
    return np.asarray(array, dtype=value.dtype)
