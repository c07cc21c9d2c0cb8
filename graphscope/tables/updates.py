"""The table of updates of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph import series
from graphscope.graph.training import training
from graphscope.tables.batches import ROWS, Batch, Coded, known, steps_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MEASURED: Final = {
    "learning_rate": "rate",
    "gradient_norm": "gradient",
    "weight_norm": "weight",
    "update_norm": "update",
    "moved": "moved",
}


def batches(log: Log) -> Iterator[Batch]:
    """The updates of the parameters of a log."""
    found, told = series.updates(log), training(log)
    tensors, which = np.unique(found["tensor"], return_inverse=True)
    names = [told.name(tensor) or None for tensor in tensors.tolist()]
    for low in range(0, len(found), ROWS):
        part = found[low : low + ROWS]
        sites = log.pick("site", part["row"])
        with np.errstate(all="ignore"):
            ratio = part["update"] / part["weight"]
        yield {
            "step": steps_of(log, part["row"]),
            "row": part["row"],
            "parameter": Coded(which[low : low + ROWS], names),
            "tensor": part["tensor"],
            "gradient_row": part["pulled"],
            "site": known(sites, sites > 0),
            "elements": part["count"],
            **{name: _told(part[field]) for name, field in _MEASURED.items()},
            "update_ratio": _told(ratio),
        }


def _told(numbers: np.ndarray) -> np.ndarray:
    """Numbers, hidden where the log does not tell one."""
    return known(numbers, ~np.isnan(numbers))
