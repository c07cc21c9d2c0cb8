"""What the marks of training steps tell of the loops around them, and which of them end one turn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.words import by_entry, numbers, told

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def counters_of(log: Log, marks: np.ndarray) -> list[dict[str, int]]:
    """What the loops of the program counted at each mark, by the program's names, the outermost loop first."""
    found: list[dict[str, int]] = [{} for _ in marks]
    for entry, which in by_entry(log, marks):
        names, encoded = entry.get("counters"), told(entry, "attributes").get("numbers")
        if isinstance(names, list) and isinstance(encoded, dict) and isinstance(encoded.get("tuple"), list):
            columns = [numbers(log, marks[which], part) for part in encoded["tuple"]]
            known = [np.nan_to_num(each).astype(np.int64).tolist() for each in columns]
            for place, *row in zip(which.tolist(), *known, strict=True):
                found[place] = {str(name): each for name, each in zip(names, row, strict=False)}
    return found


def told_behind(log: Log, row: int) -> dict[str, int]:
    """What the loops counted where the program waited or failed last, from a row on; empty where it did not."""
    for entry in reversed(log.table("attrs")):
        if isinstance(entry, dict) and entry.get("call") == "turn" and entry["row"] >= row:
            return dict(zip(entry["counters"], entry["numbers"], strict=True))
    return {}


def last_of_turns(log: Log, marks: np.ndarray) -> np.ndarray:
    """Of the marks that several lines make in one turn of a loop, as where two optimizers step, the last."""
    if not len(marks):
        return marks
    ends = np.ones(len(marks), bool)
    ends[:-1] = ~_go_on(counters_of(log, marks), log.pick("site", marks).tolist())[1:]
    return marks[ends]


def _go_on(counters: Sequence[dict[str, int]], sites: Sequence[int]) -> np.ndarray:
    """Which marks go on with the turn of the mark before: no line marks a turn twice."""
    found = np.zeros(len(sites), bool)
    lines: set[int] = set()
    for place, site in enumerate(sites):
        found[place] = place and counters[place] and counters[place] == counters[place - 1] and site not in lines
        lines = {*lines, site} if found[place] else {site}
    return found
