"""What a program feeds its model: the inputs of first layers and the labels of losses, and whether they are data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.values.op_rows import op_rows
from graphscope.diagnose.values.origins import JOINS, moves
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

CLASSIFYING: Final = frozenset(
    {"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"}
)
LABELLED: Final = CLASSIFYING | {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"}
"""Losses whose second operand says what is right."""

RECURRENT: Final = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
LAYERS: Final = frozenset({"linear", "conv1d", "conv2d", "conv3d", "matmul", "mm"}) | RECURRENT
"""Ops of layers that take numbers as they are, and a weight."""

MADE: Final = frozenset(
    {"zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty",
     "empty_like", "new_empty", "eye", "fill", "zero"}
)  # fmt: skip
"""Functions that make constants: what they make for a batch is meant to be the same."""


def same_site(log: Log, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Some rows, in groups of those that one line of the program made in one module."""
    first, which = grouped([log.pick(field, rows) for field in ("site", "scope", "op")])
    for number in range(len(first)):
        yield rows[which == number]


def losses(log: Log) -> list[list[int]]:
    """The rows of losses that have labels, in groups of one line each."""
    return [group.tolist() for group in same_site(log, op_rows(log, LABELLED))]


def first_layers(log: Log) -> list[list[int]]:
    """The rows of trained layers that take what was not computed by trained ones, in groups of one line each."""
    rows = op_rows(log, LAYERS)
    fed, weights = sources(log, rows), sources(log, rows, 1)
    leaves = log.pick("tensor", weights).astype(np.int64)
    trained = ((log.pick("flags", leaves) & int(Flag.REQUIRES_GRAD)) != 0) & (weights >= log.first)
    several = np.isin(rows, op_rows(log, RECURRENT))  # their weights stand behind the states
    trained |= several & ((log.pick("flags", rows) & int(Flag.REQUIRES_GRAD)) != 0)
    trained &= ((log.pick("flags", fed) & int(Flag.REQUIRES_GRAD)) == 0) & (fed >= log.first)
    return [group.tolist() for group in same_site(log, rows[trained])]


def uniform(node: Node, slot: int = 0) -> float | None:
    """The number that all elements of a tensor are; None where they differ, or are not known."""
    summary = node.graph.log.summary(node.row, slot)
    if summary is None or not summary.count or not summary.finite or summary.minimum != summary.maximum:
        return None
    return summary.minimum


def ancestors(node: Node, most: int = 200) -> Iterator[Node]:
    """A node and those that it was computed from, the nearest first."""
    waiting, seen = [node], {node.row}
    while waiting and len(seen) <= most:
        at = waiting.pop(0)
        yield at
        for edge in at.inputs:
            if edge.source.row not in seen:
                seen.add(edge.source.row)
                waiting.append(edge.source)


def is_data(node: Node) -> bool:
    """Whether nothing that is trained took part in a node."""
    return not any(each.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD) for each in ancestors(node))


def is_made(node: Node) -> bool:
    """Whether a node is a constant that a program made for one batch."""
    at, several = node, False
    while moves(at) or (at.kind == "op" and at.op in JOINS and at.inputs):
        several = several or (at.op in JOINS and len(at.inputs) > 1)
        smaller = at.inputs[0].source
        if np.prod(smaller.shape) > np.prod(at.shape) > 0:
            return False  # picked out of more: a data set
        at = smaller
    return at.op.rstrip("_") in MADE or (not several and int(np.prod(at.shape)) == 1)
