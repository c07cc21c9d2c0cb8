"""Units of a relu that are closed for every input, step after step: no gradient passes them, they never learn again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.values.activations import (
    RELUS,
    active_units,
    calls,
    count_of_inputs,
    is_inside,
    share_of_zeros,
)
from graphscope.diagnose.values.closed_answers import Closed, closed_answers
from graphscope.diagnose.values.closing import TOLD, closing
from graphscope.diagnose.values.squashing import blamed
from graphscope.eventlog.names import place_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_DEAD: Final = 0.9
"""From this share of closed units on a layer is dead; some quiet units are healthy."""

_LAST: Final = 6
"""So many of the newest steps must all show it."""

_INPUTS: Final = 24
"""And so many inputs together: a few may leave all units quiet by chance."""


class Dead(NamedTuple):
    """A layer that is dead."""

    rows: np.ndarray
    """Its calls."""
    share: float
    """Of its units."""
    units: int
    since: int
    """Which of its calls was the first of those that show it."""
    died: bool
    """Whether it was alive in the call before."""


@check(
    "dead relu",
    reads=("rows", "values"),
    shows="run",
    sample="""
        import torch

        w = torch.tensor([[0.1, 0.2], [0.2, 0.1]], requires_grad=True)
        b = torch.tensor([-9.0, -9.0], requires_grad=True)
        v = torch.tensor([[0.5], [0.5]], requires_grad=True)
        for step in range(5):
            x = torch.tensor([[1.0, 2.0], [0.5, 1.0], [2.0, 0.1], [1.0, 1.0], [0.2, 0.3], [0.1, 1.5]])
            hidden = torch.relu(x @ w + b)
            loss = ((hidden @ v - 1.0) ** 2).mean()
            loss.backward()
        """,
    healthy="""
        import torch

        w = torch.tensor([[0.1, 0.2], [0.2, -0.1]], requires_grad=True)
        b = torch.tensor([0.0, -9.0], requires_grad=True)
        v = torch.tensor([[0.5], [0.5]], requires_grad=True)
        for step in range(5):
            x = torch.tensor([[1.0, 2.0], [0.5, 1.0], [2.0, 0.1], [1.0, 1.0], [0.2, 0.3], [0.1, 1.5]])
            hidden = torch.relu(x @ w + b)
            loss = ((hidden @ v - 1.0) ** 2).mean()
            loss.backward()
        """,
)
def dead_relu(graph: Graph) -> Iterator[Finding]:
    """Nearly all units of a relu stay closed for every input, over several steps, so that no gradient passes.

    Units are judged by all inputs of the newest steps together. Where they died in a step, the optimizer that made it
    is to blame; where they never lived, what set the bias or the weight that closes them, else the relu.
    """
    log, told = graph.log, set[int]()
    for closed in closed_answers(log):
        told.add(closed.relu.row)
        yield _of_answers(closed)
    for found in (_dead(graph, rows) for rows in calls(log, RELUS, log.end)):
        if found is not None and (row := int(found.rows[found.since])) not in told:
            yield _of_dead(graph.node(row), found)


def _of_dead(node: Node, found: Dead) -> Finding:
    (file, line), cause, why, cure = _blame(node.graph, node, found)
    verdict = (
        f"{title(node)}{where(node)} is closed: {found.share:.0%} of its {found.units} units gave nothing but 0 in the "
        f"last {min(_LAST, len(found.rows))} steps, whatever the input, and no gradient passes them: {why}"
    )
    names, evidence = (title(node),), {"closed": round(found.share, 4), "units": found.units}
    evidence |= {"steps": len(found.rows) - found.since}
    return Finding("dead_relu", "warning", node.row, node.row, file, line, names, cause, verdict, cure, evidence)


def _of_answers(closed: Closed) -> Finding:
    """What is wrong with a relu behind the last layer."""
    relu, compared = closed.relu, closed.compared
    verdict = f"{title(relu)}{where(relu)} gives the answers of the network, and {_ANSWERS[closed.cause]}"
    verdict = verdict.format(zeros=closed.zeros, missed=closed.missed, compared=f"{compared.op}{where(compared)}")
    cure = "leave the relu behind the last layer out"
    evidence = {"closed": closed.zeros, "missed": closed.missed, "calls": closed.calls}
    place = blamed(relu)
    return Finding(
        "dead_relu", "warning", relu.row, relu.row, *place, (title(relu),), closed.cause, verdict, cure, evidence
    )


_ANSWERS: Final = {
    "targets below 0": "{compared} compares them with targets of which {missed:.0%} are below 0: it can't give them, "
    "and {zeros:.0%} of what it gives is 0, without a gradient",
    "answers of 0": "{zeros:.0%} of them are 0, where {missed:.0%} of the targets of {compared} are above 0: no "
    "gradient passes",
    "logits": "{zeros:.0%} of the scores that {compared} takes are 0, whatever the input: no gradient passes",
}


def _dead(graph: Graph, rows: np.ndarray) -> Dead | None:
    log, newest = graph.log, rows[-_LAST:]
    if (share_of_zeros(log, int(rows[-1])) or 0) < _DEAD:
        return None
    if sum(count_of_inputs(log, int(row)) for row in newest) < _INPUTS:
        return None
    active: np.ndarray | None = None
    for row in newest.tolist():
        units = active_units(log, row)
        if units is None or (active is not None and units.shape != active.shape):
            return None
        active = units if active is None else active | units
    if active is None or len(active) < 2 or active.mean() > 1 - _DEAD:
        return None
    last = graph.node(int(rows[-1]))
    given = share_of_zeros(log, last.inputs[0].source.row) if last.inputs else None
    if given == 1 or not is_inside(last):  # of zeros it makes zeros; a margin of a loss is 0 where all is well
        return None
    since = len(rows) - len(newest)
    while since > 0 and (share_of_zeros(log, int(rows[since - 1])) or 0) >= _DEAD:
        since -= 1
    if len(rows) - since < len(newest):
        return None
    died = since > 0 and share_of_zeros(log, int(rows[since - 1])) is not None  # else its value was not kept
    return Dead(rows, float(1 - active.mean()), len(active), since, died)


def _blame(graph: Graph, node: Node, found: Dead) -> tuple[tuple[str, int], str, str, str]:
    """The line to change, the cause, what happened, and the cure."""
    own = place_of(node.site)
    if found.died:
        facts = training(graph.log)
        weights = {edge.source.tensor for edge in _layer(node).inputs}
        made = next((each for each in facts.optimizers.values() if each.tensors & weights), None)
        place = facts.place(made.site) if made is not None else ("", 0)
        died = "it died in a step"
        return (
            place if place[0] else own,
            "died in a step",
            died,
            "take a smaller learning rate, clip gradients, or use leaky_relu",
        )
    closed = closing(node)
    if closed is not None:
        parameter, kind, wrote = closed
        place = (wrote.site.file, wrote.site.line) if wrote is not None and wrote.site is not None else own
        words, cure = TOLD[kind]
        if kind == "bias" or wrote is not None:
            return place, kind, f"its {kind} {title(parameter)} {words}", cure
    cure = "look at the initialisation and at the scale of the inputs, or use leaky_relu, which never closes"
    return own, "closed from the beginning", "it was so from the beginning", cure


def _layer(node: Node) -> Node:
    """The op that made the input of a relu."""
    return node.inputs[0].source if node.inputs else node
