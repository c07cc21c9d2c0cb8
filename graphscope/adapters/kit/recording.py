"""A recording of a framework's program: what all parts of an adapter share, and how it ends where we fail."""

from __future__ import annotations

from graphscope.adapters.kit.frames import Frames
from graphscope.adapters.kit.notices import warn
from graphscope.adapters.kit.op_entries import op_entry
from graphscope.eventlog.writer import Writer
from graphscope.formulas.table import formula


class Recording:
    """What is in hand from attaching to detaching.

    Args:
        writer: The log.
        framework: The framework's name, as people write it.
        frames: Tells the program's frames from others.
    """

    __slots__ = ("ended", "frames", "framework", "writer")

    def __init__(self, writer: Writer, framework: str, frames: Frames) -> None:
        self.writer = writer
        self.framework = framework
        self.frames = frames
        self.ended = False
        """Whether nothing is recorded any more."""

    def op_number(self, name: str, doc: str = "") -> int:
        """The number of an op that the log knows by name alone."""
        number = self.writer.tables["ops"].find(name)
        if number is not None:
            return number
        entry = op_entry(name, doc, known=formula(name)) | {"framework": self.framework}
        return self.writer.intern("ops", name, entry)

    def give_up(self, error: Exception) -> None:
        """Record nothing of the framework any more, and say why: the error is ours, and the program goes on."""
        if self.ended or isinstance(error, RecursionError):
            return
        self.ended = True
        warn(f"recording {self.framework} ended", error, "the program goes on unrecorded")
