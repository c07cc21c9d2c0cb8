"""Which exceptions were the end of what ran, and which the program went on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.source.handlers import is_handled_at
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_PUTTING_AWAY: Final = frozenset({"detach", "data", "clone", "cpu", "to", "numpy", "item", "tolist"})
"""What a program does to results that it saves, or prints, as it ends."""


def is_the_end(log: Log, row: int, stop: int) -> bool:
    """Whether a program ended with an exception.

    Who catches one and goes on does so on purpose: to try another way, or to leave a batch out.

    Args:
        log: The log.
        row: The mark of the exception.
        stop: Of rows from this one on, nothing is known.
    """
    site = log.site(log.event(row).site)
    return not _has_gone_on(log, row + 1, stop) and not (site is not None and is_handled_at(log, site))


def _has_gone_on(log: Log, start: int, stop: int) -> bool:
    """Whether something was computed, beside putting away what there was."""
    ran = log.column("kind", start, stop) == Kind.OP
    ops = np.unique(log.column("op", start, stop)[ran]).tolist()
    return any(log.op(number).name not in _PUTTING_AWAY for number in ops)
