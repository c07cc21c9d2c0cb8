"""Where an exception has passed."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from graphscope.eventlog.foreign_tensors import TENSOR_READERS
from graphscope.eventlog.own_files import is_internal
from graphscope.eventlog.places import left_site, misread_site
from graphscope.eventlog.writer import Writer


def passed(error: BaseException) -> Iterator[TracebackType]:
    """The frames that an exception left, the outermost first."""
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next


def site_of(writer: Writer, error: BaseException) -> int:
    """The innermost line of the program's own that an exception left; 0 where it left none."""
    found = None
    for trace in passed(error):
        library = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if library not in TENSOR_READERS and not is_internal(trace.tb_frame.f_code.co_filename):
            found = trace
    if found is not None and not (isinstance(error, SyntaxError) and found.tb_next is None):
        return left_site(writer, found)
    return misread_site(writer, error) if isinstance(error, SyntaxError) else 0
