"""Which parameter ahead of a relu keeps it closed from the beginning, and where the program set that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.initial import setter
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph import Node

_WITHOUT: Final = 0.2
"""So much of a layer is open if its bias alone is what closes it."""
_DEVIATIONS: Final = 0.84
"""Above its mean plus so many standard deviations, a fifth of what is distributed normally lies."""
_MOST_ROWS: Final = 5000
"""So many rows ahead of a parameter's first are looked at."""


class Closing(NamedTuple):
    """A parameter that closes a relu."""

    parameter: Node
    cause: str
    """`bias` or `weight`."""
    set_at: Node | None
    """What gave it its first numbers, where the program did so itself."""


TOLD: Final = {
    "bias": ("is far below 0", "begin with a bias of 0"),
    "weight": ("has one sign, and its inputs the other", "begin with weights of both signs, around 0"),
}
"""By what closes a relu: how it is told, and the cure."""


def closing(relu: Node) -> Closing | None:
    """The parameter that closes a relu; None where none does alone."""
    layer = relu.inputs[0].source if relu.inputs else relu
    for cause, found in (("bias", _bias(layer)), ("weight", _weight(layer))):
        if found is not None:
            return Closing(found, cause, _set_at(found))
    return None


def _bias(layer: Node) -> Node | None:
    """What is added in a layer, where without it much of the layer would be above 0."""
    if len(layer.inputs) < 2:
        return None
    bias = layer.inputs[-1].source
    held, given = bias.summary, layer.summary
    if held is None or given is None or len(bias.shape) != 1 or bias.shape[0] not in layer.shape:
        return None
    return bias if held.maximum < 0 and _open_without(layer, bias, held, given) > _WITHOUT else None


def _open_without(layer: Node, bias: Node, held: Summary, given: Summary) -> float:
    """How much of a layer would be above 0 without its bias: told by the values, else by their statistics."""
    values, below = layer.value, bias.value
    if values is None or below is None:
        return float(given.mean - held.mean > -_DEVIATIONS * given.std)
    axis = values.ndim - 1 if values.shape[-1] == below.shape[0] else 1
    shaped = below.reshape([-1 if each == axis else 1 for each in range(values.ndim)])
    return float((values - shaped > 0).mean())


def _weight(layer: Node) -> Node | None:
    """A weight of one sign alone, where what it is multiplied with is of the other sign."""
    given = layer.inputs[0].source.summary if layer.inputs else None
    for edge in layer.inputs[1:]:
        held = edge.source.summary
        if held is None or given is None or len(edge.source.shape) < 2:
            continue
        if (held.maximum <= 0 <= given.minimum) or (given.maximum <= 0 <= held.minimum):
            return edge.source
    return None


def _set_at(parameter: Node) -> Node | None:
    found = setter(parameter.graph, parameter.tensor, parameter.row + 1)
    return found if found is not None else _made_as(parameter)


def _made_as(parameter: Node) -> Node | None:
    """What made the numbers that a parameter was made of: the newest result that is the same, and went nowhere else."""
    graph, first = parameter.graph, parameter.graph.node(parameter.tensor)
    held = first.value
    if held is None or not held.size:
        return None
    for row in range(first.row - 1, max(graph.log.first, first.row - _MOST_ROWS) - 1, -1):
        event = graph.index.event(row)
        if event.kind not in (Kind.LEAF, Kind.OP) or event.shape != first.shape or event.flags & Flag.PARAMETER:
            continue
        node = graph.node(row)
        if node.value is not None and np.array_equal(node.value, held) and not graph.index.using(row, graph.log.end):
            return node
    return None
