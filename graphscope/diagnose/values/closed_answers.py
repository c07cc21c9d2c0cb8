"""Answers of a network that go through a relu, and the targets that they are compared with, which it can't give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.objectives import ERRORS
from graphscope.diagnose.values.activations import RELUS, calls, share_of_zeros, spread
from graphscope.diagnose.values.origins import MOVES, argument, origin
from graphscope.graph.outline.steps import steps
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

CLAMPS: Final = frozenset({"clamp", "clamp_min", "clip"})
_LAYERS: Final = frozenset({
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "batch_norm",
    "layer_norm", "addmm", "matmul", "mm",
})  # fmt: skip
_PICKING: Final = frozenset({"gather", "getitem", "select", "index_select", "squeeze"})
_OF_LOGITS: Final = frozenset({"cross_entropy", "binary_cross_entropy_with_logits", "log_softmax"})
_ELEMENTWISE: Final = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "sub"})

_CLOSED: Final = 0.9
"""From this share of zeros on, in each call, nothing is answered."""
_BELOW: Final = 0.2
"""From this share of targets below 0 on, which add up to this part of the others, they are no noise around it."""
_CALLS: Final = 6
_LEAST: Final = 48
"""So many of the newest calls, spread over them, must show it; with so many answers in all."""
_MOST_USERS: Final = 12


class Closed(NamedTuple):
    """A relu behind the last layer of a network."""

    relu: Node
    """The first of the calls that were looked at."""
    compared: Node
    zeros: float
    """The share of its answers that are 0."""
    missed: float
    """The share of targets that it can't give, or does not come to."""
    cause: str
    calls: int


@once_a_length
def closed_answers(log: Log) -> list[Closed]:
    """All of a log, in its order."""
    found = (_closed(log, rows) for rows in calls(log, RELUS | CLAMPS, log.end))
    return sorted((each for each in found if each is not None), key=lambda each: each.relu.row)


def _closed(log: Log, rows: np.ndarray) -> Closed | None:
    if not share_of_zeros(log, int(rows[-1])):
        return None
    chosen = spread(rows[-max(len(rows) // 2, _CALLS) :], _CALLS)
    found = [_measured(_in_its_step(log, row)) for row in chosen.tolist()]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len(found) < 3 or sum(int(np.prod(each.relu.shape)) for each in known) < _LEAST:
        return None
    causes = {each.cause for each in known}
    if len(causes) != 1 or not known[0].cause:
        return None
    zeros, missed = (float(np.mean([getattr(each, name) for each in known])) for name in ("zeros", "missed"))
    return Closed(known[0].relu, known[0].compared, zeros, missed, causes.pop(), len(rows))


def _in_its_step(log: Log, row: int) -> Node:
    """A node as it is seen at the end of its training step, by when an answer has been compared."""
    known = steps(log)
    place = known.place(row)
    seen: Graph = log.graph.at(None if place is None else int(known.last[place]))
    return seen.node(row)


def _measured(relu: Node) -> Closed | None:
    """What one call of a relu answers; None where it is no answer, or not known. Without a cause, it is all right."""
    layer = relu.inputs[0].source if relu.inputs else relu
    layer = layer.inputs[0].source if layer.op == "add" and layer.inputs else layer
    if origin(layer).op not in _LAYERS or (relu.op.rstrip("_") in CLAMPS and not _is_relu(relu)):
        return None
    for compared, given in _comparisons(relu):
        zeros = share_of_zeros(relu.graph.log, given.row)
        if zeros is None:
            return None
        if compared.op in _OF_LOGITS:
            return Closed(relu, compared, zeros, zeros, "logits" if zeros >= _CLOSED else "", 1)
        target = next((edge.source for edge in compared.inputs if edge.source != given), None)
        wanted = None if target is None or target.backward else target.value
        if wanted is None or wanted.shape != given.shape or not np.isfinite(wanted).all():
            return None
        below = float((wanted < 0).mean())
        above = float((wanted > 0).mean())
        weights = float(-wanted[wanted < 0].sum()), float(wanted[wanted > 0].sum())
        if below >= _BELOW and weights[0] >= _BELOW * weights[1] and zeros > 0:
            return Closed(relu, compared, zeros, below, "targets below 0", 1)
        cause = "answers of 0" if zeros >= _CLOSED and above >= 1 - _BELOW else ""
        return Closed(relu, compared, zeros, above, cause, 1)
    return None


def _is_relu(clamp: Node) -> bool:
    """Whether a clamp is one: from 0 on, without an end."""
    least, most = argument(clamp, "min", 1), argument(clamp, "max", 2)
    return least == 0 and most is None


def _comparisons(relu: Node) -> Iterator[tuple[Node, Node]]:
    """The ops that compare what a relu gives, as it is or some of it, with something; and what they were given."""
    waiting, seen = [relu], 0
    while waiting and seen < _MOST_USERS:
        each = waiting.pop(0)
        for edge in each.users:
            user, name = edge.target, edge.target.op.rstrip("_")
            if user.kind != "op" or user.graph_pass != "forward" or user.row < relu.row:
                continue
            seen += 1
            if name in _OF_LOGITS or (name in _ELEMENTWISE and name in ERRORS) or (name == "sub" and _is_error(user)):
                yield user, each
            elif name in _PICKING or name in MOVES:
                waiting.append(user)


def _is_error(difference: Node) -> bool:
    """Whether a difference is measured right away."""
    users = [edge.target.op.rstrip("_") for edge in difference.users if edge.target.graph_pass == "forward"]
    return bool(users) and all(name in ("pow", "square", "abs", "norm") for name in users)
