"""The table of values: statistics of many at once, from the values themselves or as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.schema import NODES, Flag
from graphscope.graph.sizes import norms_of
from graphscope.graph.statistics import statistics
from graphscope.tables.batches import Batch, known, steps_of, stretches
from graphscope.tables.vocabulary import Vocabulary

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_OF_FINITE: Final = ("minimum", "maximum", "mean", "std")
_COUNTS: Final = ("nan", "inf", "zero")
_STORED: Final = int(Flag.INLINE | Flag.KEPT | Flag.SUMMARY)


def batches(log: Log) -> Iterator[Batch]:
    """The statistics of the values of a log; of each stretch last those of nodes that have several outputs."""
    words = Vocabulary(log)
    for first, events in stretches(log):
        is_node, is_several = np.isin(events["kind"], NODES), events["several"] != 0
        stored = is_node & ((events["flags"] & _STORED) != 0) & ~is_several
        rows = first + np.flatnonzero(stored)
        records, is_there = statistics(log, rows)
        rows, sizes = rows[is_there], words.count(events["shape"][stored][is_there])
        yield _batch(log, rows, np.zeros(len(rows), np.int64), records[is_there], sizes, norms_of(log, rows))
        yield _of_outputs(log, (first + np.flatnonzero(is_node & is_several)).tolist())


def _batch(
    log: Log, rows: np.ndarray, slots: np.ndarray, records: np.ndarray, sizes: np.ndarray, norms: np.ndarray
) -> Batch:
    """The columns of some values; a norm that is NaN is not known."""
    finite = _finite(records, sizes)
    norms = np.where(finite < sizes, np.inf, norms)
    return {
        "step": steps_of(log, rows),
        "row": rows,
        "slot": slots,
        **{name: known(records[name], finite > 0) for name in _OF_FINITE},
        "norm": known(norms, ~np.isnan(norms)),
        **{name: records[name] for name in _COUNTS},
        "size": sizes,
    }


def _of_outputs(log: Log, rows: Sequence[int]) -> Batch:
    """The statistics of each output of nodes that have several, one by one: there are few."""
    found = [(row, slot, log.summary(row, slot)) for row in rows for slot in range(len(log.outputs(row)))]
    there = [(row, slot, each) for row, slot, each in found if each is not None]
    names = schema.SUMMARY.names or ()
    records = np.array([tuple(getattr(each, name) for name in names) for *_, each in there], schema.SUMMARY)
    rows_there, slots, sizes = (
        np.array([(row, slot, each.count) for row, slot, each in there], np.int64).reshape(-1, 3).T
    )
    with np.errstate(all="ignore"):  # the program's numbers may be too large to be squared
        norms = np.sqrt((records["mean"] ** 2 + records["std"] ** 2) * _finite(records, sizes))
    return _batch(log, rows_there, slots, records, sizes, norms)


def _finite(records: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many elements of each value are finite."""
    return np.asarray(sizes - records["nan"].astype(np.int64) - records["inf"].astype(np.int64))
