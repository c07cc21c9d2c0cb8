"""Ways to the prompt: a line of the program, an exception, a log, the command line."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from graphscope.console import interrupts
from graphscope.console.console import Console
from graphscope.debugger import frames, nodes
from graphscope.debugger.breakpoint_reading import read
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.gate import LiveGate, Quit
from graphscope.debugger.motion import STEP
from graphscope.debugger.results import Ended, Stop
from graphscope.debugger.session_file import restore, save
from graphscope.debugger.setup import keep_setup
from graphscope.errors import UsageError
from graphscope.eventlog import record as recording
from graphscope.eventlog import siblings
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
    kept = restore(debugger)
    console = Console(commands)
    for sentence in kept.said:
        console.say(sentence)
    try:
        return _over_log(debugger, console, row=kept.row)
    finally:
        save(debugger)


def debug_program(
    program: Program,
    *,
    log: Path | None = None,
    place: Path | None = None,
    values: str = "full",
    capture: str = "calls+backward",
    breakpoints: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> int:
    """Run a program under the debugger: it stops at its first node, and when it has ended what it did can be looked at.

    Args:
        program: Runs it.
        log: Where it is recorded; None for a recording in memory.
        place: Where a recording in memory is kept when the person leaves; None drops it.
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
    log = siblings.place(log)  # in a run that is recorded, one that nobody named has a name, too
    arguments: tuple[str, ...] | None = None
    kept: Debugger | None = None
    earlier: Path | None = None
    ended: Ended | None = None
    while True:
        with recording.record(log, values=values, capture=capture) as recorded:
            debugger = Debugger(recorded, can_restart=True)
            if kept is not None:
                keep_setup(kept, debugger, earlier)
            gate = LiveGate(debugger, console, floor=debug_program.__code__)
            if ended is not None and ended.again is not None:
                gate.go_again(ended.again)
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
            keep_setup(debugger, finished, debugger.earlier)
            finished.plan = debugger.plan  # what it looked for may not have been met
            ended = _after(finished, console, status, failed=bool(failures))
            debugger = finished
        elif not ended.goes_on:
            status = 0
        if ended is None or not ended.restart:
            _leave(debugger, log, place, console)
            return status
        console.say("Restarting the program")
        arguments, kept = ended.arguments or arguments, debugger
        earlier = debugger.log.path
        if log is not None:
            save(debugger)
            with contextlib.suppress(OSError):
                earlier = siblings.set_aside(earlier)


def _leave(debugger: Debugger, log: Path | None, place: Path | None, console: Console) -> None:
    """Keep the recording, with what was set up over it, and say where it is."""
    if log is not None:
        save(debugger)
    kept = log
    if log is None and place is not None and len(debugger.log):
        save(debugger)
        kept = siblings.unused(place)
        try:
            siblings.move(debugger.log.path, kept)
        except OSError as error:
            console.say(f"The recording can't be kept as {kept}: {error.strerror or error}")
            return
    if kept is not None:
        console.say(f"The recording is {kept} (look: graphscope open {shlex.quote(str(kept))})")


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


def _over_log(
    debugger: Debugger, console: Console, begin: Callable[[], Stop] | None = None, row: int | None = None
) -> int:
    """The prompt over a log, at `row` where one stood there before."""
    log = debugger.log
    first = nodes.entry(log)
    if first is None:
        console.say(f"The log {log.path} holds no nodes")
        return 0
    if begin is not None:
        stop = begin()
    else:
        debugger.stand(first if row is None else row)
        where = "the beginning of" if row in (None, first) else "where you left"
        remark = f"{where} {log.path}: rows #{log.first} to #{log.end - 1}"
        stop = debugger.stop("entry", remark=f"{remark}; {log.stopped}" if log.stopped else remark)
    console(debugger, stop)
    return 0


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
