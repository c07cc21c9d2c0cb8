"""Single dropouts and batch norms that an evaluation switched off, and that nobody switched on again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.modal_layers import dropout_rows, norm_rows, off_and_on, takes_statistics
from graphscope.eventlog.schema import Flag
from graphscope.graph.training import Call, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""So many passes of training must follow."""
_MOST: Final = 64


class Part(NamedTuple):
    """Modules of one kind that were left in evaluation."""

    row: int
    """Where the third pass of training begins that goes without them."""
    first: int
    """Where the first one does."""
    call: Call
    passes: int


def parts_left(log: Log) -> Iterator[Part]:
    """The dropouts, or the batch norms, that acted in training until they were switched off for an evaluation.

    Statistics may be frozen for good: of batch norms it must be a function that evaluates, by its name, which does it.
    """
    read = training(log)
    calls = read.calls("eval", "train")
    for kind in ("Dropout", _NORM):
        off = [each for each in calls if each.name == "eval" and kind in str(each.facts.get("type", ""))]
        if not off or any(each.name == "train" and each.row > off[0].row for each in calls):
            continue
        first = off[0]
        acted = _acting(log, kind, first.row)
        stops = read.backward_begins[read.backward_begins > first.row]
        if not len(acted) or acted[-1] > first.row or len(stops) < _LEAST:
            continue
        if kind == _NORM and not _is_evaluating(log, first):
            continue
        if _is_evaluated(log, first.row, int(stops[0])):
            yield Part(int(stops[_LEAST - 1]), int(stops[0]), first, len(stops))


_NORM: Final = "BatchNorm"
_WORDS: Final = re.compile("eval|valid|test|accura|score|measure|monitor|metric|predict|infer", re.IGNORECASE)


def _is_evaluating(log: Log, call: Call) -> bool:
    """Whether a call stands in a function that evaluates, by its name."""
    site = log.site(call.site) if call.site else None
    return site is not None and _WORDS.search(site.function.rpartition(".")[2]) is not None


def _acting(log: Log, kind: str, row: int) -> np.ndarray:
    """The rows where layers acted as in training, with gradients, around a row: those nearest to it on each side."""
    rows = norm_rows(log) if kind == _NORM else dropout_rows(log)
    rows = rows[(log.pick("flags", rows) & int(Flag.NO_GRAD)) == 0]
    place = int(np.searchsorted(rows, row))
    near = rows[max(place - _MOST, 0) : place + _MOST]
    if kind != _NORM:
        return np.asarray(near)
    return np.array([each for each in near.tolist() if takes_statistics(log, each)], np.int64)


def _is_evaluated(log: Log, start: int, stop: int) -> bool:
    """Whether the first op behind a row runs without gradients."""
    off, on = off_and_on(log, start, stop)
    return bool(len(off)) and (not len(on) or bool(off[0] < on[0]))
