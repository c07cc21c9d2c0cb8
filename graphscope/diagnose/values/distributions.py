"""Losses that apply softmax and are given distributions, as values tell, whatever the program made them with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.training.batches import same_site
from graphscope.diagnose.values.activations import LEAST_STEPS, spread
from graphscope.diagnose.values.origins import axis, operand
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_LOOKED_AT: Final = 64
"""So many calls of a line are looked at, and all whose values are known must be given distributions."""

_ROUNDING: Final = {"float64": 2.0**-20, "float32": 2.0**-20, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""How far from 1 rounding may take the sum of a distribution, by dtype; doubles may have been cast to that."""


def rows_given_distributions(log: Log, rows: np.ndarray) -> Iterator[int]:
    """Of each line whose losses are all given distributions, over several steps, the row by which that is known.

    Args:
        log: The log.
        rows: The rows of losses that apply softmax, ascending.
    """
    for group in same_site(log, rows):
        looked_at: np.ndarray = np.unique([*group[:LEAST_STEPS], *spread(group, _LOOKED_AT)])
        known = []
        for row in looked_at.tolist():
            loss = log.graph.node(row)
            if not _is_known(loss):
                continue
            if not is_given_distributions(loss):
                break  # most are scores, and one of them tells
            known.append(row)
        else:
            yield from known[LEAST_STEPS - 1 : LEAST_STEPS]


def _is_known(loss: Node) -> bool:
    """Whether the log still has the values, or statistics, of what a loss takes for scores."""
    given = operand(loss, "input", 0)
    return given is not None and given.graph.log.summary(given.row, 0) is not None


def is_given_distributions(loss: Node) -> bool:
    """Whether what a loss takes for scores is trained, is nowhere negative and adds up to 1 over the classes.

    One class for sure in each row is no answer of a network.
    """
    given = operand(loss, "input", 0)
    rounding = None if given is None else _ROUNDING.get(given.dtype)
    if given is None or rounding is None or not given.flags & Flag.REQUIRES_GRAD:
        return False
    over, summary = class_axis(loss, given), given.graph.log.summary(given.row, 0)
    if over is None or given.shape[over] < 2 or summary is None or not summary.count or not summary.finite:
        return False
    size = given.shape[over]
    if summary.minimum < 0 or summary.maximum > 1 + rounding or abs(summary.mean * size - 1) > rounding:
        return False
    if summary.count - summary.zero <= summary.count // size:
        return False
    value = given.value
    return value is None or bool((np.abs(value.sum(over, dtype=np.float64) - 1) <= rounding).all())


def class_axis(loss: Node, given: Node) -> int | None:
    """The axis over which a loss applies softmax to what it is given; None where that is not known."""
    if not given.shape:
        return None
    return axis(loss) if loss.op == "log_softmax" else min(1, len(given.shape) - 1)
