"""The table of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.schema import NODES, Flag, Kind
from graphscope.tables.batches import Batch, Coded, known, steps_of, stretches
from graphscope.tables.moments import moments
from graphscope.tables.vocabulary import DTYPES, Vocabulary, coded

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_PASSES: Final = ["forward", "backward"]
_KINDS: Final = [Kind(kind).name.lower() if kind in NODES else None for kind in range(max(NODES) + 1)]
_FACTS: Final = {name: int(Flag[name.upper()]) for name in ("in_place", "view", "requires_grad", "parameter", "failed")}
_HAS_FORWARD: Final = (Kind.GRAD, Kind.ACCUMULATE)


def batches(log: Log) -> Iterator[Batch]:
    """The nodes of a log."""
    words = Vocabulary(log)
    sick = np.fromiter(rows_with_nonfinite(log), np.int64)
    for first, events in stretches(log):
        places = np.flatnonzero(np.isin(events["kind"], NODES))
        rows, nodes = first + places, events[places]
        kinds = nodes["kind"]
        inside_pass = (kinds == Kind.OP) & (nodes["graph_pass"] == 1)
        yield {
            "step": steps_of(log, rows),
            "row": rows,
            "pass": coded(nodes["graph_pass"], _PASSES),
            "kind": Coded(kinds, _KINDS),
            "op": words.ops_of(nodes),
            "name": coded(_naming(log, rows, nodes), words.names),
            "module": coded(nodes["scope"], words.modules),
            "site": known(nodes["site"], nodes["site"] > 0),
            "dtype": coded(nodes["dtype"], DTYPES),
            "shape": coded(nodes["shape"], words.shapes),
            "elements": words.count(nodes["shape"]),
            "tensor": nodes["tensor"],
            "version": nodes["version"],
            "forward": known(nodes["forward"], np.isin(kinds, _HAS_FORWARD) | inside_pass),
            "ended": moments(log, nodes["time"]),
            "duration": nodes["duration"],
            "nonfinite": np.isin(rows, sick, assume_unique=True),
            **{name: (nodes["flags"] & bit) != 0 for name, bit in _FACTS.items()},
        }


def _naming(log: Log, rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The entries of `attrs` that name nodes: of what wrote into a tensor those of its first version."""
    found = nodes["attrs"].copy()
    written = np.flatnonzero((nodes["version"] > 0) & (nodes["tensor"] < rows))
    found[written] = log.pick("attrs", nodes["tensor"][written].astype(np.int64))
    return found
