"""What the calls of a compiled region give, one by one: its generated graph runs again, eagerly."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.adapters import executor
from graphscope.adapters.kit.executor import Executor, RecordedCall
from graphscope.errors import StaticError
from graphscope.eventlog.typed import Input
from graphscope.static.replay.recorded_rows import recorded, state_ahead, where

if TYPE_CHECKING:
    from graphscope.eventlog.generated import GeneratedGraph, GeneratedNode
    from graphscope.graph import Node


_OPERATORS: Final = "_operator."
"""How the names of Python's own operators begin."""


def values(node: Node, graph: GeneratedGraph, given: Mapping[int, np.ndarray]) -> list[np.ndarray | None]:
    """The values of the nodes of a generated graph; None where one can't be computed.

    Args:
        node: The region.
        graph: Its forward graph.
        given: Other values for some of its inputs, by their numbers.

    Raises:
        StaticError: What it was given was not kept.
    """
    edges = sorted(node.inputs, key=lambda edge: edge.number)
    arrays = [given[each.number] if each.number in given else recorded(each.source, each.slot) for each in edges]
    runs = executor(node.graph.log.op(node.event.op).framework)
    found: list[Any] = []
    with runs.aside():
        state = state_ahead(node)
        if state is not None:
            runs.draw_from(state)
        tensors = [
            runs.tensor(array, edge.source.outputs[edge.slot][1]) for array, edge in zip(arrays, edges, strict=True)
        ]
        taken = _given(graph, arrays, tensors)
        for each in graph.nodes:
            value = _result(runs, node, each, [found[place] for place in each.inputs]) if each.op else next(taken, None)
            found.append(value)
        return [_array(runs, each) for each in found]


def _given(graph: GeneratedGraph, arrays: Sequence[np.ndarray], tensors: Sequence[Any]) -> Iterator[Any]:
    """What the graph is given, in order: tensors, and the sizes that the compiler left open."""
    given = [each for each in graph.nodes if not each.op]
    shapes = zip([each.shape for each in given if each.shape is not None], arrays, strict=False)
    sizes = {name: size for shape, array in shapes for name, size in zip(shape, array.shape, strict=False)}
    left = iter(tensors)
    for each in given:
        yield sizes.get(each.name) if each.shape is None else next(left, None)


def _result(runs: Executor, node: Node, each: GeneratedNode, inputs: list[Any]) -> Any:
    """What a call gives: a tensor, or a list of several; None where it can't run."""
    operands = each.arguments.operands
    if any(value is None for value in inputs):
        return None
    if operands is None:
        operands = tuple(map(Input, range(len(inputs))))
    if each.op == "getitem" and isinstance(inputs[0], list):  # one of several results
        place = operands[1] if len(operands) > 1 else None
        return inputs[0][place] if isinstance(place, int) and place < len(inputs[0]) else None
    if each.function.startswith(_OPERATORS):
        return _number(each, [inputs[one.number] if isinstance(one, Input) else one for one in operands])
    writes = each.op.endswith("_") and not each.op.endswith("__")
    call = RecordedCall(f"{each.name} of {where(node)}", each.function, operands, each.arguments.attributes, writes)
    try:
        made = runs.call(call, inputs)
    except StaticError:
        return None
    return made[0] if len(made) == 1 else made or None


def _number(each: GeneratedNode, operands: list[Any]) -> Any:
    """What Python computes of sizes; None where it can't."""
    compute = getattr(operator, each.function.removeprefix(_OPERATORS), None)
    if compute is None or not all(isinstance(one, (bool, int, float)) for one in operands):
        return None
    try:
        return compute(*operands)
    except (ArithmeticError, TypeError, ValueError):
        return None


def _array(runs: Executor, value: Any) -> np.ndarray | None:
    if value is None or isinstance(value, list):
        return None
    return np.asarray(value) if isinstance(value, (bool, int, float)) else runs.array(value)
