"""Numbers that a client may come back with: of things that can be opened, of frames, of memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphscope.dap.protocol import RequestError
from graphscope.debugger.inspection import Entry

if TYPE_CHECKING:
    from graphscope.dap.log_session import Session

Opening = Callable[[str, int, int], Awaitable[list[Entry]]]
"""What is inside, by kind (`named`, `indexed` or both), first element and count."""


@dataclass
class Opened:
    """Something that can be opened, and what was told of its inside."""

    session: Session
    open: Opening
    expression: str = ""
    frame: int | None = None
    """The Python frame that it belongs to, counted from the outermost."""
    told: dict[str, Entry] = field(default_factory=dict)
    """What was told of it, by name."""

    def expression_of(self, name: str) -> str:
        """The Python that evaluates to something inside; empty where there is none."""
        known = self.told.get(name)
        if known is not None and known.expression:
            return known.expression
        return f"{self.expression}{name}" if name.startswith("[") and self.expression else ""


class References:
    """All numbers that are good at a position; none of them is ever given twice."""

    def __init__(self) -> None:
        self._next = 1
        self._opened: dict[int, Opened] = {}
        self._frames: dict[int, tuple[Session, int | None]] = {}
        self._memory: dict[str, tuple[Session, int]] = {}
        self._starts: dict[int, int] = {}

    def clear(self) -> None:
        """Time has moved: what was told of the last position is no longer good."""
        self._opened.clear()
        self._frames.clear()
        self._memory.clear()
        self._starts.clear()

    def frame(self, session: Session, place: int | None) -> int:
        """A number for a frame: a Python frame by its place from the outermost, or one that is none."""
        number = self._number()
        self._frames[number] = session, place
        return number

    def scope(self, session: Session, start: int | None) -> int:
        """A number for a module that one is in, which began at a row, if that is known."""
        number = self.frame(session, None)
        if start is not None:
            self._starts[number] = start
        return number

    def start_of(self, number: int) -> int:
        """The first row of a module by its frame's number.

        Raises:
            RequestError: The frame is no module, or not good here.
        """
        self.frame_of(number)
        if number not in self._starts:
            raise RequestError("That frame can't be run again", "those of modules can be gone back to")
        return self._starts[number]

    def frame_of(self, number: int) -> int | None:
        """The Python frame of a number; None for a node or a scope.

        Raises:
            RequestError: The number is not good here.
        """
        if number not in self._frames:
            raise RequestError(f"There is no frame {number} here", "stackTrace tells the frames of a stop")
        return self._frames[number][1]

    def session_of(self, number: int) -> Session:
        """The session that a frame belongs to.

        Raises:
            RequestError: The number is not good here.
        """
        self.frame_of(number)
        return self._frames[number][0]

    def add(self, opened: Opened) -> int:
        """A number for something that can be opened."""
        number = self._number()
        self._opened[number] = opened
        return number

    def get(self, number: int) -> Opened:
        """What a number stands for.

        Raises:
            RequestError: The number is not good here.
        """
        if number not in self._opened:
            raise RequestError(f"There is no variable {number} here", "scopes tells what there is at a stop")
        return self._opened[number]

    def memory_of(self, reference: str) -> tuple[Session, int]:
        """The handle of an array, and whose it is.

        Raises:
            RequestError: The reference is not good here.
        """
        if reference not in self._memory:
            raise RequestError(f"There is no memory {reference!r} here", "variables tells it of arrays")
        return self._memory[reference]

    def variable(self, session: Session, entry: Entry, frame: int | None = None) -> dict[str, Any]:
        """An entry as a client is told of it."""
        made: dict[str, Any] = {"name": entry.name, "value": entry.text, **self.inside(session, entry, frame)}
        if entry.type:
            made["type"] = entry.type
        if entry.expression:
            made["evaluateName"] = entry.expression
        return made

    def inside(self, session: Session, entry: Entry, frame: int | None = None) -> dict[str, Any]:
        """How to ask for what is inside an entry."""
        if not entry.handle:
            return {"variablesReference": 0}

        async def opening(kind: str, start: int, count: int) -> list[Entry]:
            return await session.children(entry.handle, kind, start, count)

        number = self.add(Opened(session, opening, entry.expression, frame))
        made: dict[str, Any] = {"variablesReference": number}
        if entry.indexed:
            made |= {"namedVariables": entry.named, "indexedVariables": entry.indexed}
        if entry.bytes is not None:
            self._memory[f"m{number}"] = session, entry.handle
            made["memoryReference"] = f"m{number}"
        return made

    def _number(self) -> int:
        self._next += 1
        return self._next - 1
