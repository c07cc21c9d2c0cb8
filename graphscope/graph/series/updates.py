"""The updates of parameters: which rows make them, and what each did to its parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.narrow_numbers import row_type
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.reading import once_a_length
from graphscope.graph.series.accumulated import accumulated
from graphscope.graph.series.measures import measure, measure_norms
from graphscope.graph.series.rates import rates_of, tells_settings
from graphscope.graph.sizes import counts_of
from graphscope.graph.step_marks import optimizer_steps
from graphscope.graph.words import first_sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_ROWS: Final = (
    "row",  # the row that made the new value
    "before",  # the row that held the value before
    "tensor",  # the parameter
    "pulled",  # the row of its gradient: the last part of it
    "step",  # so many training steps had ended, or backward passes begun where the log has no steps
)
_MEASURES: Final = (
    "rate",  # learning rate
    "gradient",  # norm of the gradient that it was made with
    "weight",  # norm of the parameter before
    "update",  # norm of what was added to it
    "moved",  # share of the elements with a gradient that changed; 0: of those looked at, not one bit
)

_WRITTEN: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)
_THROUGH_DATA: Final = ("set", "copy_slices")
_STRETCH: Final = 1 << 17
"""Of so many updates at once it is read what their rows tell: of a long log there are millions."""


def update_type(end: int) -> np.dtype:
    """What one update did to one parameter, in a log of rows below `end`; NaN stands for what the log does not say.

    `count` is how many elements the parameter has.
    """
    whole = row_type(end)
    return np.dtype([*((name, whole) for name in _ROWS), ("count", "<i8"), *((name, "<f8") for name in _MEASURES)])


class _Fed(NamedTuple):
    """Updates of which no norms are told yet, and the rows that added up to the gradients that they were made with."""

    found: np.ndarray
    parts: np.ndarray
    """How many rows each gradient has."""
    parts_of: Callable[[int], np.ndarray]


@once_a_length
def updates(log: Log) -> np.ndarray:
    """Every update of every parameter, as `update_type` says, in the order of the log."""
    found, parts, parts_of = _found(log)
    measure(log, found, parts, parts_of)
    return _trained(log, found)


@once_a_length
def norms(log: Log) -> np.ndarray:
    """The same, quickly: norms of all parameters and gradients that the log has, and not what the updates changed."""
    found, parts, _ = _found(log)
    measure_norms(log, found, parts)
    return _trained(log, found)


def _found(log: Log) -> _Fed:
    steps, ended = _steps(log)
    rows, others = _writes(log)
    history = accumulated(log, others)
    named = first_sources(log, rows, (0, 1))
    made = _one_a_step(log, rows, np.searchsorted(steps, rows), ended)
    written = rows[made.last]
    tensors = log.pick("tensor", written).astype(np.int64)
    start, end = history.spans(tensors, written)
    fed = end >= 0
    start, end = start[fed], end[fed]
    found = np.zeros(len(end), update_type(log.end))
    found["row"], found["before"], found["tensor"] = written[fed], named[made.first[fed], 0], tensors[fed]
    found["step"] = np.searchsorted(steps, found["row"])
    put = _put_in_place(log, found["row"], named[made.last[fed], 1], history.rows[end])
    found["pulled"] = np.where(put >= 0, put, history.rows[end])
    for low in range(0, len(found), _STRETCH):
        part = found[low : low + _STRETCH]
        part["count"], part["rate"] = counts_of(log, part["row"]), rates_of(log, part["row"])
    parts = np.where(put >= 0, 1, end - start + 1)
    return _Fed(found, parts, lambda place: history.rows[start[place] : end[place] + 1])


def _trained(log: Log, found: np.ndarray) -> np.ndarray:
    return found if _steps(log)[1] else found[np.isin(found["tensor"], _descending(log, found))]


def _descending(log: Log, found: np.ndarray) -> np.ndarray:
    """The parameters whose first update goes down their gradient, as far as that is known.

    Who updates by hand may as well go up it: an attack, an image that excites a unit, a likelihood.
    """
    _, firsts = np.unique(found["tensor"], return_index=True)
    return np.array([one["tensor"] for one in found[firsts] if _goes_down(log, one)], np.int64)


def _goes_down(log: Log, one: np.void) -> bool:
    values = [log.value(int(one[name])) for name in ("before", "row", "pulled")]
    known = [value for value in values if value is not None]
    if len(known) == len(values) and len({value.shape for value in known}) == 1:
        before, after, gradient = (value.astype(np.float64).ravel() for value in known)
        with np.errstate(all="ignore"):
            return bool(np.dot(after - before, gradient) <= 0)
    return log.op(log.event(int(one["row"])).op).name == "sub_"


def _steps(log: Log) -> tuple[np.ndarray, int]:
    """The rows that part the steps of a training, and how many steps have ended: 0 where the log tells of none.

    Who writes the updates by hand tells of no steps: those that follow one backward pass are a step then.
    """
    steps = optimizer_steps(log)
    return (steps, len(steps)) if len(steps) else (log.marks(Kind.BACKWARD_BEGIN), 0)


def _writes(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """The rows that wrote, with gradients off, into leaves that are trained, and those that wrote into others.

    So does who writes into `.data`, or puts other data in its place.

    What an op made is a leaf, too, once the program wants gradients of it.
    """
    entries = enumerate(log.table("ops"), 1)
    setting = [number for number, op in entries if isinstance(op, dict) and op.get("name") in _THROUGH_DATA]
    leaves = log.where(lambda each: (each["kind"] == Kind.LEAF) & ((each["flags"] & int(Flag.REQUIRES_GRAD)) != 0))
    pulled = each_once(log.pick("forward", log.where(lambda each: each["kind"] == Kind.ACCUMULATE)).astype(np.int64))
    trained = log.pick("tensor", np.concatenate([leaves, pulled]))

    def writes(each: np.ndarray) -> np.ndarray:
        written = ((each["flags"] & _WRITTEN) == _WRITTEN) | np.isin(each["op"], setting)
        return np.asarray(written & (each["kind"] == Kind.OP) & (each["graph_pass"] == Pass.FORWARD))

    rows = log.where(writes)
    ours = np.isin(log.pick("tensor", rows), each_once(trained))
    return rows[ours], rows[~ours]


class _Made(NamedTuple):
    """The updates that writes make, each by the places of its first and its last write."""

    first: np.ndarray
    last: np.ndarray


def _one_a_step(log: Log, rows: np.ndarray, steps: np.ndarray, ended: int) -> _Made:
    """Which writes are one update: the row of an optimizer's step, else all writes of a step together.

    What the program writes into a parameter that an optimizer updates is no update, and neither is what it writes
    behind the last step.
    """
    tensors = log.pick("tensor", rows).astype(np.int64)
    told = tells_settings(log, rows)
    single = np.flatnonzero(told)
    others = np.flatnonzero(~np.isin(tensors, tensors[told]) & ((steps < ended) | (ended == 0)))
    others = others[np.lexsort((others, tensors[others], steps[others]))]
    parted = (np.diff(tensors[others]) != 0) | (np.diff(steps[others]) != 0)
    heads, tails = np.r_[True, parted][: len(others)], np.r_[parted, True][: len(others)]
    first, last = np.concatenate([single, others[heads]]), np.concatenate([single, others[tails]])
    order = np.argsort(last)
    return _Made(first[order], last[order])


def _put_in_place(log: Log, rows: np.ndarray, named: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The gradients that updates name, where the program put others in the place of what was added up; else -1."""
    places = np.flatnonzero((named >= log.first) & (named != known))
    kinds = log.pick("kind", named[places])
    same = log.pick("shape", named[places]) == log.pick("shape", rows[places])
    chosen = places[np.isin(kinds, (int(Kind.OP), int(Kind.LEAF))) & same & tells_settings(log, rows[places])]
    found = np.full(len(rows), -1)
    found[chosen] = named[chosen]
    return found
