"""Sigmoid, tanh and softmax in their flat parts, where hardly any gradient passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.values.activations import calls, is_inside, spread
from graphscope.diagnose.values.origins import axis
from graphscope.eventlog.names import place_of

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph import Graph, Node

_FLAT: Final = 0.02
"""Below this part of the steepest slope, on average, nearly all outputs are flat."""

_LOOKED_AT: Final = 12
"""So many calls of a place are looked at, and all must be flat."""

_ELEMENTS: Final = 16
"""So many outputs a call must have to tell."""


def _logistic(found: Summary, _: int) -> float:
    return 4 * (found.mean - found.mean**2 - found.std**2)


def _hyperbolic(found: Summary, _: int) -> float:
    return 1 - found.mean**2 - found.std**2


def _of_rows(found: Summary, size: int) -> float:
    return 1 - size * (found.mean**2 + found.std**2)


SLOPES: Final[dict[str, Callable[[Summary, int], float]]] = {
    "sigmoid": _logistic, "tanh": _hyperbolic, "softmax": _of_rows,
}  # fmt: skip
"""The mean slope of an op as a part of the steepest one, by the statistics of its output."""


class _Calls(NamedTuple):
    rows: np.ndarray
    slope: float


@check(
    "saturation",
    reads=("rows", "values"),
    shows="run",
    sample="""
        import torch

        x = torch.linspace(-1.0, 1.0, 32).reshape(16, 2)
        w = torch.tensor([[900.0, 700.0], [800.0, -900.0]], requires_grad=True)
        v = torch.tensor([[0.1], [0.2]], requires_grad=True)
        for step in range(4):
            hidden = torch.tanh(x @ w)
            loss = ((hidden @ v - 1.0) ** 2).mean()
            loss.backward()
        """,
    healthy="""
        import torch

        x = torch.linspace(-1.0, 1.0, 32).reshape(16, 2)
        w = torch.tensor([[0.9, 0.7], [0.8, -0.9]], requires_grad=True)
        v = torch.tensor([[0.1], [0.2]], requires_grad=True)
        for step in range(4):
            hidden = torch.tanh(x @ w)
            loss = ((hidden @ v - 1.0) ** 2).mean()
            loss.backward()
        """,
)
def saturation(graph: Graph) -> Iterator[Finding]:
    """Nearly all outputs of a sigmoid, tanh or softmax within a network lie where it is flat, in all steps."""
    for rows in calls(graph.log, SLOPES, graph.log.end):
        found = _saturated(graph, rows)
        if found is not None:
            yield _of_place(graph.node(int(rows[0])), found)


def _of_place(node: Node, found: _Calls) -> Finding:
    given = node.inputs[0].source.summary if node.inputs else None
    largest = 0.0 if given is None else max(abs(given.minimum), abs(given.maximum))
    verdict = (
        f"{title(node)} = {node.op}{where(node)} is saturated in all {len(found.rows)} steps: its slope is "
        f"{max(found.slope, 0):.2g} of the steepest on average"
        + (f", with inputs of magnitudes up to {largest:.4g}" if largest else "")
        + ", so that hardly any gradient passes"
    )
    cure = _CURES.get(node.op.rstrip("_"), _KEEP_SMALL)
    site, row, names = node.site, node.row, (title(node),)
    file, line = place_of(site)
    evidence = {"slope": max(found.slope, 0.0), "largest magnitude of its inputs": largest, "steps": len(found.rows)}
    return Finding("saturation", "warning", row, row, file, line, names, "saturated", verdict, cure, evidence)


_KEEP_SMALL: Final = "keep its inputs small: normalise them, begin with smaller weights, or use relu or gelu"
_CURES: Final = {
    "softmax": "divide its inputs by the root of their width (scores / d**0.5), or begin with smaller weights"
}


def _saturated(graph: Graph, rows: np.ndarray) -> _Calls | None:
    slopes = []
    for row in spread(rows, _LOOKED_AT).tolist():
        slope = _slope(graph, row)
        if slope is None or slope >= _FLAT:
            return None
        slopes.append(slope)
    inside = all(is_inside(graph.node(int(row))) for row in (rows[0], rows[-1]))
    return _Calls(rows, float(np.mean(slopes))) if inside else None


def _slope(graph: Graph, row: int) -> float | None:
    found = graph.log.summary(row)
    if found is None or not found.finite or found.count < _ELEMENTS:
        return None
    node, size = graph.node(row), 0
    if node.op.rstrip("_") == "softmax":
        place = axis(node)
        size = 0 if place is None or not node.shape else node.shape[place]
        if size < 2:
            return None
    return SLOPES[node.op.rstrip("_")](found, size)
