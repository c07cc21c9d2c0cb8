"""Activations over the steps of a training: the calls of each place of a network, and what their outputs tell."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.values.op_rows import op_rows
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

LEAST_STEPS: Final = 3
"""So many steps must show the same."""

RELUS: Final = frozenset({"relu", "relu6"})

_MOST_PLACES: Final = 1024

_OF_CHANNELS: Final = ("conv", "batch_norm", "instance_norm", "group_norm", "max_pool", "avg_pool", "adaptive")
"""How the names of ops begin whose units lie along axis 1."""


def calls(log: Log, names: Collection[str], stop: int) -> list[np.ndarray]:
    """The rows where ops of these names ran in training, ascending, for each place of the network its own.

    A place is a line in a module, and which of the calls of one step it is there. Of a run without several backward
    passes there are none.
    """
    ends = log.marks(Kind.BACKWARD_END)
    ends = ends[ends < stop]
    if len(ends) < LEAST_STEPS:
        return []
    rows = op_rows(log, names)
    if not len(rows):
        return []
    ran = log.pick("forward", log.where(lambda each: each["kind"] == Kind.GRAD, stop=stop)).astype(np.int64)
    rows = rows[np.isin(rows, ran)]  # whose rules have run
    if not len(rows):
        return []
    places = grouped([log.pick(field, rows) for field in ("op", "site", "scope")]).which
    passes = np.searchsorted(ends, rows)
    order = np.lexsort((rows, passes, places))
    same = (np.diff(places[order]) == 0) & (np.diff(passes[order]) == 0)
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    ordinal = np.arange(len(rows)) - np.repeat(starts, np.diff([*starts, len(rows)]))
    groups: dict[tuple[int, int], list[int]] = {}
    for row, place, number in zip(rows[order].tolist(), places[order].tolist(), ordinal.tolist(), strict=True):
        groups.setdefault((place, number), []).append(row)
    found = [np.array(group) for group in groups.values() if len(group) >= LEAST_STEPS]
    return found[:_MOST_PLACES]


def spread(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, evenly spread, the first and the last among them."""
    chosen: np.ndarray = rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))]
    return chosen


def share_of_zeros(log: Log, row: int) -> float | None:
    """How much of an output is zero, from 0 to 1; None where that is not known."""
    found = log.summary(row)
    return found.zero / found.count if found is not None and found.count and found.finite else None


def active_units(log: Log, row: int) -> np.ndarray | None:
    """Which units of a layer answer to some input, by what came out of it; None where that is not known."""
    value = log.value(row)
    if value is None:
        shape = log.event(row).shape
        dead = share_of_zeros(log, row) == 1
        return np.zeros(shape[unit_axis(log, row)], bool) if dead and len(shape) > 1 else None
    if value.ndim < 2:
        return None
    axis = unit_axis(log, row) % value.ndim
    others = tuple(each for each in range(value.ndim) if each != axis)
    return np.asarray((value != 0).any(axis=others))


def unit_axis(log: Log, row: int) -> int:
    """Along which axis of an output the units of the layer lie: 1 of a convolution, else the last."""
    inputs = log.inputs(row)
    shape = log.event(row).shape
    made_by = log.op(log.event(inputs[0][0]).op).name if inputs and log.first <= inputs[0][0] < row else ""
    of_channels = len(shape) >= 4 or (len(shape) == 3 and made_by.startswith(_OF_CHANNELS))
    return 1 if of_channels else -1


def count_of_inputs(log: Log, row: int) -> int:
    """How many inputs a layer was given in one call, as far as its output shows."""
    shape = log.event(row).shape
    return shape[0] if len(shape) > 1 else 1


_LEARNING: Final = frozenset(
    {"linear", "matmul", "mm", "bmm", "baddbmm", "addmm", "einsum", "conv1d", "conv2d", "conv3d", "mul", "cat", "stack"}
)
_MOVING: Final = frozenset({"view", "reshape", "flatten", "permute", "transpose", "dropout"})
_MOST_BEHIND: Final = 20


def is_inside(node: Node) -> bool:
    """Whether a network goes on behind an activation: what it gives is no answer, and no part of a loss."""
    waiting, seen = [node], 0
    while waiting and seen < _MOST_BEHIND:
        each = waiting.pop()
        seen += 1
        for edge in each.users:
            user = edge.target
            if user.kind == "op" and user.graph_pass == "forward":
                if user.op.rstrip("_") in _LEARNING:
                    return True
                if user.shape == each.shape or user.op in _MOVING or "pool" in user.op:
                    waiting.append(user)
    return False
