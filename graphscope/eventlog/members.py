"""The ranks of a group as a log tells them: of a thousand that follow each other, three numbers and not a thousand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_FEW: Final = 8
"""So many ranks are written out."""


def told(ranks: Sequence[int]) -> list[int] | dict[str, int]:
    """The ranks of a group, as the attributes of each of its collectives name them."""
    if len(ranks) > _FEW:
        by = ranks[1] - ranks[0]
        stop = ranks[-1] + by
        if by > 0 and [*ranks] == [*range(ranks[0], stop, by)]:
            return {"from": ranks[0], "to": stop, "by": by}
    return [*ranks]


def members(entry: Any) -> tuple[int, ...]:
    """The ranks that `told` has told; none of what is something else."""
    if isinstance(entry, list):
        return tuple(each for each in entry if isinstance(each, int))
    if isinstance(entry, dict) and all(isinstance(entry.get(name), int) for name in ("from", "to", "by")):
        first, stop, by = entry["from"], entry["to"], entry["by"]
        return tuple(range(first, min(stop, first + _MOST * by), by)) if by > 0 else ()
    return ()


_MOST: Final = 1 << 20
"""A damaged log must not ask for more."""
