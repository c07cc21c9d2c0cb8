"""Rows of ops by name, found in bulk, and one row for all those that came about in the same way."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


_STRETCH: Final = 1 << 17
"""So many rows are looked at in one go: of a long log there are millions, and few came about differently."""


def op_rows(log: Log, names: Collection[str]) -> np.ndarray:
    """The rows of the forward pass where ops of these names ran, ascending; `add` stands for `add_` as well."""
    entries = enumerate(log.table("ops"), 1)
    numbers = [number for number, op in entries if isinstance(op, dict) and str(op.get("name")).rstrip("_") in names]
    if not numbers:
        return np.zeros(0, np.int64)
    return log.where(lambda rows: _has_run(rows) & np.isin(rows["op"], numbers))


def _has_run(rows: np.ndarray) -> np.ndarray:
    forward = (rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD)
    return np.asarray(forward & ((rows["flags"] & int(Flag.FAILED)) == 0))


def distinct(log: Log, rows: np.ndarray, depth: int = 5) -> list[int]:
    """The first of all rows that came about alike: at one line, of one shape, from first inputs of the same lines.

    Args:
        log: The log.
        rows: Rows of ops, ascending.
        depth: So many ops back, from first input to first input, the lines are compared.
    """
    if len(rows) > _STRETCH:
        parts = (rows[low : low + _STRETCH] for low in range(0, len(rows), _STRETCH))
        rows = np.concatenate([_firsts(log, part, depth) for part in parts])
    found: list[int] = _firsts(log, rows, depth).tolist() if len(rows) else []
    return found


def _firsts(log: Log, rows: np.ndarray, depth: int) -> np.ndarray:
    columns = []
    at = rows
    for _ in range(depth):
        columns += [log.pick("site", at), log.pick("op", at)]
        at = np.where(at >= log.first, sources(log, at), -1)
    columns += [log.pick("shape", rows), log.pick("scope", rows)]
    return np.asarray(rows[np.sort(grouped(columns).first)])
