"""What regions and workers tell each other; only handlers of these touch widgets."""

from __future__ import annotations

from textual.message import Message

from graphscope.debugger.results import Result
from graphscope.tui.scene import Mark


class Asked(Message):
    """A person wants a command carried out."""

    def __init__(self, line: str, block: tuple[str, ...] = (), *, quiet: bool = False) -> None:
        super().__init__()
        self.line = line
        self.block = block
        self.quiet = quiet
        """It was a key, not a typed line: only what is not a plain stop is told at the prompt."""


class Answered(Message):
    """A command was carried out."""

    def __init__(self, asked: Asked, results: tuple[Result, ...], now: int, marks: tuple[Mark, ...]) -> None:
        super().__init__()
        self.asked = asked
        self.results = results
        self.now = now
        self.marks = marks


class Prefill(Message):
    """The prompt is to begin with a line that the person may change."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line


class Grown(Message):
    """More rows of the log are known than before."""

    def __init__(self, end: int, closed: bool) -> None:
        super().__init__()
        self.end = end
        self.closed = closed

    def can_replace(self, message: Message) -> bool:
        """A newer one says all that an older one said."""
        return isinstance(message, Grown)
