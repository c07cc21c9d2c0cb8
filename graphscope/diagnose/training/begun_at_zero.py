"""Gradients that were 0 when more was added to them, though no row tells who cleared them.

A program may write to their memory in ways that no log sees, as through NumPy. What a step was made with is then as
large as what was added since the step before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.samples import MOST
from graphscope.eventlog.schema import Kind
from graphscope.graph.sizes import counts_of, norms_of, norms_of_sums
from graphscope.graph.words import numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_SUM: Final = "accumulate_grad"
"""The op of a row that tells what a gradient is where more was added to it."""
_CLOSE: Final = 1e-5
"""Norms of the same numbers, added up in another order, differ by no larger share."""


def began_at_zero(log: Log, tensor: int, parts: np.ndarray, end: int) -> bool | None:
    """Whether the gradient of a parameter was 0 ahead of some parts; None where the log does not tell.

    Args:
        log: The log.
        tensor: The parameter.
        parts: The rows that were added to its gradient.
        end: The row of the step that was made with it.
    """
    used = _used(log, tensor, int(parts[-1]), end)
    (added,) = norms_of_sums(log, parts, np.zeros(len(parts), np.int64)).tolist()
    if not used or math.isnan(used) or math.isnan(added):
        return None
    return math.isclose(used, added, rel_tol=_CLOSE)


def _used(log: Log, tensor: int, last: int, end: int) -> float:
    """The norm of what the last part was added to: told where the program met it, or measured by the step; else NaN."""
    known = parameter_rows(log).grown.of([tensor]).rows  # the first part of a gradient is what the log knows it by
    again = log.where(lambda each: (each["kind"] == Kind.LEAF) | (each["kind"] == Kind.OP), last + 1, end)
    again = again[np.isin(log.pick("tensor", again), known)][:1]
    if len(again) and (log.event(int(again[0])).kind == Kind.LEAF or _op(log, int(again[0])) == _SUM):
        return float(norms_of(log, again)[0])
    rows = parameter_rows(log).written.of([tensor]).rows
    rows = rows[(rows > last) & (rows < end)]
    for row in rows[counts_of(log, rows) <= MOST].tolist():  # of a larger one a sample was measured
        number = told(log.entry(log.event(row).attrs), "measured").get("gradient")
        if number is not None:
            return float(numbers(log, np.array([row]), number)[0])
    return math.nan


def _op(log: Log, row: int) -> str:
    return log.op(log.event(row).op).name
