"""What an adapter shows: a position in a log, and all queries about it. Behind it may be a program that runs."""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from graphscope.dap.worker import Progress, Worker
from graphscope.debugger import expression_names, interpreter, nodes
from graphscope.debugger.command_line import resolve
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import RAISED, describe, parse
from graphscope.debugger.failure import UNKNOWN
from graphscope.debugger.inspection import Entry, Handles
from graphscope.debugger.questions import run_of
from graphscope.debugger.recorded_tensor import Recorded
from graphscope.debugger.results import Ended, Interact, Message, Result, Resumed, Stop
from graphscope.debugger.setup import keep_setup
from graphscope.debugger.value_results import as_array
from graphscope.errors import CommandError

if TYPE_CHECKING:
    from pathlib import Path

    from graphscope.debugger.recorded_locals import RecordedLocals
    from graphscope.debugger.results import Raised
    from graphscope.debugger.step_targets import Target
    from graphscope.eventlog.reader import Log


READING: Final = 5.0
"""Seconds that an expression may take."""


class Listener(Protocol):
    """Who hears what happens in a session without being asked for."""

    def stopped(self, stop: Stop) -> None:
        """One stands somewhere else."""

    def resumed(self) -> None:
        """The program runs."""

    def said(self, text: str, place: Sequence[Any] | None) -> None:
        """A breakpoint has said something of a node at a place: a file and a line."""

    def started(self, name: str, process: int, place: str) -> None:
        """The program has started another process, which waits for a debugger at a place."""

    def ended(self, code: int | None) -> None:
        """The program has ended; its exit code, if it is known."""

    def progressed(self, how: Progress) -> None:
        """Something that takes long has come so far."""


