"""Rows of any width: nodes with several slots, with more inputs than a row holds, and marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphscope.eventlog import schema, values
from graphscope.eventlog.appender import compiled
from graphscope.eventlog.awaited import Awaited, fetch
from graphscope.eventlog.interning import Interning
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.schema import INLINE_INPUTS, ROW_MASK, SLOT_SHIFT, Flag
from graphscope.eventlog.segment import LARGE, Segment, bytes_of, place_below
from graphscope.eventlog.template import PACKERS, Template, padded

_ROW: Final = schema.EVENT.itemsize
_BITS: Final = (1 << 64) - 1
_MOST_SLOTS: Final = (1 << 16) - 1
"""No more slots of a node have a number."""


class WideRows(Interning):
    """The half of a writer that appends rows of any width."""

    base: int
    segment: Segment

    def _append(
        self, template: Template, value: Any, time: int = 0, duration: int = 0, forward: int = 0, first: int = 0,
        second: int = 0, third: int = 0, tensor: int | None = None,
    ) -> int:  # fmt: skip
        """What takes the rows of one value and three inputs at most."""
        raise NotImplementedError

    def _roll(self, full: Segment, room: int, side: int = 0) -> None:
        """Put a new segment in the place of a full one."""
        raise NotImplementedError

    def _make_way(self, segment: Segment, small: int, large: int, side: int = 0) -> None:
        """Reserve disk space for values in a segment, or put a new segment in its place, where it is full.

        Args:
            segment: The one that is written.
            small: Bytes that small values need.
            large: Bytes that large values need.
            side: Rows of `edges.npy`, or of `outputs.npy`, that are needed.
        """
        fetch()  # what is promised to rows of this segment
        low, high = segment.next_value + small, segment.value_end - large
        if low <= high and segment.lacks_space(low, high):
            try:
                self.insist(lambda: segment.reserve(low, high))
                return
            except own(OSError) as error:
                self.give_up(error)
        self._roll(segment, small + large, side)

    def _promised(self, value: Awaited, row: int) -> int:
        """A row is written that waits for its value."""
        value.lies(row)
        return row

    def _append_many(
        self,
        template: Template,
        value: Any,
        rows: list[int],
        time: int = 0,
        duration: int = 0,
        forward: int = 0,
        tensor: int | None = None,
        version: int = 0,
    ) -> int:
        """Append a row as `_append` does, with any number of inputs: rows, with their slots above SLOT_SHIFT.

        A version is that of the tensor where it is another than the template's.
        """
        if version:
            template.turn_version(version)
        if value.__class__ is Awaited:
            row = self._append_many(template, None, rows, time, duration, forward, tensor)
            return self._promised(value, row)
        if len(rows) <= INLINE_INPUTS:
            first, second, third = (*rows, 0, 0, 0)[:INLINE_INPUTS]
            return self._append(template, value, time, duration, forward, first, second, third, tensor)
        if value.__class__ is int:
            value = template.memory(value)
        if template.awaited:
            value = np.broadcast_to(np.uint8(0), template.nbytes)  # there is to be room for so many
        outputs = [] if value is None else [(value, template.keep)]
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows[: template.nodes]]
        return self.append_wide(template, outputs, edges, time, duration, forward, tensor, rows[template.nodes :])

    def append_wide(
        self,
        template: Template,
        outputs: Sequence[tuple[Any, int]],
        inputs: Sequence[tuple[int, int]],
        time: int = 0,
        duration: int = 0,
        forward: int = 0,
        tensor: int | None = None,
        numbers: Sequence[int] = (),
        dtypes: Sequence[str] = (),
    ) -> int:
        """Append a row of any width: marks, nodes with several slots, or more inputs than a row holds.

        Args:
            outputs: The value and the flag bits of the dtype's storage of each slot; one entry for an ordinary row.
            inputs: Row (as returned) and slot of each input.
            numbers: The bits of each number that varies.
            dtypes: The names of the dtypes of several slots, where they are not those of the values.
        """
        base = self.base
        outputs = outputs[:_MOST_SLOTS]
        edges = [(row - base, slot, argument) for argument, (row, slot) in enumerate(inputs)]
        count = len(edges)
        behind = [each & _BITS for each in numbers]
        beside = count + len(behind) > INLINE_INPUTS
        several = len(outputs) > 1
        arrays = [np.asarray(value) for value, _ in outputs]
        rooms = [
            padded(array.nbytes if keep == Flag.KEPT else schema.SUMMARY.itemsize if keep == Flag.SUMMARY else 0)
            for array, (_, keep) in zip(arrays, outputs, strict=True)
        ]
        contents = [
            bytes_of(array) if need >= LARGE and not template.awaited else None
            for array, need in zip(arrays, rooms, strict=True)
        ]
        room = sum(need for need, content in zip(rooms, contents, strict=True) if content is None)
        edge_room, output_room = count + len(behind) if beside else 0, len(arrays) if several else 0
        while True:
            segment = self.segment
            top = end = segment.value_end
            known = [-1 if content is None else segment.find(content) for content in contents]
            tops = []
            for need, content, found in zip(rooms, contents, known, strict=True):
                top = place_below(top, need) if content is not None and found < 0 else top
                tops.append(top)
            row = segment.next_row
            if segment.value_end != end:  # another thread or a nested call came first
                continue
            offset = segment.next_value
            edge, slot = segment.next_edge, segment.next_output
            if (
                row < segment.end
                and segment.small_end >= offset + room <= top >= segment.reserved
                and edge + edge_room <= segment.edge_end
                and slot + output_room <= segment.output_end
            ):
                segment.next_row = row + 1
                segment.next_value = offset + room
                segment.value_end = top
                segment.next_edge = edge + edge_room
                segment.next_output = slot + output_room
                break
            self._make_way(segment, room, end - top, max(edge_room, output_room))
        if offset + room > segment.populated:
            segment.populate(offset + room)
        looked_at = [array for array, (_, keep) in zip(arrays, outputs, strict=True) if compiled or not keep]
        if template.watched and not all(map(values.finite, looked_at)):
            template = template.flagged()
        places: list[Any] = []
        for array, (value, keep), need, content, found, at in zip(
            arrays, outputs, rooms, contents, known, tops, strict=True
        ):
            if content is not None:
                places.append(found - segment.value_start if found >= 0 else segment.put_large(at, content))
                continue
            if template.awaited:
                pass  # it comes later
            elif keep == Flag.KEPT:
                segment.values[offset : offset + array.nbytes] = array.tobytes()
            elif keep == Flag.SUMMARY and not segment.put_summary(offset, value):
                template = template.flagged()
            place = offset - segment.value_start
            places.append(int.from_bytes(array.tobytes(), "little") if keep == Flag.INLINE else place if keep else 0)
            offset += need
        if several:
            for number, (array, (_, keep)) in enumerate(zip(arrays, outputs, strict=True)):
                code = schema.DTYPE_CODES.get(dtypes[number] if dtypes else array.dtype.name, 0)
                segment.put_output(slot + number, code, keep, len(arrays), self.shape(array.shape), places[number], row)
        prefix = template.prefix
        named = [slot << SLOT_SHIFT | node for node, slot, _ in edges] + behind + [0] * INLINE_INPUTS
        if beside:
            segment.put_edges(edge, edges + [(each, 0, count + place) for place, each in enumerate(behind)])
            named = [edge, count, 0]
            prefix = template.beside()
        if template.rare:
            segment.list_rare(row)
        place, at = slot if several else places[0] if places else 0, segment.origin + row * _ROW
        whose, since = row if tensor is None else tensor - base, forward - base if forward else 0
        PACKERS[""](segment.rows, at, prefix, whose, time, duration, place, since, *named[:INLINE_INPUTS])
        segment.rows[at] = template.kind
        return row + base
