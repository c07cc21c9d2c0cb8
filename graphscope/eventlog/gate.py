"""Back-pressure on a live log: what a debugger installs, and how it answers the producer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from graphscope.eventlog.places import Line
    from graphscope.eventlog.writer import Writer

Aside = Callable[[], AbstractContextManager[object]]
"""Makes what the thread of the program enters while it waits: what is computed meanwhile is not the program's."""


@contextmanager
def aside(writer: Writer | None) -> Iterator[None]:
    """While the program waits between two nodes, where no producer knows that it does."""
    with ExitStack() as around:
        for each in () if writer is None else writer.asides:
            around.enter_context(each())
        yield


@dataclass(frozen=True, slots=True)
class Replace:
    """Go on with this value (or cotangent) in place of the one computed; of the same shape and dtype. Whoever answers
    so has marked the edit in the log.
    """

    value: Any
    cut: bool = False
    """Whether the value is cut off from what it was computed from: no gradient goes back through it."""


@dataclass(frozen=True, slots=True)
class StepInto:
    """Run this backward rule on tensors, so that its ops become rows of their own."""


Answer = Replace | StepInto | None


class Gate(Protocol):
    """A point before and a point after each node, where a debugger may wait. The producer holds no lock there."""

    @property
    def wants_before(self) -> bool:
        """Whether `before` is to be called at all."""

    def before(
        self, op: str, inputs: tuple[int, ...], frame: FrameType, *, called: str = "", line: Line | None = None
    ) -> None:
        """A forward op is about to run. No row of its own exists yet.

        Args:
            op: Its name.
            inputs: The rows of its inputs.
            frame: The innermost of the user's.
            called: What the program calls the node, where the line does not say.
            line: Where the op was written, if that is not where the frame is.
        """

    def after(self, row: int, value: Any, frame: FrameType, *, cuts: bool = False) -> Answer:
        """A node's row was appended and nobody has used its value yet.

        Args:
            row: The row.
            value: The value, or the cotangent.
            frame: The innermost of the user's.
            cuts: Whether the producer can cut the value off from what it was computed from.
        """

    def passed(self, frame: FrameType) -> None:
        """A backward pass has ended, and its mark was appended."""

    def stepped(self, frame: FrameType) -> None:
        """A training step has ended, and its mark was appended."""
