"""Terms of a loss that it grows or falls with in a fixed ratio, and that have the wrong sign whatever the rest is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.batches import is_data
from graphscope.diagnose.training.objectives import ERRORS, WEIGHTED, objective
from graphscope.diagnose.training.policies import flips, pushed
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import origin
from graphscope.eventlog.schema import Flag
from graphscope.graph.callers import callers
from graphscope.graph.reading import once_a_length
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_SIZES: Final = frozenset({"pow", "square", "abs", "norm", "linalg_vector_norm", "mul"})
_LINEAR: Final = frozenset({"sum", "mean", "neg", "add", "sub", "rsub", "mul", "div", "stack", "view", "reshape", "to"})
_JOINING: Final = frozenset({"add", "sub", "rsub", "stack"})
_FAR: Final = 400
"""So many ops lie between a term and the loss at most: penalties are summed up weight by weight."""
_NEAR: Final = 6


class LinearTerm(NamedTuple):
    """A term of the wrong sign."""

    node: Node
    """What it measures."""
    file: str
    line: int
    """Where the sign is to be changed."""


@once_a_length
def rewarded_weights(log: Log) -> list[LinearTerm]:
    """Sizes of weights that a loss falls with, so that it has no least value; the first of each line."""
    rows = op_rows(log, _SIZES)
    given = sources(log, rows)
    of_weights = (given >= log.first) & ((log.pick("flags", np.maximum(given, log.first)) & int(Flag.PARAMETER)) != 0)
    nodes = map(log.graph.node, distinct(log, rows[of_weights], depth=1))
    return [found for node in nodes if (found := _rewarded(node)) is not None]


def _rewarded(size: Node) -> LinearTerm | None:
    weight = size.inputs[0].source
    if len(weight.shape) < 2 or not size.flags & Flag.REQUIRES_GRAD or pushed(size) != -1:
        return None
    squared = size.op == "mul" and len(size.inputs) == 2 and size.inputs[1].source.row == weight.row
    even = any(each.constant in (2, 4) for each in size.operands if each.edge is None)
    if (size.op == "mul" and not squared) or (size.op == "pow" and not even):
        return None
    if not any(edge.target.op in WEIGHTED for edge in weight.users):
        return None
    way = _way_to_loss(size)
    turned = next((each for each, place in reversed(way or []) if flips(each, place)), None)
    site = None if turned is None else turned.site
    return None if site is None else LinearTerm(size, site.file, site.line)


@once_a_length
def shrunk_overlaps(log: Log) -> list[LinearTerm]:
    """Shares in which an answer and what is right overlap, that are all a loss consists of and that it grows with."""
    nodes = map(log.graph.node, distinct(log, op_rows(log, {"div", "true_divide"})))
    return [found for node in nodes if (found := _shrunk(node)) is not None]


def _shrunk(share: Node) -> LinearTerm | None:
    if len(share.inputs) != 2 or not share.flags & Flag.REQUIRES_GRAD or pushed(share) != 1:
        return None
    above, below = (set(_terms(edge.source)) for edge in share.inputs)
    for total in (each for each in above if each.op == "sum" and each.inputs):
        product = origin(total.inputs[0].source)
        sources = [edge.source for edge in product.inputs] if product.op == "mul" else []
        answers = [each for each in sources if each.flags & Flag.REQUIRES_GRAD]
        if len(sources) != 2 or len(answers) != 1 or not is_data(next(each for each in sources if each != answers[0])):
            continue
        whole = {each.inputs[0].source.row for each in below if each.op == "sum" and each.inputs}
        if total not in below and origin(answers[0]).row not in whole and answers[0].row not in whole:
            continue
        way = _way_to_loss(share)
        if way is None or not all(_is_beside_errors(each, place) for each, place in way):
            return None
        lines = callers(share.graph.log, share.row).lines
        place = next((each for each in lines if "loss" in each.function.lower()), lines[-1] if lines else None)
        return None if place is None else LinearTerm(share, place.file, place.line)
    return None


def _terms(node: Node) -> Iterator[Node]:
    """What a number is a sum of, times numbers."""
    waiting = [(node, 0)]
    while waiting:
        at, depth = waiting.pop()
        at = origin(at)
        yield at
        if at.op.rstrip("_") in (*_JOINING, "mul", "clamp", "clamp_min") and depth < _NEAR:
            waiting += [(edge.source, depth + 1) for edge in at.inputs]


def _is_beside_errors(node: Node, place: int) -> bool:
    """Whether a node joins a term to nothing but errors."""
    others = [edge.source for number, edge in enumerate(node.inputs) if number != place]
    others = [each for each in others if each.flags & Flag.REQUIRES_GRAD]
    measured = [objective(node.graph, each.row) for each in others]
    return all(each is not None and each.node.op in ERRORS for each in measured)


def _way_to_loss(node: Node) -> list[tuple[Node, int]] | None:
    """The ops from a node to the end of a loss, and where what comes from there stands; None if one is not linear."""
    way: list[tuple[Node, int]] = []
    while len(way) < _FAR:
        users = [edge.target for edge in node.users if edge.target.graph_pass == "forward"]
        users = [user for user in users if user.kind == "op" and user.flags & Flag.REQUIRES_GRAD]
        if not users:
            return way if node.shape == () else None
        user = users[0]
        place = next(number for number, edge in enumerate(user.inputs) if edge.source.row == node.row)
        trained = [edge.source for edge in user.inputs if edge.source.flags & Flag.REQUIRES_GRAD]
        name = user.op.rstrip("_")
        if len(users) > 1 or name not in _LINEAR or (name in ("mul", "div") and len(trained) > 1):
            return None
        way.append((user, place))
        node = user
    return None
