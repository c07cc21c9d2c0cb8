"""Templates: the part of a row that is the same each time a call site runs, packed once."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.appender import FLOATING, MOST_NODES, Form
from graphscope.eventlog.schema import Flag, Kind

PACKERS: Final[dict[str, Callable[..., None]]] = {
    name: struct.Struct(layout).pack_into for name, layout in schema.ROW_LAYOUTS.items()
}
"""How rows are packed, by the name of their layout."""

_INLINE, _KEPT, _SUMMARY, _RARE = int(Flag.INLINE), int(Flag.KEPT), int(Flag.SUMMARY), int(schema.RARE_FLAGS)
_LAST_NODE: Final = int(Kind.ACCUMULATE)
_BITS: Final = (1 << 64) - 1
_PREFIX: Final = struct.Struct(schema.packing(schema.EVENT, schema.CONSTANT))


def _field(name: str) -> tuple[struct.Struct, int]:
    """How a field of a row is packed, and where it lies."""
    assert schema.EVENT.fields is not None
    return struct.Struct(schema.packing(schema.EVENT, [name])), schema.EVENT.fields[name][1]


_FLAGS, _FLAGS_AT = _field("flags")
_, _INPUT_COUNT_AT = _field("input_count")
_VERSION, _VERSION_AT = _field("version")

PLACE: Final = slice(_field("op")[1], _VERSION_AT)
"""Where a row tells of its op, site, scope, shape and attributes: the same in all rows of a template."""


def padded(nbytes: int) -> int:
    """The room that a value of so many bytes takes: values begin at multiples of ALIGNMENT."""
    return nbytes + schema.ALIGNMENT - 1 & -schema.ALIGNMENT


_SUMMARY_ROOM: Final = padded(schema.SUMMARY.itemsize)


class Content(Form):
    """How the values of rows are kept: what is the same in all rows of one shape and dtype.

    Args:
        dtype: Its code.
        nbytes: Bytes of a value.
        keep: The flag that says how it is kept; 0: not at all.
        layout: How such rows are packed.
        watched: Whether the value may hold NaN or Inf, and its row is to be flagged then.
        shape: The number of the shape.
    """

    __slots__ = ("dtype", "keep", "layout", "pack", "raw", "shape", "watched")

    def __init__(
        self, dtype: int, nbytes: int, keep: int, layout: str, *, watched: bool = False, shape: int = 0
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.nbytes = nbytes
        self.keep = keep
        self.layout = layout
        self.room = padded(nbytes) if keep == _KEPT else _SUMMARY_ROOM if keep == _SUMMARY else 0
        self.pack = PACKERS[layout]
        self.raw = layout == "bytes"
        self.copied = keep == _KEPT
        self.inline = keep == _INLINE
        self.floating = FLOATING.get(schema.DTYPES[dtype], 0) if keep != _SUMMARY else 0
        self.watched = watched
        self.plain = keep != _SUMMARY
        self.awaited = False


class Template(Form):
    """The part of a row that is the same each time a call site runs, and how the row's value is kept."""

    __slots__ = ("content", "fields", "flags", "keep", "pack", "raw", "special", "watched")

    def __init__(self, fields: tuple[int, ...], flags: int, content: Content, *, nodes: int = MOST_NODES) -> None:
        self.fields = fields
        self.kind = fields[0]
        # As plain numbers: to combine members of an enumeration takes as long as most of what follows here.
        flags, keep = int(flags), content.keep
        self.flags = flags | keep
        self.prefix = _PREFIX.pack(0, fields[1], self.flags, *fields[3:])
        self.nodes = nodes
        self.content = content
        self.like(content)
        self.keep = keep
        self.pack = content.pack
        self.raw = content.raw
        self.rare = self.kind > _LAST_NODE or flags & _RARE != 0
        self.awaited = False
        self.watched = content.watched
        """Whether the value may hold NaN or Inf, and its row is to be flagged then."""
        self.special = self.rare or self.raw or not keep
        """Whether a row needs more than its value copied and its fields packed."""

    def flagged(self) -> Template:
        """The same for a row whose value holds NaN or Inf."""
        twin = self.with_flags(Flag.NONFINITE)
        twin.watched = False
        twin.prefix = twin.prefix[:_VERSION_AT] + self.prefix[_VERSION_AT:]
        return twin

    def awaiting(self) -> Template:
        """The same for a row whose value comes later: it has the room, and says that there is none yet."""
        twin = self.with_flags(0)
        prefix = bytearray(self.prefix)
        _FLAGS.pack_into(prefix, _FLAGS_AT, self.flags & ~self.keep)
        twin.prefix = bytes(prefix)
        twin.awaited, twin.watched = True, False
        return twin

    def with_flags(self, flags: int) -> Template:
        """The same for rows of which more is true."""
        twin = Template(self.fields, self.flags | flags, self.content, nodes=self.nodes)
        twin.watched = self.watched
        return twin

    def links(self, inputs: tuple[int, int, int], base: int) -> tuple[int, ...]:
        """Inputs as a row holds them: rows of nodes as they are in the log, and behind those the bits of numbers."""
        nodes = self.nodes
        return tuple([each & _BITS if place >= nodes else each and each - base for place, each in enumerate(inputs)])

    def memory(self, address: int) -> Any:
        """The value of a row that is given by its address, as a producer may whose arrays are not NumPy's."""
        dtype = schema.ELEMENTS[self.fields[1]]
        value = np.frombuffer(memoryview((ctypes.c_char * self.nbytes).from_address(address)).cast("B"), dtype)
        return value if self.raw or not self.inline else value[0]

    def beside(self) -> bytes:
        """The prefix of a row whose inputs lie in `edges.npy`."""
        prefix = bytearray(self.prefix)
        (flags,) = _FLAGS.unpack_from(prefix, _FLAGS_AT)  # fewer than ours where the value comes later
        _FLAGS.pack_into(prefix, _FLAGS_AT, flags | Flag.EDGES)
        prefix[_INPUT_COUNT_AT] = 0
        return bytes(prefix)

    def turn_version(self, version: int) -> None:
        """Let the rows from here on be of this version of their tensor."""
        before, after = self.prefix[:_VERSION_AT], self.prefix[_VERSION_AT + _VERSION.size :]
        self.prefix = before + _VERSION.pack(version) + after
