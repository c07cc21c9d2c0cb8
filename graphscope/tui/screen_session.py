"""Who carries commands out for the screen: a debugger over a recorded log, or later a program that runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from graphscope.debugger import interpreter, nodes
from graphscope.debugger.command_line import expand
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.interruptible import Interruptible
from graphscope.debugger.printed_text import printed_text
from graphscope.debugger.results import BreakpointInfo, Ended, Interact, Message, Result, Resumed, Stop
from graphscope.debugger.session_file import Session as KeptSession
from graphscope.errors import CommandError, GraphscopeError
from graphscope.eventlog.loss import loss_of
from graphscope.eventlog.reader import load
from graphscope.eventlog.siblings import bare, family, title
from graphscope.tui.messages import Printed

if TYPE_CHECKING:
    from pathlib import Path

    from textual.message import Message as Post

    from graphscope.eventlog.reader import Log


class Session(Protocol):
    """The other end of the screen. Its methods may take long; they are called from one thread, never the screen's."""

    state: str
    """Of a program: `starting`, `runs`, `waits`, `failed` or `ended`; empty of a recording."""
    has_output: bool
    """Whether there is, or may come, something that a program has printed."""
    begun: bool
    """Whether there is a place to stand at: a program that starts has come to its first stop."""
    kept: Path | None
    """Where the recording was kept, when it was."""

    arranged: Mapping[str, Any]
    """How the screen was arranged when it told of that last."""

    def arrange(self, screen: Mapping[str, Any]) -> None:
        """Keep with the recording how the screen is arranged."""
        ...

    def begin(self) -> list[Result]:
        """Go to where the screen is to open; nothing where there is no node yet."""
        ...

    def carry_out(self, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        """Carry out a typed line; what each of its commands answered."""
        ...

    def interrupt(self) -> None:
        """End what is being carried out, from another thread; nothing when nothing is."""
        ...

    def complete(self, line: str, word: str) -> list[str]:
        """What a word at the end of a line may become."""
        ...

    def edit(self, target: str, text: str) -> Result:
        """Let the program go on with another value of `value` or `grad`, or of one element: `grad[0, 3]`."""
        ...

    @property
    def place_to_keep(self) -> Path | None:
        """Where a recording that nobody has named can be kept; None where it stays anyway."""
        ...

    def keep(self) -> Result:
        """End the program, and keep its recording at that place."""
        ...

    def listen(self, post: Callable[[Post], object]) -> None:
        """Tell somebody of what happens without being asked for."""
        ...

    def follow(self) -> list[Result]:
        """Go where something has moved by itself: the stop, and what is attached to its breakpoint."""
        ...

    def new_log(self) -> Log | None:
        """The log, once, where the program was started again, or another log of its run was turned to."""
        ...

    def take_printed(self) -> str:
        """What the program has printed since this was asked last."""
        ...

    def type(self, text: str) -> None:
        """Type into the terminal of the program."""
        ...

    def resize(self, rows: int, columns: int) -> None:
        """Tell the terminal of the program how large it is."""
        ...

    @property
    def name(self) -> str:
        """What is looked at: the name of the log, or of the program."""
        ...

    @property
    def rank(self) -> str:
        """Which of several logs of a run is looked at: `rank 1 of 4`; empty where there is but one."""
        ...

    def release(self) -> None:
        """Let the program go on when the screen has ended."""
        ...

    @property
    def now(self) -> int:
        """The row where the debugger stands."""
        ...

    @property
    def edge(self) -> int | None:
        """The row that the program waits at; None where none waits."""
        ...

    @property
    def other(self) -> Path | None:
        """The log of the run that this one was compared with last; before, that of the run before this one."""
        ...

    @property
    def breakpoints(self) -> tuple[BreakpointInfo, ...]:
        """The breakpoints."""
        ...


def in_turn(line: str, aliases: Mapping[str, str], carry_out: Callable[[str], Result]) -> list[Result]:
    """Carry out the commands of a line, and behind a stop what is attached to its breakpoint."""
    found: list[Result] = []
    try:
        waiting = deque(expand(line, aliases))
    except GraphscopeError as error:
        return [Message(error.message, error.hint or "", error=True)]
    while waiting:
        result = carry_out(waiting.popleft())
        found.append(result)
        if isinstance(result, Ended | Resumed):
            break
        if isinstance(result, Stop):
            waiting = deque(result.commands)
    return found


class RecordedSession:
    """A debugger over a log that is finished, or that another process writes.

    Args:
        debugger: The debugger.
        kept: What was kept of the last look at the log.
    """

    state = ""
    begun = True
    kept: Path | None = None
    place_to_keep: Path | None = None
    edge: int | None = None

    def __init__(self, debugger: Debugger, kept: KeptSession | None = None) -> None:
        self._debugger = debugger
        self._kept = kept or KeptSession()
        self.arranged = self._kept.screen
        self._shown = debugger.log.path
        """The log that the screen has taken."""
        self._printed = printed_text(self._shown)
        self.has_output = bool(self._printed)
        self._family = family(self._shown)
        self._work: Interruptible[list[Result]] | None = None
        """What is carried out, while something is."""

    @property
    def name(self) -> str:
        """The name of the log; of the run, where it has several."""
        return bare(self._shown) if self.rank else self._shown.name

    @property
    def rank(self) -> str:
        """Which of several logs of a run is looked at."""
        return f"{title(self._shown) or 'main'} of {len(self._family)}" if len(self._family) > 1 else ""

    def begin(self) -> list[Result]:
        """Go to where one stood when the recording was looked at last; to the first node of one that is new."""
        if self._lost():
            return []
        self._debugger.log.refresh()
        told: list[Result] = [Message(text) for text in self._kept.said]
        row = self._kept.row
        result = interpreter.answer(self._debugger, "restart" if row is None else f"goto {row}")
        if isinstance(result, Stop):
            return [*told, replace(result, remark="")]
        log = self._debugger.log
        has_nodes = next(nodes.forward(log, log.first, log.end), None) is not None
        return [*told, result] if has_nodes else told  # an error of ours is told, and no empty screen left

    def carry_out(self, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        """Carry out a line: aliases written out, `;;` parted, and what is attached to a breakpoint behind it."""
        if lost := self._lost():
            return [lost]
        work = Interruptible(lambda: in_turn(line, self._debugger.aliases, lambda part: self._one(part, block)))
        self._work = work
        try:
            return work.do()
        except CommandError:
            return [Message("Interrupted", "what was begun is undone", error=True)]
        finally:
            self._work = None

    def _lost(self) -> Message | None:
        """What is said where nothing of the log can be read any more."""
        log = self._debugger.log
        return Message(f"{log.path}: {log.lost}", error=True) if loss_of(log) and not len(log) else None

    def _one(self, line: str, block: tuple[str, ...]) -> Result:
        result = interpreter.answer(self._debugger, line, block)
        needs = "A Python prompt needs the terminal: leave with q and add --console"
        return Message(needs, error=True) if isinstance(result, Interact) else result

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt where something is carried out; the debugger then stays where it was."""
        if (work := self._work) is not None:
            work.interrupt()

    def edit(self, target: str, text: str) -> Result:
        """Say that what is past stays as it is."""
        return Message(
            "A recording can't be changed", "graphscope debug runs the program, and waits for you", error=True
        )

    def keep(self) -> Result:
        """Say that a recording stays."""
        return Message("The recording stays where it is")

    def arrange(self, screen: Mapping[str, Any]) -> None:
        """Keep how the screen is arranged."""
        self.arranged = screen

    def release(self) -> None:
        """No program runs here."""

    def listen(self, post: Callable[[Post], object]) -> None:
        """Tell of what the program has printed, if that was kept; nothing else happens in a recording."""
        if self._printed:
            post(Printed())

    def follow(self) -> list[Result]:
        """Nothing happens by itself in a recording."""
        return []

    def new_log(self) -> Log | None:
        """The log, once, where another of the run was turned to."""
        path = self._debugger.log.path
        if path == self._shown:
            return None
        self._shown, self._family = path, family(path)
        return load(path)

    def take_printed(self) -> str:
        """What the program has printed, once."""
        text, self._printed = self._printed, ""
        return text

    def type(self, text: str) -> None:
        """No program has a terminal here."""

    def resize(self, rows: int, columns: int) -> None:
        """No program has a terminal here."""

    def complete(self, line: str, word: str) -> list[str]:
        """What a word at the end of a line may become."""
        return interpreter.complete(self._debugger, line, word)

    @property
    def now(self) -> int:
        """The row where the debugger stands."""
        return self._debugger.now

    @property
    def other(self) -> Path | None:
        """The log of the run that this one was compared with last."""
        return self._debugger.other

    @property
    def breakpoints(self) -> tuple[BreakpointInfo, ...]:
        """The breakpoints."""
        return tuple(found.info for found in self._debugger.breakpoints)
