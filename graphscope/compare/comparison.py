"""The order of the work: two logs in, where they part out."""

from __future__ import annotations

import os
from typing import Final

import numpy as np

from graphscope.compare.difference import PAIR, PARTED, SAME, Difference, Distance, Parting
from graphscope.compare.remarks import compared, remarks
from graphscope.compare.sides import side
from graphscope.eventlog.reader import Log, load
from graphscope.graph import Graph

_CLOSE: Final = 1e-6


def diff(a: Log | str | os.PathLike[str], b: Log | str | os.PathLike[str]) -> Difference:
    """Where two recorded runs part first, with the line on both sides.

    Args:
        a: A log, or the path of one.
        b: Another.

    Raises:
        LogError: One can't be read.
    """
    logs = [each if isinstance(each, Log) else load(each) for each in (a, b)]
    one, other = (Graph(log).nodes for log in logs)
    pairs = np.zeros(min(len(one), len(other)), PAIR)
    parting = None
    for place in range(len(pairs)):
        here, there = one[place], other[place]
        apart = _distance(here.value, there.value)
        parts = here.op != there.op or (apart is not None and apart.relative > _CLOSE)
        pairs[place] = (here.row, there.row, PARTED if parts else SAME)
        if parts and parting is None:
            verdict = f"{here.op} makes something else"
            parting = Parting(here.graph_pass, 1, side(here), side(there), "op", verdict, True, (), apart)
    return Difference(
        logs[0],
        logs[1],
        "same" if parting is None else "parted",
        (parting,) if parting else (),
        pairs,
        compared=compared(*logs),
        remarks=tuple(remarks(*logs)),
    )


def _distance(a: np.ndarray | None, b: np.ndarray | None) -> Distance | None:
    if a is None or b is None or a.shape != b.shape or not a.size or a.dtype.kind not in "fiub":
        return None
    one, two = a.astype(np.float64), b.astype(np.float64)
    apart = np.abs(one - two)
    index = tuple(int(each) for each in np.unravel_index(int(apart.argmax()), apart.shape))
    largest = float(apart[index])
    scale = max(float(np.abs(one).max()), np.finfo(np.float64).tiny)
    values = (float(one[index]), float(two[index]))
    return Distance(a.size, int(np.count_nonzero(one != two)), largest, largest / scale, np.inf, index, values)
