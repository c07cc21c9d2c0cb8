"""Rows of ops by name, found in bulk, and one row for all those that came about in the same way."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import ROW_MASK, Flag, Kind, Pass
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def op_rows(log: Log, names: Collection[str]) -> np.ndarray:
    """The rows of the forward pass where ops of these names ran, ascending; `add` stands for `add_` as well."""
    entries = enumerate(log.table("ops"), 1)
    numbers = [number for number, op in entries if isinstance(op, dict) and str(op.get("name")).rstrip("_") in names]
    rows, ops = _forward(log)
    found: np.ndarray = rows[np.isin(ops, numbers)]
    return found


@once_a_length
def _forward(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """The rows of all ops of the forward pass, and the number of the op of each."""
    found, ops = [np.zeros(0, np.int64)], [np.zeros(0, np.uint32)]
    for first, rows in log.chunks():
        ran = (rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD)
        places = np.flatnonzero(ran & ((rows["flags"] & int(Flag.FAILED)) == 0))
        found.append(first + places)
        ops.append(rows["op"][places])
    return np.concatenate(found), np.concatenate(ops)


def first_inputs(log: Log, rows: np.ndarray, number: int = 0) -> np.ndarray:
    """The row of one of the inputs of each op; -1 where it has none."""
    inside = (log.pick("input_count", rows) > number) & ((log.pick("flags", rows) & int(Flag.EDGES)) == 0)
    named = log.pick("inputs", rows)[:, number] & np.uint64(ROW_MASK)
    found = np.where(inside, named.astype(np.int64), -1)
    for place in np.flatnonzero((log.pick("flags", rows) & int(Flag.EDGES)) != 0).tolist():  # those of many inputs
        found[place] = next((row for row, _ in log.inputs(int(rows[place]))[number:]), -1)
    return found


def distinct(log: Log, rows: np.ndarray, depth: int = 5) -> list[int]:
    """The first of all rows that came about alike: at one line, of one shape, from first inputs of the same lines.

    Args:
        log: The log.
        rows: Rows of ops, ascending.
        depth: So many ops back, from first input to first input, the lines are compared.
    """
    if not len(rows):
        return []
    columns = []
    at = rows
    for _ in range(depth):
        columns += [log.pick("site", at), log.pick("op", at)]
        at = np.where(at >= log.first, first_inputs(log, at), -1)
    columns += [log.pick("shape", rows), log.pick("scope", rows)]
    _, first = np.unique(np.column_stack(columns), axis=0, return_index=True)
    found: list[int] = rows[np.sort(first)].tolist()
    return found
