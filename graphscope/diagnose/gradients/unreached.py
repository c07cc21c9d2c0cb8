"""Leaves that are meant to learn, and that no backward pass of a whole run has brought a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.gradients.passes import edges_with_gradients, first_rows
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_UPDATE: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)
_STRETCH: Final = 1 << 20
"""So many rows are looked at together."""


def unreached(graph: Graph) -> Iterator[Node]:
    """Such leaves, each seen where the first pass ends that it took part in the forward pass of.

    A leaf that some pass fills is reached, in whatever way others cut it off; so is one that the program writes by
    itself, as averages of weights are, or gives a gradient. Where optimizers are known, theirs alone are to learn.
    """
    log, stop = graph.log, graph.now + 1
    ends = graph.index.marks(Kind.BACKWARD_END)
    ends = ends[ends < stop]
    if not len(ends):
        return
    reached = set(filled(log, stop))
    if not reached:
        return  # `autograd.grad` alone fills none
    optimized = training(log).optimized
    others = reached | _written(log, int(ends[0]), stop) | assigned(graph)
    used = _used(log, int(ends[-1]), also_off=bool(optimized))
    for tensor, (row, user) in sorted(used.items()):
        if tensor not in others and (tensor in optimized or not optimized):
            yield graph.at(int(ends[np.searchsorted(ends, user)])).node(row)


def filled(log: Log, stop: int) -> dict[int, np.ndarray]:
    """By leaf, as a tensor: the rows of all that was ever added to its gradient."""
    parts = [_added(log, start, min(start + _STRETCH, stop)) for start in range(log.first, stop, _STRETCH)]
    rows, owners = (np.concatenate([np.zeros(0, np.int64), *(part[at] for part in parts)]) for at in range(2))
    order = np.argsort(owners, kind="stable")
    rows, owners = rows[order], owners[order]
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])[: len(owners)])
    return dict(zip(owners[starts].tolist(), np.split(rows, starts[1:]), strict=False))


def _added(log: Log, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a stretch that add to a leaf's gradient, and the leaf of each, as a tensor."""
    came = log.where(lambda rows: (rows["kind"] == Kind.ACCUMULATE) | (rows["kind"] == Kind.GRAD), start, stop)
    firsts = first_rows(log, log.pick("forward", came).astype(np.int64))
    return came[firsts >= 0], log.pick("tensor", firsts[firsts >= 0]).astype(np.int64)


def _written(log: Log, start: int, stop: int) -> set[int]:
    """The tensors that were written where gradients were off, since the first pass."""
    wrote = log.where(lambda rows: (rows["kind"] == Kind.OP) & ((rows["flags"] & _UPDATE) == _UPDATE), start, stop)
    return set(each_once(log.pick("tensor", wrote)).tolist())


def assigned(graph: Graph) -> set[int]:
    """The tensors that the program gave a gradient of its own making, or froze."""
    log, found = graph.log, set()
    rows = graph.index.marks(Kind.ASSIGN)
    entries, given = log.pick("attrs", rows), log.pick("input_count", rows) > 0
    for number in np.unique(entries).tolist():
        facts = log.attrs(number)
        froze = facts.get("set") == "requires_grad" and not facts.get("to")
        if froze or given[entries == number].any():
            found.update(facts.get("tensors", ()))
    return found


def _used(log: Log, stop: int, *, also_off: bool) -> dict[int, tuple[int, int]]:
    """By leaf, as a tensor: a row of it, and the first op that took it in."""
    found: dict[int, tuple[int, int]] = {}
    for users, sources in edges_with_gradients(log, None, stop, also_off=also_off):
        firsts = first_rows(log, sources)
        known = firsts >= 0
        order = np.argsort(users[known], kind="stable")
        rows, first = np.unique(firsts[known][order], return_index=True)
        takers, tensors = users[known][order][first].tolist(), log.pick("tensor", rows).tolist()
        for tensor, row, user in zip(tensors, rows.tolist(), takers, strict=True):
            before = found.get(tensor)
            if before is None or user < before[1]:
                found[tensor] = row, user
    return found
