"""What is known of many values at once, whatever their shape and order: the statistics that a log keeps or that follow.

A value that was laid out in another way has the same fingerprint; so has one of another order of summation, nearly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import SUMMARY
from graphscope.eventlog.values import Summary, pack, summary_record, unpack

if TYPE_CHECKING:
    from graphscope.compare.flow import Flow

FEATURES: Final = ("minimum", "maximum", "mean", "std")


class Fingerprints:
    """The fingerprints of the values of a flow."""

    def __init__(self, flow: Flow) -> None:
        records = np.zeros(len(flow), SUMMARY)
        self.known: np.ndarray = np.zeros(len(flow), bool)
        """Of which vertices anything is known."""
        self.whole: np.ndarray = np.zeros(len(flow), bool)
        """Of which the value itself is there."""
        for vertex in range(len(flow)):
            value = flow.value(vertex)
            if value is not None:
                self.whole[vertex] = self.known[vertex] = True
                records[vertex] = np.frombuffer(summary_record(value), SUMMARY)[0]
                continue
            summary = flow.log.summary(int(flow.rows[vertex]), int(flow.slots[vertex]))
            if summary is not None:
                self.known[vertex] = True
                records[vertex] = np.frombuffer(pack(summary), SUMMARY)[0]
        self._records = records
        self._counts = flow.counts
        self.features: np.ndarray = np.stack([records[name] for name in FEATURES], 1)
        self.nonfinite: np.ndarray = (records["nan"] + records["inf"]).astype(np.int64)
        self.sizes: np.ndarray = np.sqrt(np.square(records["mean"]) + np.square(records["std"]))
        """The root of the mean square of each."""
        self.scales: np.ndarray = np.maximum(np.abs(records["minimum"]), np.abs(records["maximum"]))
        """The largest magnitude of each."""
        self.telling: np.ndarray = self.known & ((records["std"] > 0) | (flow.counts == 1)) & flow.is_floating
        """Which values may be known again by their numbers: constants, masks and indices are not."""

    def summary(self, vertex: int) -> Summary:
        """The statistics of one."""
        return unpack(self._records[vertex].tobytes(), int(self._counts[vertex]))

    def in_any_layout(self, vertex: int) -> bytes:
        """What two that hold the same numbers have in common, bit for bit, however these lie."""
        sums = np.float32(self.features[vertex, 2:])  # which another order rounds otherwise
        exact = self._counts[vertex], self.nonfinite[vertex], self.features[vertex, :2]
        return b"".join(each.tobytes() for each in (*exact, sums))
