"""Values that are not here yet when their rows are written, as those that an accelerator still computes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.segment import Segment

_ROW: Final = schema.EVENT.itemsize


def _field(name: str) -> tuple[struct.Struct, int]:
    assert schema.EVENT.fields is not None
    return struct.Struct(schema.packing(schema.EVENT, [name])), schema.EVENT.fields[name][1]


_FLAGS, _FLAGS_AT = _field("flags")
_VALUE, _VALUE_AT = _field("value")
_DURATION, _DURATION_AT = _field("duration")


fetching: Final[list[Callable[[], None]]] = []
"""What waits for all that was promised to rows, and gives it to them: of each producer that promises values."""


def fetch() -> None:
    """Let all rows that are written have their values, before somebody reads them or their segment is full."""
    for each in fetching:
        each()


class Awaited:
    """What a row is given in place of its value: until that has come, the row says that it has none.

    Args:
        keep: The flag that says how its template keeps a value; 0: not at all.
    """

    __slots__ = ("_at", "_keep", "_row", "_segment")

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._segment: Segment | None = None

    def lies(self, segment: Segment, row: int) -> None:
        """The row is written; `row` counts as the log does."""
        if segment.first <= row < segment.end:
            self._segment, self._row = segment, row
            self._at = segment.origin + row * _ROW

    def come(self, content: bytes | None, *, is_finite: bool) -> None:
        """The value is here.

        Args:
            content: Its bytes, or those of its `SUMMARY` record; None where it is not kept.
            is_finite: Whether it has neither NaN nor Inf.
        """
        segment = self._segment
        if segment is None:
            return
        rows, at = segment.rows, self._at
        keep = self._keep if content is not None else 0
        if content is not None and keep == Flag.INLINE:
            _VALUE.pack_into(rows, at + _VALUE_AT, int.from_bytes(content, "little"))
        elif content is not None and keep:
            start = segment.value_start + _VALUE.unpack_from(rows, at + _VALUE_AT)[0]
            segment.values[start : start + len(content)] = content
        flags = _FLAGS.unpack_from(rows, at + _FLAGS_AT)[0] | keep
        if not is_finite:
            if not flags & Flag.NONFINITE:
                segment.list_rare(self._row)
            flags |= int(Flag.NONFINITE)
        _FLAGS.pack_into(rows, at + _FLAGS_AT, flags)  # last: it says that the value is there

    def took(self, duration: int) -> None:
        """So many nanoseconds its op ran."""
        if self._segment is not None:
            _DURATION.pack_into(self._segment.rows, self._at + _DURATION_AT, duration)
