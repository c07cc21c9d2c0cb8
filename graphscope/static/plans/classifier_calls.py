"""NumPy's calls for the loss of a classifier with one row a sample, computed into planned memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core.op import OPS
from graphscope.static.graphs.differentiation import vjp_function
from graphscope.static.graphs.graph import Node, Value
from graphscope.static.plans.numpy_calls import LONGEST, Call, maker, ones


@maker("log_softmax")
def _log_softmax(node: Node) -> Call | None:
    (x,) = node.values
    if not _is_matrix(x) or node.attributes["dim"] not in (1, -1):
        return None
    (count, width), dtype = _sizes(x), x.dtype
    if not 0 < width <= LONGEST:
        return None
    largest: Any = np.maximum.reduce  # NumPy's stubs know no output that is given by its place
    row, room, totals = ones(width, dtype), np.empty((count, width), dtype), np.empty(count, dtype)
    column = totals[:, None]

    def log_softmax(x: Any, out: Any) -> Any:
        largest(x, 1, None, totals)
        np.subtract(x, column, out)
        np.exp(out, room).dot(row, totals)
        np.log(totals, totals)
        return np.subtract(out, column, out)

    return Call(lambda x: log_softmax(x, np.empty(x.shape, x.dtype)), log_softmax, elementwise=True)


@maker("nll_loss")
def _nll_loss(node: Node) -> Call | None:
    x, y, *_ = node.inputs
    if not _is_plain(x, y, node.inputs[2:], node.attributes):
        return None
    places, otherwise, attrs = _places(x, y), OPS["nll_loss"].forward, node.attributes
    samples = x.dtype.type(-y.shape[0])

    def nll_loss(x: Any, y: Any, out: Any = None) -> Any:
        at = places(y)
        loss = otherwise(x, y, **attrs) if at is None else np.add.reduce(x.reshape(-1)[at]) / samples
        if out is None:
            return loss
        out[...] = loss
        return out

    return Call(nll_loss, nll_loss, inputs=(x, y))


@maker("vjp")
def _nll_gradient(node: Node) -> Call | None:
    if node.attributes["op"] != "nll_loss":
        return None
    g, _, x, y, *rest = node.inputs
    if not _is_plain(x, y, rest, node.attributes["attributes"]):
        return None
    places, otherwise = _places(x, y), vjp_function(node)
    samples = x.dtype.type(-y.shape[0])

    def gradient(g: Any, x: Any, y: Any, out: Any) -> Any:
        at = places(y)
        if at is None:
            out[...] = otherwise(g, None, x, y, *rest)[0]
        else:
            out.fill(0)
            out.reshape(-1)[at] = g / samples
        return out

    return Call(lambda g, x, y: gradient(g, x, y, np.empty(x.shape, x.dtype)), gradient, inputs=(g, x, y))


def _is_matrix(x: Any) -> bool:
    return isinstance(x, Value) and x.shape is not None and None not in x.shape and len(x.shape) == 2


def _sizes(x: Value) -> Any:
    return x.shape


def _is_plain(x: Any, y: Any, rest: Any, attributes: Any) -> bool:
    """Whether it is the mean over rows, each with the number of its class, without weights."""
    classes = isinstance(y, Value) and y.dtype is not None and y.dtype.kind in "iu" and y.dtype.itemsize == 8
    alike = all(value is None for value in rest) and attributes["reduction"] == "mean"
    return (
        _is_matrix(x) and x.shape[0] and classes and y.shape == x.shape[:1] and alike and attributes["ignore_index"] < 0
    )


def _places(x: Value, y: Value) -> Callable[[Any], Any]:
    """A function from classes to the places of their elements in the line of all; None where some are no class."""
    count, width = _sizes(x)
    first, room = np.arange(count) * width, np.empty(count, np.int64)

    def places(y: Any) -> Any:
        # Of numbers without sign, those below 0 are large.
        return None if np.maximum.reduce(y.view(np.uint64), None) >= width else np.add(first, y, room)

    return places
