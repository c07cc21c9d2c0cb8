"""Sizes that are known only when the graph runs, and calls whose arguments ask for one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import graph_builder
from graphscope.static.graphs.abstract import NeedsValueError
from graphscope.static.graphs.graph import Node, Value, by_input, common
from graphscope.static.graphs.node_kinds import Type, kind
from graphscope.static.graphs.op_calls import at, gradients_of, zeros_as
from graphscope.static.graphs.trees import leaves_of, with_leaves

# The node keeps the function and its arguments as they were given; its shape is found by trying two sizes in the place
# of each dim that is not known: what differs between the two is not known either.

_PROBES: Final = ((6, 1), (12, 0))
"""Sizes that are tried for dims that are not known, small enough to run the function, and what the elements are then:
where the elements decide over a shape (of a mask, say), it differs, too."""


class _Place:
    """Stands in the arguments for an input of the node."""

    def __init__(self, number: int) -> None:
        self.number = number


def _infer(node: Node) -> Sequence[Type]:
    values = list(node.values)
    tried = [_tried(node, values, *probe) for probe in _PROBES]
    one, other = tried
    if one is not None and other is not None and len(one) != len(other):
        raise StaticError(
            f"how many parts {node.where} gives is not known before it runs",
            hint="give sizes that do not depend on it, or a placeholder of known shape",
        )
    if one is None or other is None:
        first = next((value.dtype for value in values if value.dtype is not None), None)
        return [(None, first)] * node.attributes.get("outputs", 1)
    return [(common(a.shape, b.shape), a.dtype) for a, b in zip(one, other, strict=True)]


def _tried(node: Node, values: Sequence[Value], probe: int, fill: int) -> list[Any] | None:
    if any(value.shape is None or value.dtype is None for value in values):
        return None
    sizes = [[probe if size is None else size for size in value.shape or ()] for value in values]
    stand_ins = [Tensor(np.full(size, fill, value.dtype)) for size, value in zip(sizes, values, strict=True)]
    try:
        with np.errstate(all="ignore"), record.recording_to(None):
            return [tensor.array for tensor in _called(node, stand_ins)]
    except Exception:  # noqa: BLE001 - ones of these sizes may be no operands; then the shape is told when it runs
        return None


def _called(node: Node, tensors: Sequence[Any]) -> list[Any]:
    given = iter(
        tensors[leaf.number] if isinstance(leaf, _Place) else leaf for leaf in leaves_of(node.attributes["given"])
    )
    args, kwargs = with_leaves(node.attributes["given"], given)
    found = node.attributes["function"](*args, **kwargs)
    return list(found) if isinstance(found, list | tuple) else [found]


def _vjp(builder: graph_builder.Builder, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    gs = [
        builder.append("zeros_like", (value,)).outputs[0] if g is None else g
        for value, g in zip(node.outputs, cotangents, strict=True)
    ]
    places = [place for place, value in enumerate(node.inputs) if isinstance(value, Value) and value.flows]
    attributes = {**node.attributes, "wanted": tuple(places), "outputs": len(gs)}
    made = builder.append("deferred_vjp", (*gs, *node.inputs), attributes)
    return by_input(node, places, made.outputs)


@kind(
    "deferred", "A function of the engine, whose arguments are read when it runs.", infer=_infer, vjp=_vjp, several=True
)
def _deferred(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    found = at(node)(_go, node, values, None)
    if len(found) != len(node.outputs):
        raise StaticError(
            f"{node.where} gave {len(found)} parts, and {len(node.outputs)} when its graph was made",
            hint="give it as many elements as there are parts, or sizes that do not depend on the numbers",
        )
    return found  # type: ignore[no-any-return]


def _go(node: Node, values: Sequence[Any], _: None, depth: int) -> list[Any]:
    return _called(node, values)


def _of_wanted(node: Node) -> Sequence[Type]:
    given = node.inputs[node.attributes["outputs"] :]
    return [(given[place].shape, given[place].dtype) for place in node.attributes["wanted"]]


@kind("deferred_vjp", "The gradients of a function of the engine, by a pass over what it calls.", infer=_of_wanted,
      several=True)  # fmt: skip
def _deferred_vjp(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    count = node.attributes["outputs"]
    given, wanted = values[count:], node.attributes["wanted"]
    found = gradients_of(functools.partial(_called, node), given, wanted, values[:count])
    return [zeros_as(given[place]) if g is None else g for place, g in zip(wanted, found, strict=True)]


def call(function: Callable[..., Any], args: Any, kwargs: Any, symbol: Any) -> Any:
    """Add the node of a call that is read when it runs.

    Args:
        function: A function of the engine, for tensors.
        args: Its arguments, with symbols among them.
        kwargs: Likewise.
        symbol: The class of symbols.
    """
    builder = graph_builder.current()
    inputs: list[Value] = []

    def placed(leaf: Any) -> Any:
        if isinstance(leaf, symbol):
            inputs.append(builder.take(leaf.output, leaf.builder))
        elif isinstance(leaf, Tensor):
            inputs.append(builder.operand(leaf))
        else:
            return leaf
        return _Place(len(inputs) - 1)

    given = (list(args), dict(kwargs))
    packed = with_leaves(given, [placed(leaf) for leaf in leaves_of(given)])
    name = getattr(function, "__name__", "deferred")
    node = builder.append("deferred", inputs, {"function": function, "given": packed}, name=name)
    found = [symbol.of(value, builder) for value in node.outputs]
    return found if len(found) > 1 else found[0]


def or_deferred(
    run: Callable[..., Any], function: Callable[..., Any], args: Any, kwargs: Any, symbol: Any, by_value: bool = False
) -> Any:
    """What `run` makes of arguments; where a size that it asks for is not known, a node that calls `function` then.

    Args:
        run: Adds nodes for symbols.
        function: The same, for tensors.
        args: The arguments.
        kwargs: Likewise.
        symbol: The class of symbols.
        by_value: Whether the call is also deferred where it asks for numbers, all sizes being known.
    """
    graph = graph_builder.current().graph
    begin = len(graph.nodes)
    try:
        return run(*args, **kwargs)
    except (TypeError, StaticError, ValueError, RuntimeError, IndexError) as error:  # what it says where a size is None
        asks = isinstance(error, NeedsValueError)
        if isinstance(error, StaticError) and not asks:
            raise
        if not (asks and by_value) and not _has_open_dims(args, kwargs, symbol):
            raise
    del graph.nodes[begin:]
    return call(function, args, kwargs, symbol)


def _has_open_dims(args: Any, kwargs: Any, symbol: Any) -> bool:
    """Whether a call may be read when it runs: some tensor among its arguments has a dim that is not known."""
    shapes: Iterator[Any] = (
        leaf.output.shape for leaf in leaves_of((list(args), dict(kwargs))) if isinstance(leaf, symbol)
    )
    return any(shape is None or None in shape for shape in shapes)


BY_SIZE: Final = frozenset({"chunk", "split", "split_with_sizes", "tensor_split", "unbind", "unflatten"})
"""Functions that go by the size of a dim, and take one that is not known for none."""

SIZES: Final = ("shape", "sizes", "_sizes", "_ends", "repeats")
"""Attributes of ops that hold sizes: with one that is not known, the call is read when it runs."""


@kind("size", "The length of a dim, as it is when the graph runs.", infer=lambda node: [((), np.dtype("int64"))])
def _size(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [Tensor(np.int64(values[0].array.shape[node.attributes["dim"]]))]


def length(symbol: Any, dim: int = 0) -> Any:
    """How many elements there are along a dim: a number, or a symbol where that is told at run time."""
    size = symbol.shape[dim]
    if size is not None:
        return size
    here = graph_builder.current()
    node = here.append("size", (here.take(symbol.output, symbol.builder),), {"dim": dim})
    return symbol.of(node.outputs[0], here)
