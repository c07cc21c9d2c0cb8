"""What nodes are for: the program's own computation, the making of parameters, or their update by an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import Steps, steps

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

__all__ = ["MAKING", "PROGRAM", "UPDATE", "roles"]

PROGRAM, MAKING, UPDATE = range(3)
_TRAINED: Final = Flag.PARAMETER | Flag.REQUIRES_GRAD


def roles(log: Log, rows: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The role of the node of each row.

    Args:
        log: The log.
        rows: The rows of the nodes.
        sources: Where edges begin, by places of nodes.
        targets: Where these end.
    """
    found = np.full(len(rows), PROGRAM)
    if not len(rows):
        return found
    start, stop = int(rows.min()), int(rows.max()) + 1
    kinds, flags, sites = log.pick("kind", rows), log.pick("flags", rows), log.pick("site", rows)
    tensors = log.pick("tensor", rows).astype(np.int64)
    is_op = (kinds == Kind.OP) & (log.pick("graph_pass", rows) == Pass.FORWARD)
    of_leaf = (log.pick("kind", tensors) == Kind.LEAF) & ((log.pick("flags", tensors) & int(_TRAINED)) != 0)
    makes = origins(log).makes
    found[makes[np.minimum(sites, len(makes) - 1)]] = MAKING
    found[is_op & of_leaf & ((flags & int(Flag.IN_PLACE)) != 0)] = MAKING  # in a step, it is an update
    told = steps(log)
    found[is_op & (optimized(log, told, start, stop)[0] > 0)[rows - start]] = UPDATE
    found[is_op & _prepares_update(told, rows, rows[found == UPDATE])] = UPDATE
    is_leaf = kinds == Kind.LEAF
    found[is_leaf] = MAKING
    for role in (UPDATE, PROGRAM):  # a leaf is for the first of these that takes it, counted from the program
        found[np.intersect1d(sources[found[targets] == role], np.flatnonzero(is_leaf))] = role
    return found


def _prepares_update(told: Steps, rows: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """Which rows lie between the last backward pass of a step and its update, as what clips gradients."""
    if not len(updates) or not len(told.ends):
        return np.zeros(len(rows), bool)
    ended = np.searchsorted(told.ends, rows) - 1
    following = np.searchsorted(updates := np.sort(updates), rows)
    update = np.append(updates, np.iinfo(np.int64).max)[following]
    begin = np.append(told.begins, np.iinfo(np.int64).max - 1)[np.searchsorted(told.begins, rows)]
    places = told.places(rows)
    is_same_step = (places >= 0) & (places == told.places(told.ends)[np.maximum(ended, 0)])
    return np.asarray((ended >= 0) & (update < begin) & is_same_step)