class Session:
    """A log, finished or growing, and a position in it. Nothing runs.

    Args:
        log: The log.
        listener: Hears of what happens.
    """

    failed = False
    """Whether something went wrong with the program, so that one stays at its exception, or after its end."""
    raised: Raised | None = None
    """The exception that left the program, where one stands at it."""
    ended = False
    """Whether the program has ended, and one has stayed to look at what it did."""

    def __init__(self, log: Log, listener: Listener) -> None:
        self.listener = listener
        self.worker = Worker(listener.progressed)
        self.handles = Handles()
        self._take(log)

    def _take(self, log: Log) -> None:
        self.debugger = Debugger(log)
        self.debugger.breakpoints.say = lambda _, text: self.listener.said(text, nodes.spot(self.debugger.node))

    # What it is ------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether the program runs, so that there is no position to speak of."""
        return False

    @property
    def grows(self) -> bool:
        """Whether a program may still add to the log."""
        return False

    @property
    def waits_here(self) -> bool:
        """Whether the program waits exactly here, and answers."""
        return False

    @property
    def thread(self) -> int:
        """The thread, by its number in the log, that the position belongs to."""
        log, now = self.debugger.log, self.debugger.now
        return max(log.event(now).thread, 1) if log.first <= now < log.end else 1

    # Queries ---------------------------------------------------------------------------------------------------------

    async def command(self, line: str, block: tuple[str, ...] = (), frame: int | None = None) -> Result:
        """Carry out a line of the debugger's own language; where it moves, the listener hears of it first."""
        await self.worker.settled()
        before = self.debugger.now
        result = await self._carried_out(line, block, frame)
        if isinstance(result, Interact):
            return Message("A Python prompt needs a terminal", "graphscope debug --console", error=True)
        if isinstance(result, Stop):
            self.moved(result)
        elif self.debugger.now != before and not isinstance(result, Resumed):
            self.moved(self.debugger.stop())
        return result

    async def _carried_out(self, line: str, block: tuple[str, ...], frame: int | None) -> Result:
        began = self.debugger.now
        try:
            with self._chosen(frame):
                result = await self.worker.do(
                    partial(interpreter.answer, self.debugger, line, block), part=lambda: self._way_from(began)
                )
        except CommandError as error:
            return Message(error.message, error.hint or "", error=True)
        if isinstance(result, Ended) and not result.restart:
            return Message("`disconnect` leaves the session", error=True)
        return result

    @contextmanager
    def _chosen(self, frame: int | None) -> Iterator[None]:
        """Have a frame chosen for what is asked in it alone, unless that chooses another, or moves."""
        debugger = self.debugger
        before, now = debugger.frame_index, debugger.now
        debugger.frame_index = before if frame is None else frame
        try:
            yield
        finally:
            if (debugger.frame_index, debugger.now) == (frame, now):
                debugger.frame_index = before

    def _way_from(self, began: int) -> float | None:
        """How much of the way that may be gone from a row, in either direction, lies behind."""
        log, now = self.debugger.log, self.debugger.now
        whole = began - log.first if now < began else log.end - began
        return abs(now - began) / whole if now != began and whole > 0 else None

    def moved(self, stop: Stop) -> None:
        """One stands somewhere else now."""
        self.handles.clear()
        self.raised = stop.raised
        self.listener.stopped(stop)

    async def look(self, expression: str, frame: int | None = None) -> Entry:
        """The value of an expression, as something that can be opened.

        Raises:
            CommandError: It has none.
        """
        with self._chosen(frame):
            value = await self.worker.do(partial(evaluate, self.debugger, expression), patience=READING)
        return self.handles.entry(expression, value, expression)

    async def hover(self, expression: str, frame: int | None) -> Entry:
        """What an expression in the source of a frame is: its names are those of the frame, and no others.

        Raises:
            CommandError: That is not known.
        """
        recorded = self.recorded_locals(frame)
        value = None
        if recorded is not None:
            value = await self.worker.do(partial(_value_in, recorded, expression), patience=READING)
        if value is None:
            raise CommandError(f"What {expression} is here is not known")
        return self.handles.entry(expression, value)

    def is_recalled(self, expression: str, frame: int | None) -> bool:
        """Whether an expression is over known variables of a frame that is over, while the program waits in others."""
        return False

    async def tensor(self, path: str, frame: int | None) -> int | str | None:
        """The row of the tensor that names of a frame lead to, -1 of one that has none; the type of what is none.

        None where the names lead nowhere, as far as is known.
        """
        recorded = self.recorded_locals(frame)
        return recorded[path].row if recorded is not None and path in recorded else None

    def recorded_locals(self, frame: int | None) -> RecordedLocals | None:
        """What the log knows of the variables of a frame; None stands for that of the node."""
        return self.debugger.recorded_locals(frame)

    def live_frame(self, frame: int | None) -> int | None:
        """The place of a frame among those that the program waits in, where it is one of them."""
        return None

    async def variables(self, frame: int | None, which: str) -> list[Entry]:
        """The variables of a frame, as far as they are known."""
        recorded = self.recorded_locals(frame) if which == "locals" else None
        return [] if recorded is None else [self.handles.entry(name, Recorded(recorded[name])) for name in recorded]

    async def children(self, handle: int, kind: str, start: int, count: int) -> list[Entry]:
        """What is inside an object; handles below zero are the program's."""
        return self.handles.children(handle, kind, start, count)

    async def memory(self, handle: int, offset: int, count: int) -> tuple[int, bytes]:
        """The size of an array's memory and a run of its bytes."""
        value, _ = self.handles.get(handle)
        array = as_array(value)
        if array is None:
            raise CommandError("That variable has no memory that can be read", "arrays and tensors have")
        return array.nbytes, run_of(array, offset, count)

    async def assign(self, target: str, expression: str, frame: int | None = None) -> Entry:
        """Give what the program waits with, or a variable of it, another value.

        Raises:
            CommandError: No program waits here.
        """
        raise CommandError("What is past can't be changed, only what the program waits with", "launch the program")

    async def complete(self, line: str, word: str, frame: int | None = None) -> list[str]:
        """What a word at the end of a line may become in a frame; None stands for that of the node."""
        return interpreter.complete(self.debugger, line, word, self.recorded_locals(frame))

    async def step_targets(self, frame: int | None) -> list[Target]:
        """The calls that are to come in the line of a frame."""
        return []

    async def is_of_program(self, line: str, frame: int | None) -> bool:
        """Whether a line that names a command is Python over a variable of the program, which then wins."""
        name = variable_of(line)
        recorded = self.recorded_locals(frame)
        of_frame = recorded is not None and (name in recorded or recorded.owns(name))
        return bool(name) and (of_frame or expression_names.newest(self.debugger.graph, name) is not None)

    def changed_setup(self) -> None:
        """Breakpoints, watches or displays were changed."""

    # Queries of a program --------------------------------------------------------------------------------------------

    def take_over(self, old: Debugger, earlier: Path | None) -> None:
        """Have what a person set up in the run before, whose log is `earlier`."""
        keep_setup(old, self.debugger, earlier)

    async def pause(self) -> None:
        """Stop the program at its next node, or what is being done about the past."""
        self.worker.interrupt()

    async def leave(self, *, end: bool) -> None:
        """Let go of the program, or end it."""

    def close(self) -> None:
        """See that nothing is left open."""
        self.worker.interrupt()

    async def let_go(self) -> None:
        """Leave what the program did behind."""
        self.listener.ended(None)

    def stand_at_end(self, code: int | None) -> None:
        """Stand at the last node of a program that has ended, or at the one that failed."""
        self.ended, self.failed = True, bool(code)
        ending = _ending(code)
        stop = self.debugger.stand_at_failure(otherwise=f"{ending}: {UNKNOWN}") if code else self._at_last()
        is_said = stop.raised is not None and not stop.raised.type
        self.moved(replace(stop, remark="" if is_said else ending))

    @property
    def at_end(self) -> bool:
        """Whether the program has ended, or failed, and one stands behind all that it did."""
        return (self.ended or self.failed) and self.debugger.now >= self._last()

    def _last(self) -> int:
        log = self.debugger.log
        return next(nodes.backward(log, log.first, log.end), log.first - 1)

    def _at_last(self) -> Stop:
        self.debugger.stand(self._last())
        return self.debugger.stop("end")

    def begin(self) -> None:
        """Stand at the beginning, and say so."""
        debugger = self.debugger
        log = debugger.log
        first = nodes.entry(log)
        if first is None:
            self.listener.ended(None)
            return
        debugger.stand(first)
        self.moved(debugger.stop("entry"))


