"""The view of neurons: a small network as a teacher draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.errors import ExportError
from graphscope.exporters.views.figure import Figure
from graphscope.exporters.views.neuron_drawing import Column, Joint, drawing
from graphscope.exporters.views.view_table import view
from graphscope.graph.dense import Dense, Side, chain_of, dense_layers
from graphscope.graph.series.losses import losses, unscaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.exporters.views.request import Request
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node

__all__ = ["neurons"]

MOST: Final = 12
"""A network of more layers would be wider than a page."""


@view("neurons", takes=("select", "step", "at"))
def neurons(asked: Request, *, sample: int = 0) -> Figure:
    """A small network as circles joined by weights, with activations and gradients of a sample.

    Args:
        sample: Which sample of the batch the numbers are of, from 0.
    """
    nodes, heading = asked.nodes()
    layers = dense_layers(nodes)
    chain = chain_of(layers)
    _check(chain, sample)
    graph = _when_gradients_are_there(chain[0].product.graph, nodes)
    loss = _loss(graph, chain[-1].made.node, nodes)
    sides = [chain[0].source, *(layer.made for layer in chain)]
    columns = [_column(graph, side, each, sample) for side, each in zip(sides, [None, *chain], strict=True)]
    told = [*heading[:1], f"Sample {sample} of {sides[-1].samples:,}"]
    if len(layers) > len(chain):
        told.append(f"{len(chain)} of {len(layers)} dense layers: those that follow each other (others: --select)")
    if all(column.activations is None for column in columns):
        told.append("No values were kept: record with --values full to see numbers")
    svg = drawing(columns, [_joint(graph, each) for each in chain], loss, told)
    return Figure(svg, " · ".join(["Neurons", *told]))


def _check(chain: Sequence[Dense], sample: int) -> None:
    """Look whether there is a network to draw.

    Raises:
        ExportError: There is none, it is too deep, or its batch has no such sample.
    """
    if not chain:
        raise ExportError(
            "no dense layer is among what was chosen: no product with a weight of two dimensions ran there",
            "draw it as ops (--view ops), or choose a step or a module that has linear layers",
        )
    if len(chain) > MOST:
        raise ExportError(
            f"{len(chain)} dense layers are too many to be drawn as neurons",
            f"choose a part of at most {MOST}, by a module (--select 'scope:{_part(chain)}') or a SPEC of its ops",
        )
    samples = min(layer.made.samples for layer in chain)
    if not 0 <= sample < samples:
        raise ExportError(f"there is no sample {sample}: the batch has {samples:,}", f"choose 0 to {samples - 1}")


def _part(chain: Sequence[Dense]) -> str:
    """The module that has most of the layers of a chain, but not too many."""
    counts: dict[str, int] = {}
    for layer in chain:
        parts = layer.product.scope.split(".")
        for depth in range(1, len(parts) + 1):
            scope = ".".join(parts[:depth])
            counts[scope] = counts.get(scope, 0) + 1
    fitting = {scope: count for scope, count in counts.items() if scope and 1 < count <= MOST}
    return f"{max(fitting, key=lambda scope: fitting[scope])}*" if fitting else "NAME"


def _when_gradients_are_there(graph: Graph, nodes: Sequence[Node]) -> Graph:
    """The graph behind the backward pass of these nodes, ahead of what an optimizer does with the gradients."""
    last = max((node.row for node in nodes if node.graph_pass == "backward"), default=None)
    if last is None:
        last = max(each.row for node in nodes for each in [node, *node.backward])
    return graph.at(min(last, graph.now))


def _column(graph: Graph, side: Side, layer: Dense | None, sample: int) -> Column:
    node = graph.node(side.node.row)
    name = "input" if layer is None else layer.name
    done = (node.name,) if layer is None else layer.ops
    return Column(
        name,
        ", ".join(done),
        side.width,
        side.row(node.value, sample),
        side.row(node.grad, sample),
        "" if node.site is None else node.source_line.strip(),
    )


def _joint(graph: Graph, layer: Dense) -> Joint:
    gradient = graph.node(layer.parameter.row).grad if layer.parameter.row <= graph.now else None
    if gradient is not None and gradient.shape == layer.parameter.shape and layer.weight.source.shape == gradient.shape:
        turned = gradient.T if layer.turned else gradient
    else:
        turned = None
    return Joint(layer.parameter.name or "weight", layer.weights(), turned)


def _loss(graph: Graph, end: Node, nodes: Sequence[Node]) -> tuple[str, float] | None:
    """What the loss of these nodes is called, and what it was; None where no backward pass began from one."""
    rows = {node.row for node in nodes}
    found = losses(graph.log)
    for root, value in zip(found["root"].tolist(), found["value"].tolist(), strict=True):
        if end.row < root <= graph.now and (root in rows or len(rows) < len(graph.nodes)):
            node = graph.node(unscaled(graph, root))
            known = node.value
            return node.name or node.op, value if known is None or known.size != 1 else float(known.reshape(()))
    return None
