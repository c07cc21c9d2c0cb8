"""Ways through a graph of rows: what can be reached, and by which shortest path. Nothing recurses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable

Step = Callable[[int], Iterable[int]]
"""From a row to the rows one edge away."""


def reach(start: int, step: Step, depth: int | None = None) -> list[int]:
    """The rows that at most `depth` steps lead to, ascending, without the start."""
    seen = {start}
    border = [start]
    taken = 0
    while border and (depth is None or taken < depth):
        beyond = []
        for row in border:
            for other in step(row):
                if other not in seen:
                    seen.add(other)
                    beyond.append(other)
        border = beyond
        taken += 1
    seen.discard(start)
    return sorted(seen)


def nearest(start: int, step: Step, wanted: Container[int]) -> int | None:
    """The wanted row that the fewest steps lead to; None when none leads to any."""
    seen = {start}
    waiting = deque([start])
    while waiting:
        row = waiting.popleft()
        if row in wanted:
            return row
        for other in step(row):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return None


def shortest(start: int, end: int, step: Step) -> list[int]:
    """The rows of a shortest path, start and end included; empty when there is none."""
    came: dict[int, int] = {start: start}
    waiting = deque([start])
    while waiting and end not in came:
        row = waiting.popleft()
        for other in step(row):
            if other not in came:
                came[other] = row
                waiting.append(other)
    if end not in came:
        return []
    path = [end]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]
