"""What tells a collective of ranks from all others: its group, as an entry of `attrs`, and its number in that.

The number lies in the row, behind its inputs, so that the tables of a long run are those of a short one. It lay in the
entry once, and such logs are read as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphscope.eventlog.members import members, told

JOINED: Final = "joined"
"""True in the entry of a collective that a rank without data comes to so that the others can go on."""


TAG: Final = "tag"
"""In the entry of what one rank sends to another: the tag that both gave, 0 where they gave none."""

ANYONE: Final = "anyone"
"""True in the entry of a receive from whoever sends, which counts by itself; who has sent is told behind it."""


def entry(group: str, ranks: Sequence[int]) -> dict[str, Any]:
    """What the table `attrs` says of the collectives of a group; the number is the first that lies in the row."""
    return {"group": group, "number": {"varying": ["int", 0]}, "ranks": told(ranks)}


def is_numbered(encoded: Any) -> bool:
    """Whether an entry tells of collectives."""
    return (
        isinstance(encoded, dict)
        and isinstance(encoded.get("group"), str)
        and isinstance(encoded.get("ranks"), list | dict)
        and (_is_small(encoded.get("number")) or place_of(encoded) is not None)
    )


def place_of(encoded: dict[str, Any]) -> int | None:
    """Which of the numbers of a row is that of its collective; None where the entry itself has it."""
    number = encoded.get("number")
    varying = number.get("varying") if isinstance(number, dict) else None
    if not isinstance(varying, list) or len(varying) != 2:
        return None
    kind, place = varying
    return place if kind == "int" and _is_small(place) else None


def _is_small(number: Any) -> bool:
    """Whether it is a whole number as they count collectives, and not what stands in a damaged log."""
    return isinstance(number, int) and 0 <= number < _MOST


_MOST: Final = 1 << 48


def group_of(encoded: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """The name of the group of numbered collectives, and the ranks that are in it."""
    return encoded["group"], members(encoded["ranks"])
