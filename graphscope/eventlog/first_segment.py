"""The first segment of a log: it has room for the first steps of a program, and takes what disk they fill."""

from __future__ import annotations

from pathlib import Path

from graphscope.eventlog.interruptions import own
from graphscope.eventlog.segment import Segment
from graphscope.eventlog.segment_sizes import SegmentSizes


def first_segment(folder: Path, sizes: SegmentSizes) -> Segment:
    """Make it, in a folder of its own.

    Its disk space is reserved as values come, where the system can do that, so that no second one need be made, and the
    leaves be written again there, in a first step of some megabytes. Elsewhere it is small.

    Raises:
        OSError: The disk is full, or the folder can't be written.
    """
    if sizes.first_bytes > sizes.bytes:
        try:
            return Segment(folder, 0, sizes.rows, sizes.first_bytes, bit_by_bit=True)
        except own(OSError):  # as of a file system that reserves nothing, or a limit to the length of files
            pass
    return Segment(folder, 0, sizes.rows, sizes.bytes)
