"""What ops write into what they are given, beside what they return: running statistics, of which no log tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.calls import default, told
from graphscope.diagnose.values.op_rows import op_rows
from graphscope.graph import Graph
from graphscope.graph.alike import extent

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

UPDATING: Final[Mapping[str, tuple[str, str, str]]] = {
    "batch_norm": ("training", "running_mean", "momentum"),
    "instance_norm": ("use_input_stats", "running_mean", "momentum"),
}
"""Ops that do so: the arguments that say when, into what, and how much of it."""


def leave_another_state(a: Node, b: Node) -> bool:
    """Whether two calls of one op, though they may make the same, write something else into what they are given."""
    kept = _taken_over(a), _taken_over(b)
    return "" not in kept and kept[0] != kept[1]


def first_other_state(a: Log, b: Log) -> int | None:
    """The first row where calls of two logs of one structure do so; None where there is none."""
    first, stop = extent(a, b)
    rows = op_rows(a, frozenset(UPDATING))
    rows = rows[(rows >= first) & (rows < stop)]
    if not len(rows):
        return None
    rows = rows[a.pick("op", rows) == b.pick("op", rows)]
    calls = np.stack([log.pick("attrs", rows) for log in (a, b)], 1)
    distinct = np.sort(np.unique(calls, axis=0, return_index=True)[1])
    graphs = Graph(a), Graph(b)
    pairs = ((row, *(graph.node(row) for graph in graphs)) for row in rows[distinct].tolist())
    return next((row for row, one, other in pairs if one.op == other.op and leave_another_state(one, other)), None)


def _taken_over(node: Node) -> str:
    """How much of a batch is taken over into the statistics; nothing where there are none, or not in training."""
    when, what, much = UPDATING[node.op]
    given = told(node)
    if given.get(what) != "·" or given.get(when, default(node.op, when)) != "True":
        return ""
    return given.get(much, default(node.op, much))
