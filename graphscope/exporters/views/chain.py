"""The view of the chain rule: the paths from a node to the loss, with the derivative of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import ExportError
from graphscope.exporters.step_choice import chosen_rows
from graphscope.exporters.views.chain_boxes import arrow, box, called, is_text, is_updated, number_text
from graphscope.exporters.views.view_table import view
from graphscope.graph.chain_rule import Chain, ways_to
from graphscope.graph.chain_rule import chain as chain_between
from graphscope.graph.pullback import local_derivative
from graphscope.graph.series.losses import losses, unscaled
from graphscope.graph.view import GraphView

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphscope.exporters.views.request import Request
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node

__all__ = ["chain"]

MOST: Final = 60
"""More boxes would be no chain that a person follows."""

FEW: Final = 6
"""So many paths are told one by one."""

_OTHERS: Final = "--select SPEC begins elsewhere, --to SPEC ends elsewhere"
_KEY: Final = "× derivative of an op by its input; ∂ of the end by what is in the box"


@view("chain", takes=("select", "step", "at"))
def chain(asked: Request, *, to: str = "") -> GraphView:
    """The chain rule along the paths to the loss: each derivative, their products and the sum.

    Args:
        to: The node where the paths end, as a SPEC; by default the loss.
    """
    graph = asked.recording()
    rows, heading = chosen_rows(graph, asked.choice.step)
    end = _named_end(graph, to) if to else _loss(graph, rows)
    after = _behind(graph, end)
    found = _chain(after, asked.choice.select, after.node(end.row))
    derivatives = {id(link): local_derivative(link.op, link.operand) for link in found.links}
    gradients = found.gradients()
    return GraphView(
        tuple(box(node, found, gradients[node.row]) for node in found.nodes),
        tuple(arrow(link, derivatives[id(link)]) for link in found.links),
        graph=after,
        heading=(
            *_told(found, derivatives, gradients[found.start.row]),
            _KEY,
            *([] if asked.choice.select else [_OTHERS]),
            *heading[:1],
        ),
    )


def _named_end(graph: Graph, spec: str) -> Node:
    """The last forward node that a SPEC means.

    Raises:
        ExportError: There is none.
    """
    named = [node for node in graph.select(spec) if node.graph_pass == "forward"]
    if not named:
        raise ExportError(f"no forward node is {spec!r}", "name the node where the paths end: --to name:h")
    return named[-1]


def _loss(graph: Graph, rows: np.ndarray) -> Node:
    """The loss among some rows: the last that a backward pass began from.

    Raises:
        ExportError: There is none.
    """
    roots = losses(graph.log)["root"]
    roots = roots[np.isin(roots, rows)]
    if not len(roots):
        raise ExportError("no backward pass began there, so there is no loss to lead to", "name the end: --to name:h")
    return graph.node(unscaled(graph, int(roots[-1])))


def _behind(graph: Graph, end: Node) -> Graph:
    """The graph when the backward pass is done that began from a node, or behind it."""
    later = np.sort(losses(graph.log)["begin"])
    begun = later[later > end.row]
    if len(begun) < 2:
        return graph
    return graph.at(min(graph.now, int(begun[1])))


def _chain(graph: Graph, spec: str | None, end: Node) -> Chain:
    """The paths from the node that was chosen, else from the first leaf from which there are not too many.

    Raises:
        ExportError: No gradient flows to it, or too many nodes lie between.
    """
    ways = ways_to(graph, end)
    if spec is None:
        nodes = [graph.node(row) for row in sorted(ways.users)]
        named = [node for node in nodes if node.kind == "leaf" or is_updated(node)]
    else:
        named = [node for node in graph.select(spec) if node.row in ways.users][:1]
    named = [node for node in named if node.row != end.row]
    if not named:
        what = f"from {spec!r} " if spec else ""
        raise ExportError(
            f"no gradient flows {what}to {called(end)}: there is no path that requires a gradient",
            "choose a node that the loss was computed from: --select name:w",
        )
    for start in named:
        count = len(ways.between(start.row))
        if count <= MOST:
            return chain_between(graph, start, ways)
    raise ExportError(
        f"{count:,} nodes lie on the paths from {called(start)} to {called(end)}, too many to follow",
        "begin later (--select SPEC) or end sooner (--to SPEC)",
    )


def _told(found: Chain, derivatives: Mapping[int, np.ndarray | None], total: np.ndarray | None) -> Iterator[str]:
    """What stands above: the gradient, and each path with its product, where there are few."""
    what = f"∂{called(found.end)}/∂{called(found.start)}"
    if not found.is_whole and int(np.prod(found.end.shape)) != 1:
        what = f"gradient of {called(found.start)} by way of {called(found.end)}"
    count = f"the sum over {found.count:,} paths" if found.count > 1 else "along one path"
    yield f"{what}{is_text(total)}, {count}"
    for number, path in enumerate(found.paths() if found.count <= FEW else (), 1):
        name = f"path {number}: " if found.count > 1 else ""
        factors = [_single(derivatives[id(link)]) for link in path]
        if None in factors:
            told = " → ".join([called(found.start), *(link.op.op for link in path)])
        else:
            told = " · ".join(number_text(each) for each in factors if each is not None)
        yield f"{name}{told}{is_text(found.share(path))}"


def _single(value: np.ndarray | None) -> float | None:
    return None if value is None or value.size != 1 else float(value.reshape(()))
