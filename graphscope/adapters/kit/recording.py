"""A recording of a framework's program: what all parts of an adapter share, and how it ends where we fail."""

from __future__ import annotations

from collections.abc import Sequence

from graphscope.adapters.kit.frames import Frames
from graphscope.adapters.kit.notices import warn
from graphscope.adapters.kit.op_entries import Argument, op_entry
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

    def op_number(self, name: str, doc: str = "", function: str = "", signature: Sequence[Argument] = ()) -> int:
        """The number of an op in the table `ops`.

        Args:
            name: What the log calls it.
            doc: What it does, in a sentence.
            function: What the framework calls it.
            signature: Its parameters in order, where they are known.
        """
        key = (name, function, *signature) if function or signature else name
        number = self.writer.tables["ops"].find(key)
        if number is not None:
            return number
        known = formula(name, [each.name for each in signature])
        entry = op_entry(name, doc, signature, known) | {"framework": self.framework}
        if function:
            entry["function"] = function
        return self.writer.intern("ops", key, entry)

    def give_up(self, error: Exception) -> None:
        """Record nothing of the framework any more, and say why: the error is ours, and the program goes on."""
        if self.ended or isinstance(error, RecursionError):
            return
        self.ended = True
        warn(f"recording {self.framework} ended", error, "the program goes on unrecorded")
