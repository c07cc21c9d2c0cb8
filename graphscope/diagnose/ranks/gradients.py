"""What one rank does to gradients, between the last collective and an update, that another does not."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphscope.diagnose.ranks.track import Place
from graphscope.eventlog.names import place_of
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.graph.arrivals import arrivals


class Deed(NamedTuple):
    """An op that one of two ranks runs and the other does not."""

    row: int
    op: str
    place: Place
    is_own: bool
    """Whether it is the first of the two that runs it."""


def unlike(own: tuple[Path, int], other: tuple[Path, int]) -> Deed | None:
    """The first op behind the last collective by which the ways of two ranks to an update differ.

    Args:
        own: A log, and the row of the update in it.
        other: The same of another rank.
    """
    here, there = _ops(*own), _ops(*other)
    signs = [[each[1:] for each in ops] for ops in (here, there)]
    same = next((place for place, (one, two) in enumerate(zip(*signs, strict=False)) if one != two), None)
    place = min(len(here), len(there)) if same is None else same
    if place == len(here) == len(there):
        return None
    is_own = len(here) >= len(there)
    row, op, line = (here if is_own else there)[place]
    return Deed(row, op, line, is_own)


def _ops(path: Path, update: int) -> list[tuple[int, str, Place]]:
    """Row, name and line of each op from the last collective to an update."""
    log = load(path)
    _, came = arrivals(log)
    ahead = came["row"][came["row"] < update]
    if not len(ahead):
        return []
    rows = np.arange(int(ahead[-1]), update)
    rows = rows[log.pick("kind", rows) == Kind.OP]
    ops, sites = log.pick("op", rows).tolist(), log.pick("site", rows).tolist()
    return [
        (row, log.op(op).name, place_of(log.site(site)))
        for row, op, site in zip(rows.tolist(), ops, sites, strict=True)
    ]
