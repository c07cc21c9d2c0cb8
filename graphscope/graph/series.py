"""The series of a training: the loss of each backward pass, and what each update of a parameter did."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import DTYPE_CODES, NODES, ROW_MASK, Flag, Kind, Pass
from graphscope.graph.reading import once_a_length
from graphscope.graph.scaling import is_scaled
from graphscope.graph.sizes import counts_of, norm_of, norms_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph

UPDATE: Final = np.dtype(
    [
        ("row", "<i8"),  # the row that made the new value
        ("before", "<i8"),  # the row that held the value before
        ("tensor", "<i8"),  # the parameter
        ("pulled", "<i8"),  # the row of its gradient: the last part of it
        ("step", "<i8"),  # so many training steps had ended
        ("count", "<i8"),  # elements of the parameter
        ("rate", "<f8"),  # learning rate
        ("gradient", "<f8"),  # norm of the gradient that it was made with
        ("weight", "<f8"),  # norm of the parameter before
        ("update", "<f8"),  # norm of what was added to it
        ("moved", "<f8"),  # share of the elements with a gradient that changed; 0: not one bit did
    ]
)
"""What one update did to one parameter; NaN stands for what the log does not say."""

LOSS: Final = np.dtype([("begin", "<i8"), ("root", "<i8"), ("site", "<i8"), ("step", "<i8"), ("value", "<f8")])
"""A backward pass: where it begins, its root, the line of that, steps that had ended, and what the loss was."""

_MOST: Final = 1 << 11
_MOST_BYTES: Final = 1 << 26
"""Values of so many updates, and of so many bytes in all, are compared; of a longer log at steps spread over it."""

_RATES: Final = ("lr", "alpha", "step")
"""Attributes of rows that tell the learning rate, or its negative."""

_WRITTEN: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)


@once_a_length
def updates(log: Log) -> np.ndarray:
    """Every update of every parameter, an UPDATE each, in the order of the log."""
    return _updates(log, _marks(log, Kind.STEP))


@once_a_length
def losses(log: Log) -> np.ndarray:
    """Every backward pass that the program began, a LOSS each, in the order of the log."""
    return _losses(log, _marks(log, Kind.STEP))


def _marks(log: Log, kind: Kind) -> np.ndarray:
    rows = log.rare()
    return rows[np.flatnonzero(log.pick("kind", rows) == kind)]


# Losses ---------------------------------------------------------------------------------------------------------------


def _losses(log: Log, steps: np.ndarray) -> np.ndarray:
    begins = _marks(log, Kind.BACKWARD_BEGIN)
    begins = begins[log.pick("input_count", begins) > 0]
    found = np.zeros(len(begins), LOSS)
    roots = (log.pick("inputs", begins)[:, 0] & np.uint64(ROW_MASK)).astype(np.int64)
    found["begin"], found["root"], found["step"] = begins, roots, np.searchsorted(steps, begins)
    found["site"] = log.pick("site", roots)
    found["value"] = _scalars(log, roots)
    return found


def _scalars(log: Log, rows: np.ndarray) -> np.ndarray:
    """The values of rows that hold one number each; NaN where one does not, or is not known."""
    found = np.full(len(rows), np.nan)
    known = np.isin(log.pick("kind", rows), NODES) & (log.pick("several", rows) == 0) & (counts_of(log, rows) == 1)
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


# Updates --------------------------------------------------------------------------------------------------------------


class _Gradients(NamedTuple):
    """What happened to the gradients of leaves: contributions and writes, sorted by leaf and row."""

    keys: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    """Where among them the sum begins that each ends."""
    size: int

    def spans(self, tensors: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last place of what summed up to the gradient of each leaf at a row; -1 where there was none."""
        last = np.searchsorted(self.keys, tensors * self.size + rows, side="right") - 1
        known = last >= 0
        known[known] = self.keys[last[known]] // self.size == tensors[known]
        first = np.full(len(last), -1)
        first[known] = self.starts[last[known]]
        return first, np.where(known, last, -1)


