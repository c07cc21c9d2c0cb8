"""The program's end of a debugger that lives in another process: the gate, and answers while the program waits."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from traceback import walk_stack
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from graphscope import _version
from graphscope.debugger import frames, nodes, recorded_frames
from graphscope.debugger.breakpoints import Breakpoint
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import describe
from graphscope.debugger.gate import LiveGate, Quit
from graphscope.debugger.inspection import Handles
from graphscope.debugger.json_data import from_json, to_json
from graphscope.debugger.motion import BEGINNING, CONTINUE, Plan
from graphscope.debugger.questions import QUESTIONS, stand
from graphscope.debugger.results import Ended, Frame, Message, Resumed, Stop
from graphscope.debugger.setup import set_up, setup_of
from graphscope.debugger.wire import Channel
from graphscope.errors import GraphscopeError
from graphscope.eventlog import record as recording
from graphscope.eventlog import siblings
from graphscope.eventlog.gate import aside

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.eventlog.writer import Writer

Program = Callable[[Callable[[BaseException], None]], int]
"""Runs a program; calls back with the exception that left it, if one did; returns its exit status."""

Around = Callable[["Remote", Mapping[str, Any]], AbstractContextManager[None]]


def _nothing_around(remote: Remote, kept: Mapping[str, Any]) -> AbstractContextManager[None]:
    return nullcontext()


ATTENTION: Final = getattr(signal, "SIGURG", None)
"""Sent to a program that runs when there is something for it to read; nobody else uses it, and it is ignored by
default. Where there is no such signal, a thread reads."""


class Remote:
    """The front end of a session that is somewhere else: tells of stops, and answers questions until one lets go on.

    Args:
        channel: The line.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.handles = Handles()
        self.left = False
        """The debugger has gone."""
        self.wishes: dict[str, Any] = {}
        """What the debugger said when it let the program begin."""
        self.process = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=channel.close)  # else the line would live as long as the child
        self.answering = False
        """Messages are read by whoever answers."""
        self.computing = False
        """What is asked for is being found out: that may be interrupted."""
        self._reading = threading.Lock()

    def __call__(self, debugger: Debugger, stop: Stop) -> Ended | None:
        """Tell that the program waits, and answer until it may go on."""
        if self.left:
            return self.alone
        edge = debugger.edge
        self.answering = True  # from the moment on that there may be a question
        self._send(
            {
                "event": "stopped",
                "stop": to_json(stop),
                "edge": debugger.now if edge is None else edge.row,
                "pending": None if edge is None else to_json(edge.pending),
                "passed": edge is None or edge.passed,
                "frames": to_json(_frames(debugger)),
                "thread": threading.get_ident(),
                "counts": to_json(setup_of(debugger)),
            }
        )
        self.handles.clear()
        return self.answer(debugger)

    @property
    def alone(self) -> Ended | None:
        """What becomes of the program when the debugger is gone."""
        return Ended() if self.wishes.get("ends") else None

    def answer(self, debugger: Debugger) -> Ended | None:
        """Answer until one of the answers ends the wait."""
        self.answering = True
        try:
            while True:
                with self._reading:
                    message = self.channel.receive()
                if message is None:
                    self.left = True
                    return self.alone
                over, ended = self._one(debugger, message)
                if over:
                    return ended
        finally:
            self.answering = False

    def _one(self, debugger: Debugger, message: dict[str, Any]) -> tuple[bool, Ended | None]:
        """Answer one message; whether the wait is over, and how."""
        match message.get("ask"):
            case "setup":
                set_up(debugger, from_json(message["setup"]))
            case "begin":
                self.wishes = message
                return True, None
            case "leave":
                self.left = True
                return True, None
            case "end":
                self.left = True
                return True, Ended()
            case "pause" | "halt":
                pass  # it waits already
            case _:
                return self._question(debugger, message), None
        return False, None

    def _question(self, debugger: Debugger, message: dict[str, Any]) -> bool:
        """Answer a question; whether the program may go on."""
        blob = b""
        body: dict[str, Any]
        resumes = False
        try:
            ask = QUESTIONS[message["ask"]]
            stand(debugger, message)
            try:  # an interrupt is raised in here and nowhere else
                self.computing = True
                result, blob = ask(debugger, self.handles, message)
            finally:
                self.computing = False
            resumes = isinstance(result, Resumed)
            counts = to_json(setup_of(debugger))
            body = {"result": to_json(result), "now": debugger.now, "counts": counts}
        except KeyboardInterrupt:
            body = _error("That was interrupted")
        except GraphscopeError as error:
            body = _error(error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - whatever the program's own code raises, the program must go on
            body = _error(describe(error))
        if resumes:
            self.handles.clear()
        self._send({"reply": message.get("id"), **body}, blob)
        return resumes

    def attend(self, gate: RemoteGate, frame: FrameType | None) -> None:
        """Read what has come while the program runs; `frame` is where it is, if it can be stopped there."""
        if self.answering or os.getpid() != self.process or not self._reading.acquire(blocking=False):
            return
        halted = False
        try:
            while not self.left and self.channel.waiting():
                message = self.channel.receive() or {"ask": "gone"}
                match message["ask"]:
                    case "setup":
                        set_up(gate.debugger, from_json(message["setup"]))
                    case "pause":
                        gate.pause()
                    case "halt":
                        halted = frame is not None
                        break
                    case "gone":
                        self.left = True
                        gate.ended = self.alone
                    case "leave" | "end":
                        self.left = True
                        gate.ended = Ended() if message["ask"] == "end" else None
                    case _:
                        self._send({"reply": message.get("id"), **_error("The program runs", "pause it first")})
        finally:
            self._reading.release()
        gate.settle(frame)
        if frame is not None and gate.ended is not None:
            raise Quit(0)
        if halted and frame is not None:
            gate.halt(frame)

    def say(self, debugger: Debugger, found: Breakpoint, text: str) -> None:
        """Pass on what a breakpoint says."""
        self._send({"event": "said", "breakpoint": found.number, "text": text, "place": nodes.spot(debugger.node)})

    def tell(self, event: str, **what: Any) -> None:
        """Tell of something that has happened."""
        self._send({"event": event, **what})

    def _send(self, message: dict[str, Any], blob: bytes = b"") -> None:
        if not self.left and not self.channel.send(message, blob):
            self.left = True


class RemoteGate(LiveGate):
    """A gate that is there only while something may stop the program: without one, the program runs at full speed."""

    def __init__(self, debugger: Debugger, remote: Remote, writer: Writer, floor: CodeType | None) -> None:
        self._remote = remote
        self._writer = writer
        super().__init__(debugger, remote, floor=floor)

    def settle(self, frame: FrameType | None = None) -> None:
        """Stand in front of the log, or get out of the way.

        Args:
            frame: The innermost of the program's, if it runs already.
        """
        self._writer.gate = None  # first: a signal that comes in between puts it back
        waits = self.wants_before or self.debugger.breakpoints.look_between_nodes
        if self.ended is not None or not (self._remote.left or (self.idle and not waits)):
            self._writer.gate = self
        self.look_out(frame)

    def ask(self, stop: Stop, plan: Plan | None = None) -> None:
        """As any gate; what was said may leave nothing to stop at."""
        super().ask(stop, plan)
        self.settle(None if self.debugger.edge is None else self.debugger.edge.frame)
        self._remote.attend(self, None)  # what came while it was being answered

    def halt(self, frame: FrameType) -> None:
        """Stop where the program is, between two nodes: it has come to none since it was asked to pause."""
        if any(each.f_code in _AT_NODES for each, _ in walk_stack(frame)):
            return  # it is at one, and stops there
        with self._turn, aside(self._writer):
            self._between(frame, frames.describe(frame).place)
            self.ask(self.debugger.stop("pause"))
            self.debugger.edge = None


_AT_NODES: Final = tuple(each.__code__ for each in (LiveGate.before, LiveGate.after, LiveGate.passed, LiveGate.stepped))


def debug_program(
    program: Program, channel: Channel, *, around: Around = _nothing_around, log: Path | None = None, **kept: Any
) -> int:
    """Run a program whose debugger is at the other end of a line.

    Args:
        program: Runs it.
        channel: The line.
        around: What holds while it runs, made of its front end and of what is recorded of it.
        log: Where it is recorded; None for a recording in memory.
        kept: What is recorded of it: `values` and `capture` of `record`.

    Returns:
        The exit status of the program.

    Raises:
        GraphscopeError: The log can't be written.
    """
    remote = Remote(channel)
    with recording.record(log, **kept) as recorded:
        siblings.lead(recorded.path)
        gate = gate_of(recorded, remote, debug_program.__code__)
        failures: list[BaseException] = []
        with attending(remote, gate):
            begin(remote, gate)
            with around(remote, kept):
                status = program(failures.append) if gate.ended is None else 0
        if os.getpid() != remote.process:
            return status  # a child that the program forked: the debugger belongs to its parent
        if failures:
            recording.exception(failures[0])
        if gate.ended is None:
            with attending(remote, gate), suppress(Quit):
                gate.finished(sys._getframe())
        gate.debugger.edge = None
        gate.stop_tracing()
        _writer().gate = None
    if failures and remote.wishes.get("failures"):  # nothing is recorded any more: who looks adds nothing
        recorded.refresh()
        died = Debugger(recorded, died=frames.of_traceback(failures[0].__traceback__))
        set_up(died, setup_of(gate.debugger))
        remote(died, died.stand_at_failure())
    remote.tell("ended", status=status)
    return status


def gate_of(log: Log, remote: Remote, floor: CodeType | None = None) -> RemoteGate:
    """A gate on the log that is being recorded."""
    debugger = Debugger(log, can_restart=True)
    debugger.breakpoints.say = partial(remote.say, debugger)
    return RemoteGate(debugger, remote, _writer(), floor)


def begin(remote: Remote, gate: RemoteGate) -> None:
    """Introduce the program to its debugger, and wait until it may begin."""
    path, version = str(gate.debugger.log.path), _version.__version__
    remote.answering = True
    remote.tell("hello", pid=os.getpid(), log=path, version=version, python=sys.version.split()[0], argv=sys.argv)
    gate.ended = remote.answer(gate.debugger)
    wanted = from_json(remote.wishes.get("again"))
    if wanted is None:
        gate.go(BEGINNING[gate.debugger.granularity] if remote.wishes.get("stop") else CONTINUE)
    else:
        gate.go_again(wanted)
    gate.settle()
    remote.attend(gate, None)  # what came behind it, whose signal may have been too early


@contextmanager
def attending(remote: Remote, gate: RemoteGate) -> Iterator[None]:
    """As `attend_to`, for a while."""
    before = attend_to(remote, gate)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def attend_to(remote: Remote, gate: RemoteGate) -> dict[int, Any]:
    """Read what the debugger says while the program runs, and let Ctrl-C stop the program.

    Returns:
        The handlers of signals that were there before.
    """
    if ATTENTION is None or threading.current_thread() is not threading.main_thread():
        threading.Thread(target=_attend_always, args=(remote, gate), name="graphscope", daemon=True).start()
        return {}

    def interrupt(number: int, frame: FrameType | None) -> None:
        if remote.left or remote.computing or os.getpid() != remote.process or not (remote.answering or gate.pause()):
            signal.default_int_handler(number, frame)
        gate.settle(frame)

    return {
        ATTENTION: signal.signal(ATTENTION, lambda number, frame: remote.attend(gate, frame)),
        signal.SIGINT: signal.signal(signal.SIGINT, interrupt),
    }


def _attend_always(remote: Remote, gate: RemoteGate) -> None:
    while not remote.left:
        remote.channel.wait()
        remote.attend(gate, None)
        if remote.answering:  # the thread that waits reads
            time.sleep(_SPELL)


_SPELL: Final = 0.02


def _frames(debugger: Debugger) -> tuple[Frame, ...]:
    """The program's frames, wherever one stands."""
    edge = debugger.edge
    return debugger.where().frames if edge is None else recorded_frames.waiting(edge.stack, {}, debugger.node)


def _writer() -> Writer:
    writer = recording.active()
    assert writer is not None
    return writer


def _error(message: str, hint: str | None = None) -> dict[str, Any]:
    return {"error": to_json(Message(message, hint or "", error=True))}
