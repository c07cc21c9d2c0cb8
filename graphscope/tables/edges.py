"""The table of edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import INLINE_INPUTS, NODES, ROW_MASK, SLOT_SHIFT, Flag
from graphscope.tables.batches import Batch, steps_of, stretches

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def batches(log: Log) -> Iterator[Batch]:
    """The inputs of the nodes of a log."""
    for first, events in stretches(log):
        places = np.flatnonzero(np.isin(events["kind"], NODES))
        nodes = events[places]
        inside, beside = _inside(nodes), _beside(log, first, nodes)
        which, argument, source, slot = (np.concatenate(pair) for pair in zip(inside, beside, strict=True))
        order = np.argsort(which, kind="stable") if len(beside[0]) else slice(None)
        target = first + places[which[order]]
        yield {
            "step": steps_of(log, target),
            "target": target,
            "argument": argument[order],
            "source": source[order],
            "slot": slot[order],
        }


def _inside(nodes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of the inputs that lie in the rows: which node takes it, as which argument, from where, and which slot."""
    counts = np.where((nodes["flags"] & int(Flag.EDGES)) != 0, 0, np.minimum(nodes["input_count"], INLINE_INPUTS))
    which, argument = np.nonzero(np.arange(INLINE_INPUTS) < counts[:, None])
    pairs = nodes["inputs"][which, argument]
    return which, argument, (pairs & np.uint64(ROW_MASK)).astype(np.int64), (pairs >> np.uint64(SLOT_SHIFT)).astype(int)


def _beside(log: Log, first: int, nodes: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same of those that lie together in `edges.npy`, as far as they are there."""
    listing = np.flatnonzero((nodes["flags"] & int(Flag.EDGES)) != 0)
    table = log.edges(first) if len(listing) else np.zeros(0, [("node", "u8"), ("slot", "u4")])
    starts, counts = (nodes["inputs"][listing, place].astype(np.int64) for place in (0, 1))
    there = (starts >= 0) & (counts >= 0) & (starts <= len(table)) & (counts <= len(table) - starts)
    listing, starts, counts = listing[there], starts[there], counts[there]
    which = np.repeat(listing, counts)
    argument = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    taken = table[np.repeat(starts, counts) + argument]
    return which, argument, taken["node"].astype(np.int64), taken["slot"].astype(int)