def _ending(code: int | None) -> str:
    """How a program ended, in words."""
    if code is None:
        return "the program is gone"
    if code >= 0:
        return f"the program has ended with status {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"the program was killed by {names.get(-code, f'signal {-code}')}"


def _value_in(recorded: RecordedLocals, expression: str) -> object:
    """The value of an expression among the recorded variables of a frame.

    Raises:
        CommandError: It has none.
    """
    try:
        return parse(expression).evaluate(expression_names.lookup_in(recorded))
    except RAISED as error:  # what is under the mouse may be anything
        raise CommandError(describe(error)) from None


def needs_of(line: str) -> str:
    """Who carries a line out: see `Needs`."""
    found, _ = resolve(line)
    return "edge" if found is None else found.needs


def changes(line: str) -> bool:
    """Whether a line may change what the program waits with, or its variables."""
    found, _ = resolve(line)
    return found is None or found.name in ("set", "cut", "inject_value")


def variable_of(line: str) -> str:
    """The first word of a line that is Python and a command alike: `h + 1`; empty where it is one of them alone."""
    found, _ = resolve(line)
    word = _WORD.match(line.strip())
    try:
        ast.parse(line.strip())
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return "" if found is None or word is None else word[0]


_WORD: Final = re.compile(r"[A-Za-z_]\w*")
