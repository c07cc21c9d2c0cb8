"""What regions and workers tell each other; only handlers of these touch widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from graphscope.debugger.results import Result

if TYPE_CHECKING:
    from graphscope.graph.modules import Call


class CommandRequested(Message):
    """A person wants a command carried out."""

    def __init__(self, line: str, block: tuple[str, ...] = (), *, quiet: bool = False) -> None:
        super().__init__()
        self.line = line
        self.block = block
        self.quiet = quiet
        """It was a key, not a typed line: only what is not a plain stop is told at the prompt."""


class CommandAnswered(Message):
    """A command was carried out."""

    def __init__(self, request: CommandRequested, results: tuple[Result, ...], now: int) -> None:
        super().__init__()
        self.request = request
        self.results = results
        self.now = now


class Edited(Message):
    """A person wants the program to go on with another value, of all or of one element (`grad[0, 3]`)."""

    def __init__(self, target: str, text: str) -> None:
        super().__init__()
        self.target = target
        self.text = text


class Prefill(Message):
    """The prompt is to begin with a line that the person may change."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line


class ModuleChosen(Message):
    """One stands on a module as a whole, or does not any more."""

    def __init__(self, by: str, call: Call | None) -> None:
        super().__init__()
        self.by = by
        """The region where one does."""
        self.call = call


class MarkChosen(Message):
    """A person asks for what a mark of a finding stands for."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row
        """The row where it is marked."""


class Moved(Message):
    """One stands somewhere else without a command: the program has come to a stop."""


class Printed(Message):
    """The program has printed something, which the session keeps until it is taken."""


class Notice(Message):
    """The debugger says something that is no answer: the message of a breakpoint, a complaint."""

    def __init__(self, text: str, *, error: bool = False) -> None:
        super().__init__()
        self.text = text
        self.error = error
        """Something has failed."""


class Typed(Message):
    """A person types into the terminal of the program."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Zoomed(Message):
    """The timeline shows another part of the run."""
