"""Weights that begin so that a layer can't learn: all alike, all zero, or far too large or small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.initial import Layer, gains, layers, set_at, units_alike
from graphscope.diagnose.training.objectives import objective, only_losses
from graphscope.diagnose.training.optimized import LEAST, Group, groups, is_matrix, late_to_early, names_of, told

if TYPE_CHECKING:
    from graphscope.graph import Graph

_LARGE: Final = 5.0
_SMALL: Final = 0.05
"""A layer in good order makes results about as large as what it is given."""

_IN_ALL: Final = 100.0
"""So much larger, or smaller by the square of it, are the results of all such layers together."""

_FALLEN: Final = 0.5
"""Who gets on so well needs no other weights to begin with."""

_ABSURD: Final = 20.0
"""Who says nothing of ten thousand classes has a cross-entropy of 9."""


class _Fault(NamedTuple):
    cause: str
    layers: Sequence[Layer]
    said: str
    cure: str


_CURE: Final = "leave the initialisation to the layers, or use torch.nn.init.kaiming_uniform_ or xavier_uniform_"


def _is_suspect(group: Group) -> bool:
    """Whether some weight begins with one number in all places, or several with numbers of another scale."""
    found = group.updates[is_matrix(group.log, group.updates["tensor"])]
    if not len(found):
        return False
    _, firsts = np.unique(found["tensor"], return_index=True)
    found = found[firsts]
    starts = (group.log.summary(row) for row in found["before"].tolist())
    if any(start is not None and start.minimum == start.maximum for start in starts):
        return True
    sizes = gains(group.log, found)
    return bool((sizes.max(1) > _LARGE).sum() > 1 or (sizes.min(1) < _SMALL).sum() > 1)


def _faults(graph: Graph, group: Group) -> Iterator[_Fault]:
    log, found = graph.log, layers(graph, group)
    starts = {layer.row: log.summary(layer.start) for layer in found}
    flat = [each for each in found if (start := starts[each.row]) is not None and start.minimum == start.maximum]
    dead = [each for each in flat if starts[each.row].maximum == 0 and _is_still(each)]  # type: ignore[union-attr]
    still = [layer for layer in found if _is_still(layer)]
    if dead and 2 * len(still) >= len(found):  # else it may be one that nothing was routed to yet
        yield _Fault("zero", dead, "are all zero, and no gradient ever comes to them", _CURE)
    hidden = [layer for layer in flat if layer.row != found[-1].row]
    alike = [layer for layer in flat if units_alike(log, layer)]
    if not alike and len(flat) == len(found) > 1 and all(units_alike(log, layer) is None for layer in flat):
        alike = [layer for layer in hidden if starts[layer.row].maximum != 0]  # type: ignore[union-attr]
    if alike:
        yield _Fault(
            "alike", alike, "begin with one number in all places, so that all units of a layer stay the same", _CURE
        )
    if not still and not alike:
        yield from _out_of_scale(graph, group, found)


def _is_still(layer: Layer) -> bool:
    return bool((layer.updates["gradient"] == 0).all() and len(layer.updates) >= LEAST)


def _out_of_scale(graph: Graph, group: Group, found: Sequence[Layer]) -> Iterator[_Fault]:
    factors = np.array([layer.factor for layer in found])
    if len(found) < 2 or not np.isfinite(factors).all() or not (factors > 0).all():
        return
    losses = group.losses
    late = late_to_early(losses)
    root = next((int(each) for each in only_losses(group.log)["root"][-1:]), None)
    measured = None if root is None else objective(graph, root)
    crossed = measured is not None and measured.node.op == "cross_entropy"
    absurd = crossed and bool(np.median(losses[-LEAST:]) > _ABSURD)
    grown = np.minimum(factors, [layer.gain for layer in found])  # beside small numbers a bias alone is large
    large, small = grown > _LARGE, factors < _SMALL
    whole = float(np.prod(grown))
    if large.sum() >= 2 and whole > _IN_ALL and (not late < _FALLEN or absurd):
        each = [layer for layer, flag in zip(found, large.tolist(), strict=True) if flag]
        yield _Fault(
            "too large", each, f"begin far too large: together they make numbers {whole:.2g} times as large", _CURE
        )
    left = float(np.prod(factors))
    left = max(left, found[-1].made / found[0].given)  # residual paths and norms make up for what layers leave
    if small.sum() >= 2 and left < _IN_ALL**-2 and late > 0.9:
        each = [layer for layer, flag in zip(found, small.tolist(), strict=True) if flag]
        yield _Fault(
            "too small", each, f"begin far too small: together they leave {left:.2g} of what they are given", _CURE
        )


@check(
    "weights that begin so that nothing is learnt",
    reads=("marks", "rows", "values"),
    shows="run",
    sample="""
        import torch

        first = torch.full((2, 3), 0.5, requires_grad=True)
        last = torch.full((3, 2), 0.5, requires_grad=True)
        x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        optimizer = torch.optim.SGD([first, last], lr=0.01)
        for _ in range(8):
            optimizer.zero_grad()
            loss = (((x @ first).tanh() @ last - y) ** 2).mean()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        first = torch.tensor([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6]], requires_grad=True)
        last = torch.full((3, 2), 0.5, requires_grad=True)
        x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        optimizer = torch.optim.SGD([first, last], lr=0.01)
        for _ in range(8):
            optimizer.zero_grad()
            loss = (((x @ first).tanh() @ last - y) ** 2).mean()
            loss.backward()
            optimizer.step()
        """,
)
def bad_init(graph: Graph) -> Iterator[Finding]:
    """The weights of a layer begin so that it can't learn: all alike, all zero, or far out of scale."""
    for group in filter(_is_suspect, groups(graph.log)):
        row = int(group.updates["row"][0])
        for fault in _faults(graph, group):
            node = next((node for node in (set_at(graph, layer) for layer in fault.layers) if node is not None), None)
            node = node or graph.node(fault.layers[0].row)
            names = names_of(graph, np.array([layer.updates["tensor"][0] for layer in fault.layers]))
            start = graph.log.summary(fault.layers[0].start)
            evidence = {"weights": len(names)} | ({} if start is None else {"mean": start.mean, "std": start.std})
            verdict = f"{told(names)} {fault.said} (set{where(node)})"
            explained = Explanation("fine", fault.cause, verdict, (step_of(node, "begins so"),), fault.cure)
            yield finding("bad_init", "warning", row, explained, names, evidence)