def _updates(log: Log, steps: np.ndarray) -> np.ndarray:
    trained, written = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for first, rows in log.chunks():
        flags = rows["flags"]
        leaves = (rows["kind"] == Kind.LEAF) & ((flags & int(Flag.REQUIRES_GRAD)) != 0)
        trained.append(np.unique(rows["tensor"][leaves]))
        writes = (rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD) & ((flags & _WRITTEN) == _WRITTEN)
        written.append(first + np.flatnonzero(writes))
    rows = np.concatenate(written)
    tensors = log.pick("tensor", rows).astype(np.int64)
    ours = np.isin(tensors, np.unique(np.concatenate(trained)).astype(np.int64))
    history = _history(log, rows[~ours])
    rows, tensors = rows[ours], tensors[ours]
    named, firsts = _named(log, rows)
    kept = _one_a_step(log, rows, np.searchsorted(steps, rows), tensors, len(steps))
    found = np.zeros(len(kept), UPDATE)
    ends = np.array([group[-1] for group in kept], np.int64)
    found["row"], found["tensor"], found["step"] = rows[ends], tensors[ends], np.searchsorted(steps, rows[ends])
    found["before"] = firsts[[group[0] for group in kept]] if kept else 0
    start, end = history.spans(found["tensor"], found["row"])
    fed = end >= 0
    found, start, end = np.asarray(found[fed]), start[fed], end[fed]
    found["pulled"] = history.rows[end]
    others = _others(log, found["row"], named[ends][fed], found["pulled"])
    found["pulled"] = np.where(others >= 0, others, found["pulled"])
    single = (start == end) | (others >= 0)
    sums = {place: history.rows[start[place] : end[place] + 1] for place in np.flatnonzero(~single).tolist()}
    found["count"] = counts_of(log, found["row"])
    found["rate"] = _rates(log, found["row"])
    for name in ("gradient", "weight", "update", "moved"):
        found[name] = np.nan
    _measure(log, found, sums)
    return found


def _history(log: Log, written: np.ndarray) -> _Gradients:
    added = [np.zeros(0, np.int64)]
    for first, rows in log.chunks():
        added.append(first + np.flatnonzero(rows["kind"] == Kind.ACCUMULATE))
    rows = np.concatenate(added)
    tensors = log.pick("tensor", log.pick("forward", rows).astype(np.int64)).astype(np.int64)
    fresh = (log.pick("flags", rows) & int(Flag.FRESH)) != 0
    whose = log.pick("tensor", written).astype(np.int64)
    place = np.minimum(np.searchsorted(rows, whose), max(len(rows) - 1, 0))
    known = rows[place] == whose if len(rows) else np.zeros(len(whose), bool)
    tensors = np.concatenate([tensors, tensors[place[known]]])
    fresh = np.concatenate([fresh, np.ones(int(known.sum()), bool)])
    rows = np.concatenate([rows, written[known]])
    order = np.lexsort((rows, tensors))
    rows, tensors, fresh = rows[order], tensors[order], fresh[order]
    begins = fresh | np.r_[True, tensors[1:] != tensors[:-1]][: len(rows)]
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
    return _Gradients(tensors * log.end + rows, rows, starts, log.end)


