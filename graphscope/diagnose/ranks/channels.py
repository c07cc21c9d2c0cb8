"""What tells messages between two ranks apart: their tags, and whether whoever sends is received from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.eventlog.numbering import ANYONE, TAG, group_of, is_numbered

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Key = tuple[str, tuple[int, ...]]
"""A group: its name, and the ranks that are in it."""


class Channel(NamedTuple):
    """What is counted together of what one rank sends to another."""

    tag: int
    is_anyones: bool
    """Whether it is what a rank receives from whoever sends, until it is known who does."""


PLAIN: Final = Channel(0, False)
"""What collectives of all ranks of a group are."""


def channels(log: Log) -> dict[Key, Channel]:
    """Those of a log; older ones do not tell them."""
    entries = (entry for entry in log.table("attrs") if is_numbered(entry) and (TAG in entry or ANYONE in entry))
    return {group_of(entry): _channel(entry) for entry in entries}


def _channel(entry: dict[str, object]) -> Channel:
    tag = entry.get(TAG, 0)
    return Channel(tag if isinstance(tag, int) else 0, entry.get(ANYONE) is True)
