"""What nodes are for: the program's own computation, the making of parameters, or their update by an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import steps

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
    found[is_op & (optimized(log, steps(log), start, stop)[0] > 0)[rows - start]] = UPDATE
    is_used = np.zeros(len(rows), bool)
    is_used[sources[found[targets] != MAKING]] = True
    is_leaf = kinds == Kind.LEAF
    found[is_leaf & ~is_used] = MAKING
    found[is_leaf & is_used] = PROGRAM
    return found
