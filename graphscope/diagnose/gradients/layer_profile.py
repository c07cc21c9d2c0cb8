"""How large gradients are from layer to layer: by their values, else by what is known of the updates of biases.

The gradient of a bias is the sum of what arrives at its layer, whatever the layer is given; that of a weight is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.profile import Place, chain, place_of_change, source_rule
from graphscope.graph import series
from graphscope.graph.sizes import norms_of

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_LEAST: Final = 4
"""So many layers with biases must lie on the way."""

_SHARED: Final = 0.5
"""Without the one layer that changes a gradient most, the others still account for this part of the change."""

_FITTING: Final = 0.5
"""Weights that pass on less than this part of a gradient shrink it; where they pass on more, what is between does."""

_SLOPES: Final = frozenset({"sigmoid", "tanh", "softmax", "softsign", "erf", "hardsigmoid", "hardtanh"})
"""Functions whose slope is less than 1 wherever they are."""


class Layer(NamedTuple):
    """A layer on the way of a gradient."""

    node: Node
    size: float
    """Of what arrives at an element of it."""
    passes_on: float
    """What its weight makes of a gradient, by its size; NaN where that is not known."""


def place_on_way(graph: Graph, update: np.void) -> Place | None:
    """Where on the way to the gradient of an update it grew, or shrank, most; None where that is not known."""
    gradient = source_rule(graph, int(update["pulled"]))
    rules = chain(graph, gradient)
    if np.isfinite(norms_of(graph.log, np.array(rules, np.int64))).any():
        return place_of_change(graph, gradient)
    updates = series.updates(graph.log)
    return _between_layers(graph, rules, updates[updates["step"] == update["step"]])


def _between_layers(graph: Graph, rules: Sequence[int], updates: np.ndarray) -> Place | None:
    """Where on the way through some rules a gradient changed most; None where that is not known.

    Args:
        graph: The graph.
        rules: The GRAD rows, from where the pass began.
        updates: Those of the parameters in one step.
    """
    layers = _layers(graph, rules, updates)
    if len(layers) < _LEAST:
        return None
    steps = np.diff(np.log([each.size for each in layers]))
    whole = float(steps.sum())
    if abs(whole - steps[np.argmax(steps * np.sign(whole))]) < _SHARED * abs(whole):
        return None  # one that is no measure, as of a bias that a norm behind it takes away
    blamed = [_blamed(graph, rules, layer, before) for layer, before in itertools.pairwise(layers)]
    factors: dict[int, float] = {}
    for node, step in zip(blamed, steps.tolist(), strict=True):
        factors[node.event.site] = factors.get(node.event.site, 0.0) + step
    worst = max(factors, key=lambda site: factors[site] * np.sign(whole))
    node = next(each for each in blamed if each.event.site == worst)
    return Place(node, float(np.exp(factors[worst])), float(np.exp(whole)))


def _layers(graph: Graph, rules: Sequence[int], updates: np.ndarray) -> list[Layer]:
    """Those whose bias is updated, and by none other; the last one first."""
    known = updates[(updates["gradient"] > 0) & np.isfinite(updates["gradient"])]
    places = {int(one["tensor"]): one for one in known}
    found: dict[int, Layer] = {}
    for row in rules:
        owner = graph.node(row).forward
        if owner is None or owner.row in (each.node.row for each in found.values()):
            continue
        mine = [places[tensor] for edge in owner.inputs if (tensor := edge.source.tensor) in places]
        biases = [one for one in mine if _dimensions(graph, one) == 1 and one["count"] > 1]
        if not biases:
            continue
        bias = biases[-1]
        if int(bias["tensor"]) in found:
            return []  # one layer in many places: its gradient is of all of them
        weights = [one for one in mine if _dimensions(graph, one) > 1]
        passes_on = float(weights[0]["weight"] / np.sqrt(_inputs_of(graph, weights[0]))) if weights else np.nan
        found[int(bias["tensor"])] = Layer(owner, float(bias["gradient"] / np.sqrt(bias["count"])), passes_on)
    return list(found.values())


def _dimensions(graph: Graph, update: np.void) -> int:
    return len(graph.index.event(int(update["row"])).shape)


def _inputs_of(graph: Graph, update: np.void) -> float:
    """How many numbers one of a layer is made of."""
    shape = graph.index.event(int(update["row"])).shape
    return float(np.prod(shape[1:]))


def _blamed(graph: Graph, rules: Sequence[int], layer: Layer, before: Layer) -> Node:
    """What changes a gradient on its way from a layer to the one ahead of it: its weights, or a slope between them."""
    if not (layer.passes_on > _FITTING and before.size < layer.size):
        return layer.node
    start, stop = layer.node.row, before.node.row
    between = (graph.node(row).forward for row in rules)
    slopes = (each for each in between if each is not None and stop < each.row < start)
    return next((each for each in slopes if each.op.rstrip("_") in _SLOPES), layer.node)
