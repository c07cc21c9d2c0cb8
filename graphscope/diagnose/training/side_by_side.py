"""Threads of one program that train side by side, each with optimizers of its own: their steps lie mixed in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


_MOST: Final = 2000
"""So many steps are looked at."""


def side_by_side(log: Log) -> tuple[str, ...]:
    """The names of such threads, in the order in which they began; none where steps follow each other."""
    known = training(log)
    rows = known.rows("step")[:_MOST]
    threads = log.pick("thread", rows)
    numbers, firsts = np.unique(threads, return_index=True)
    if len(numbers) < 2:
        return ()
    owners = known.owners(rows)
    found = [number for number in numbers[np.argsort(firsts)].tolist() if _has_company(threads == number, owners)]
    names = log.table("threads")
    return tuple(str(names[number - 1].get("name") or f"thread {number}") for number in found)


def _has_company(own: np.ndarray, owners: np.ndarray) -> bool:
    """Whether others step optimizers that are not those of a thread, between its first step and its last."""
    places = np.flatnonzero(own)
    others = owners[places[0] : places[-1]][~own[places[0] : places[-1]]]
    return len(others) > 0 and not np.isin(others, owners[own]).any()
