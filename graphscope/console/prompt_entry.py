"""Ways to the prompt: a line of the program, an exception, a log, the command line."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from graphscope.console import interrupts
from graphscope.console.console import Console
from graphscope.debugger import frames, nodes
from graphscope.debugger.breakpoints import read
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.gate import LiveGate, Quit
from graphscope.debugger.motion import STEP
from graphscope.debugger.results import Ended, Stop
from graphscope.debugger.session_file import restore, save
from graphscope.errors import UsageError
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import Log, load

Program = Callable[[tuple[str, ...] | None, Callable[[BaseException], None]], int]
"""Runs a program from its beginning, with other arguments unless they are None; calls back with the exception that
left it, if one did; returns its exit status."""


def set_trace(*, header: str | None = None) -> None:
    """Stop the program at its next node, at a prompt like pdb's.

    Where nothing is being recorded, a recording in memory begins. `PYTHONBREAKPOINT=graphscope.set_trace` lets
    `breakpoint()` do this.

    Args:
        header: Printed at once.
    """
    if header is not None:
        Console().say(header)
    writer = recording.active()
    if writer is not None and isinstance(writer.gate, LiveGate):
        writer.gate.go(STEP)
        return
    log = recording.record().__enter__() if writer is None else load(writer.path)
    writer = recording.active()
    assert writer is not None
    gate = writer.gate = LiveGate(Debugger(log), Console(), first=STEP)
    interrupts.install(gate)


def post_mortem(log: Log | str | os.PathLike[str] | None = None, error: BaseException | None = None) -> None:
    """Look at what was recorded of a program that failed, at the node that failed.

    Args:
        log: The log; the one that is being recorded, if none is given.
        error: The exception; the one that is handled or was last reported, if none is given.

    Raises:
        UsageError: No log is given and none is being recorded.
    """
    chosen = _opened(log)
    failure = error or sys.exc_info()[1] or getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    trace = failure.__traceback__ if failure is not None else None
    debugger = Debugger(chosen, died=frames.of_traceback(trace))
    _over_log(debugger, Console(), lambda: debugger.stand_at_failure(failure))


def open_console(log: Log | str | os.PathLike[str], *, commands: Sequence[str] = ()) -> int:
    """Step through a recorded log at the prompt, from its first node on.

    Returns:
        The exit status.
    """
    debugger = Debugger(_opened(log))
    restore(debugger)
    try:
        return _over_log(debugger, Console(commands))
    finally:
        save(debugger)


def debug_program(
    program: Program,
    *,
    log: Path | None = None,
    values: str = "full",
    capture: str = "calls+backward",
    breakpoints: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> int:
    """Run a program under the debugger: it stops at its first node, and when it has ended what it did can be looked at.

    Args:
        program: Runs it.
        log: Where it is recorded; None for a recording in memory.
        values: What the recording keeps of values.
        capture: How much is told of a framework's program, as in `record`.
        breakpoints: What is given to `break` ahead of the first stop.
        commands: Commands that are carried out at the first stop.

    Returns:
        The exit status of the program; 0 when the person left it.

    Raises:
        GraphscopeError: A breakpoint is not understood, or the log can't be written.
    """
    for text in breakpoints:
        read(text, file="")
    console = Console([*(f"break {text}" for text in breakpoints), *commands])
    arguments: tuple[str, ...] | None = None
    kept: Debugger | None = None
    while True:
        with recording.record(log, values=values, capture=capture) as recorded:
            debugger = Debugger(recorded, can_restart=True)
            if kept is not None:
                _keep(kept, debugger)
            gate = LiveGate(debugger, console, floor=debug_program.__code__)
            writer = recording.active()
            assert writer is not None
            writer.gate = gate
            failures: list[BaseException] = []
            process = os.getpid()
            with interrupts.handled(gate):
                status = program(arguments, failures.append)
            if os.getpid() != process:
                return status  # a child that the program forked: the prompt belongs to its parent
            if failures:
                recording.exception(failures[0])
            if gate.ended is None:
                with contextlib.suppress(Quit):
                    gate.finished(sys._getframe())
            writer.gate = None
        ended = gate.ended
        if ended is None:
            recorded.refresh()
            died = frames.of_traceback(failures[0].__traceback__) if failures else None
            finished = Debugger(recorded, died=died, can_restart=True)
            _keep(debugger, finished)
            ended = _after(finished, console, status, failed=bool(failures))
            debugger = finished
        else:
            status = 0
        if ended is None or not ended.restart:
            if log is not None:
                save(debugger)
            return status
        console.say("Restarting the program")
        arguments, kept = ended.arguments or arguments, debugger


def _after(debugger: Debugger, console: Console, status: int, *, failed: bool) -> Ended | None:
    """The prompt over what a program did that has ended."""
    last = next(nodes.backward(debugger.log, debugger.log.first, debugger.log.end), None)
    if last is None:
        console.say(f"The program has ended with status {status}; it made no node")
        return Ended()
    if failed:
        return console(debugger, debugger.stand_at_failure())
    debugger.stand(last)
    return console(
        debugger,
        debugger.stop("end", remark=f"the program has ended with status {status}; rn and rc go back, q leaves"),
    )


def _over_log(debugger: Debugger, console: Console, begin: Callable[[], Stop] | None = None) -> int:
    log = debugger.log
    first = nodes.entry(log)
    if first is None:
        console.say(f"The log {log.path} holds no nodes")
        return 0
    if begin is not None:
        stop = begin()
    else:
        debugger.stand(first)
        remark = f"the beginning of {log.path}: rows #{log.first} to #{log.end - 1}"
        stop = debugger.stop("entry", remark=f"{remark}; {log.stopped}" if log.stopped else remark)
    console(debugger, stop)
    return 0


def _keep(old: Debugger, new: Debugger) -> None:
    """Take over what a person set up; rows are of another run, so watches that speak of one are left behind."""
    new.breakpoints = old.breakpoints
    new.displays = old.displays
    new.aliases = old.aliases
    new.watches = {number: watch for number, watch in old.watches.items() if watch.row is None}
    if new.log is old.log:
        new.checkpoints = old.checkpoints
        new.watches = old.watches


def _opened(log: Log | str | os.PathLike[str] | None) -> Log:
    if log is None:
        writer = recording.active()
        if writer is None:
            raise UsageError(
                "No log is being recorded",
                "record what fails: with gs.record() as log: ...; or give a log: post_mortem(log)",
            )
        return load(writer.path)
    if isinstance(log, Log):
        log.refresh()
        return log
    return load(log)
