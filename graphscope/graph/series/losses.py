"""The losses of a training: what its backward passes begin from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import DTYPE_CODES, NODES, Flag, Kind
from graphscope.graph.graph import Graph
from graphscope.graph.reading import once_a_length
from graphscope.graph.scaling import SCALE_UPDATE, SCALED_BY, is_scaled
from graphscope.graph.sizes import counts_of
from graphscope.graph.step_marks import step_ends
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

LOSS: Final = np.dtype([("begin", "<i8"), ("root", "<i8"), ("site", "<i8"), ("step", "<i8"), ("value", "<f8")])
"""A backward pass: where it begins, its root, the line of that, steps that had ended, and what the loss was."""


@once_a_length
def losses(log: Log) -> np.ndarray:
    """Every backward pass that the program began, a LOSS each, in the order of the log; scaled losses as they were."""
    begins, roots = _begun(log, log.marks(Kind.BACKWARD_BEGIN))
    found = np.zeros(len(begins), LOSS)
    found["begin"], found["root"] = begins, roots
    found["step"] = np.searchsorted(step_ends(log), begins)
    found["site"] = log.pick("site", roots)
    found["value"] = _scalars(log, begins, (Kind.BACKWARD_BEGIN,))  # where it may be kept nowhere else
    unknown = np.isnan(found["value"])
    found["value"][unknown] = _scalars(log, _unscaled(log, roots[unknown]), NODES)
    return found


def _unscaled(log: Log, roots: np.ndarray) -> np.ndarray:
    """The rows of the losses themselves, where a GradScaler has scaled some."""
    names = np.array([log.op(number).name for number in range(len(log.table("ops")) + 1)])
    if SCALE_UPDATE not in names:
        return roots
    found, graph = roots.copy(), Graph(log)
    products = np.isin(log.pick("op", roots), np.flatnonzero(names == SCALED_BY)) & (log.pick("kind", roots) == Kind.OP)
    found[products] = [unscaled(graph, row) for row in roots[products].tolist()]
    return found


def roots_between(log: Log, first: int, last: int) -> np.ndarray:
    """The roots of the backward passes that began in the rows from `first` to `last`, without a look at others."""
    return _begun(log, log.marks(Kind.BACKWARD_BEGIN, start=first, stop=last + 1))[1]


def _begun(log: Log, marks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Those of the marks of backward passes that have a root, and the roots."""
    begins = marks[log.pick("input_count", marks) > 0]
    return begins, sources(log, begins)


def _scalars(log: Log, rows: np.ndarray, kinds: Sequence[Kind]) -> np.ndarray:
    """The values of rows of some kinds that hold one number each; NaN where one does not, or is not known."""
    found = np.full(len(rows), np.nan)
    known = np.isin(log.pick("kind", rows), kinds) & (log.pick("several", rows) == 0) & (counts_of(log, rows) == 1)
    inline = (log.pick("flags", rows) & int(Flag.INLINE)) != 0
    dtypes, bits = log.pick("dtype", rows), log.pick("value", rows)
    single = known & inline & (dtypes == DTYPE_CODES["float32"])
    found[single] = bits[single].astype("<u4").view("<f4")
    double = known & inline & (dtypes == DTYPE_CODES["float64"])
    found[double] = bits[double].view("<f8")
    for place in np.flatnonzero(known & ~single & ~double).tolist():
        value = log.value(int(rows[place]))
        if value is not None and value.dtype.kind in "fiu":
            found[place] = float(value.reshape(()))
    return found


def unscaled(graph: Graph, root: int) -> int:
    """The row of a loss itself, where a backward pass began from the product with the scale of a GradScaler."""
    node = graph.node(root)
    if not is_scaled(node) or not node.inputs:
        return root
    return max((edge.source for edge in node.inputs), key=lambda source: bool(source.flags & Flag.REQUIRES_GRAD)).row