def _named(log: Log, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The second input of each write, -1 where there is none, and the first: the value that was written over."""
    inputs = (log.pick("inputs", rows) & np.uint64(ROW_MASK)).astype(np.int64).reshape(-1, 3)
    counts = log.pick("input_count", rows)
    firsts, seconds = inputs[:, 0].copy(), np.where(counts > 1, inputs[:, 1], -1)
    for place in np.flatnonzero((log.pick("flags", rows) & int(Flag.EDGES)) != 0).tolist():
        sources = [source for source, _ in log.inputs(int(rows[place]))]
        firsts[place], seconds[place] = (*sources, -1, -1)[:2]
    return seconds, firsts


def _one_a_step(log: Log, rows: np.ndarray, steps: np.ndarray, tensors: np.ndarray, ended: int) -> list[list[int]]:
    """Which writes are one update: the row of an optimizer's step, else all writes of a step together.

    What the program writes into a parameter that an optimizer updates is no update, and neither is what it writes
    behind the last step.
    """
    told = _told(log, log.pick("attrs", rows))
    optimized = np.isin(tensors, tensors[told])
    groups: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(~optimized & ((steps < ended) | (ended == 0))).tolist():
        groups.setdefault((int(steps[place]), int(tensors[place])), []).append(place)
    return sorted(
        [*groups.values(), *([place] for place in np.flatnonzero(told).tolist())], key=lambda group: group[-1]
    )


def _others(log: Log, rows: np.ndarray, named: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The gradients that updates name, where the program put others in the place of what was added up; else -1."""
    other = (named >= log.first) & (named != known)
    places = np.flatnonzero(other)
    kinds = log.pick("kind", named[places])
    same = log.pick("shape", named[places]) == log.pick("shape", rows[places])
    told = _told(log, log.pick("attrs", rows[places]))
    found = np.full(len(rows), -1)
    chosen = places[np.isin(kinds, (int(Kind.OP), int(Kind.LEAF))) & same & told]
    found[chosen] = named[chosen]
    return found


def _told(log: Log, entries: np.ndarray) -> np.ndarray:
    """Which rows tell the settings of an optimizer, by their entries of `attrs`."""
    numbers, which = np.unique(entries, return_inverse=True)
    told = ["lr" in log.entry(number).get("attributes", ()) for number in numbers.tolist()]
    return np.array(told, bool)[which]


def _rates(log: Log, rows: np.ndarray) -> np.ndarray:
    """The learning rate of each row of an update; NaN where it is not told as a number."""
    found = np.full(len(rows), np.nan)
    numbers = log.pick("attrs", rows)
    for number in np.unique(numbers).tolist():
        attributes = log.entry(number).get("attributes", {})
        name = next((name for name in _RATES if name in attributes), "")
        which = np.flatnonzero(numbers == number)
        if isinstance(attributes.get(name), int | float):
            found[which] = abs(attributes[name])
        elif name:
            for place in which.tolist():
                rate = log.arguments(int(rows[place])).attributes.get(name)
                found[place] = abs(rate) if isinstance(rate, int | float) else math.nan
    return found


def _measure(log: Log, found: np.ndarray, sums: dict[int, np.ndarray]) -> None:
    """Fill in the norms, and what moved: from statistics for all, from values as far as they are compared.

    Args:
        log: The log.
        found: The updates.
        sums: By update, the rows whose sum the gradient was, where there are several.
    """
    chosen = _chosen(found)
    places = np.flatnonzero(chosen | _is_summarised(log, found["before"]))
    found["weight"][places] = norms_of(log, found["before"][places])
    single = places[~np.isin(places, np.array(list(sums), np.int64))]
    found["gradient"][single] = norms_of(log, found["pulled"][single])
    for place in np.flatnonzero(chosen).tolist():
        _compare(log, found[place : place + 1], sums.get(place))


def _is_summarised(log: Log, rows: np.ndarray) -> np.ndarray:
    return np.asarray((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0)


def _chosen(found: np.ndarray) -> np.ndarray:
    """The updates whose values are compared: all, or those of some steps that are spread over the log."""
    total = int(found["count"].sum()) * 8
    share = min(_MOST / max(len(found), 1), _MOST_BYTES / max(total, 1))
    steps: np.ndarray = np.unique(found["step"])
    if share >= 1 or len(steps) == 0:
        return np.ones(len(found), bool)
    taken = steps[np.unique(np.linspace(0, len(steps) - 1, max(int(share * len(steps)), 2)).astype(np.int64))]
    return np.asarray(np.isin(found["step"], taken))


def _compare(log: Log, one: np.ndarray, parts: np.ndarray | None) -> None:
    """Fill in of one update what takes values: those of the parameter before and after, and of its gradient."""
    before, after = log.value(int(one["before"][0])), log.value(int(one["row"][0]))
    known = before is not None and after is not None and before.shape == after.shape and before.dtype == after.dtype
    rows = one["pulled"] if parts is None else parts
    gradient = _sum(log, rows.tolist()) if known or parts is not None else None
    if parts is not None:  # of parts that were summarised the sum is not known: it is no larger than this
        one["gradient"] = norm_of(gradient) if gradient is not None else norms_of(log, parts).sum()
    if not known or before is None or after is None:
        if log.summary(int(one["before"][0])) == log.summary(int(one["row"][0])) and one["weight"][0] > 0:
            one["update"] = one["moved"] = (
                0.0  # seven statistics of all its elements are what they were, to the last bit
            )
        return
    with np.errstate(all="ignore"):
        one["update"] = norm_of(np.subtract(after, before, dtype=None if before.dtype.kind == "c" else np.float64))
    changed = (after != before) & ~((after != after) & (before != before))
    pulled = gradient != 0 if gradient is not None and gradient.shape == before.shape else np.ones(before.shape, bool)
    one["moved"] = float(changed[pulled].mean()) if pulled.any() else (math.nan if not changed.any() else 1.0)


def _sum(log: Log, rows: list[int]) -> np.ndarray | None:
    """The sum of the values of some rows; None where one is not known."""
    total: np.ndarray | None = None
    for value in map(log.value, rows):
        if value is None or (total is not None and value.shape != total.shape):
            return None
        with np.errstate(all="ignore"):
            total = value if total is None else np.asarray(total + value)
    return total
