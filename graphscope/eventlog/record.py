"""Recording: which log is active, where it goes, and the marks that a program makes in it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Final, TypeVar

from graphscope.errors import LogError
from graphscope.eventlog import appender, presenting, replacing, siblings, user_signal
from graphscope.eventlog.exception_places import passed, site_of
from graphscope.eventlog.folder import Folder
from graphscope.eventlog.garbage import grow_old
from graphscope.eventlog.interruptions import forgiving, own
from graphscope.eventlog.log_path import make_room
from graphscope.eventlog.loop_counters import NO_LINES, loop_counters
from graphscope.eventlog.notices import say
from graphscope.eventlog.own_files import is_internal as is_internal
from graphscope.eventlog.places import site_number
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

writer: Writer | None = None
"""The active log of this process, or None; `activate` sets it. Producers look here; a forked child finds None."""

CAPTURES: Final = ("calls", "calls+backward", "ops", "compiled")
"""How much is told of a framework's program."""

suspended: Writer | None = None
"""The log of a recording that leaves out the step which runs now."""

UNCEASING: Final = ("ops", "compiled")
"""The levels at which no step can be left out."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_next_base = 0
_folders: dict[Path, Folder] = {}
"""Where recordings in memory lie, by the path of the log."""
_references: dict[Path, weakref.ref[Log]] = {}
"""The logs of those, which go with them."""
_finished: dict[int, Path] = {}
"""Where the recordings of this process lie that have ended, by the base of their rows."""
_starting = threading.Lock()


def active() -> Writer | None:
    """The log that is being recorded in this process, if any."""
    return writer


def going() -> Writer | None:
    """The log of the recording that goes on, if any, also where it leaves out the step which runs now."""
    return writer or suspended


def activate(which: Writer | None) -> None:
    """Let producers tell a log from here on, or none."""
    global writer
    writer = which
    appender.activate(which)


@contextlib.contextmanager
def recording_to(which: Writer | None) -> Iterator[None]:
    """Let what runs inside be told to another log; None: to none."""
    before = writer
    activate(which)
    try:
        yield
    finally:
        activate(before)


class record(contextlib.AbstractContextManager[Log]):  # noqa: N801 - a verb, used like a function
    """Record what runs: `with gs.record("run.gscope") as log: ...`, or as a decorator.

    Args:
        path: The folder of the log; an older log there is kept beside it under another name. None records to a
            temporary folder that lives as long as the log object; a process that was started in a run that is recorded
            does so beside the log of that run.
        values: `full` keeps every value, `summary` statistics of large ones, `none` nothing.
        keep_last: Keep only the newest so many of the training steps that are recorded.
        every: Record one training step of so many; in the others nothing of ours runs but a count of them.
        on: With `every` or `keep_last`, what makes the recording hold the steps that it keeps, and record the next ones
            in full: some of `nan`, `signal`, `exception` and `finding`, joined by `|` (see `moments.MOMENTS`); None:
            the first three.
        cap: Values of more bytes are summarised; None: those above 1 MiB, and above a 128th of the budget.
        budget: Bytes of values that the log may hold; the oldest are dropped first. With `every` or `keep_last`, bytes
            of rows and values: the oldest rows go with their values.
        capture: Of a framework's program: `calls` tells what the program calls, `calls+backward` what the engine runs
            backward, too, `ops` also the framework's own ops inside of each call; `compiled` is as `calls+backward`,
            and what the framework compiled stays compiled, each region a node.
        memory: Of a framework's program, tell also what its tensors hold of memory, and what was saved for backward.
        passes: Tell also what each pass of a compiler makes of the graphs that are compiled.

    Raises:
        LogError: The folder can't be written, another recording is active, or the path is something else than a log.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        values: str = "full",
        keep_last: int | None = None,
        every: int = 1,
        on: str | None = None,
        cap: int | None = None,
        budget: int = 1 << 30,
        capture: str = "calls+backward",
        memory: bool = False,
        passes: bool = False,
    ) -> None:
        if capture not in CAPTURES:
            raise LogError(f"capture={capture!r} is no level", hint=f"choose one of {', '.join(CAPTURES)}")
        if memory and capture == "compiled":
            raise LogError(
                "memory=True can't see into what is compiled",
                hint="record with another level: capture='calls+backward'",
            )
        if every > 1 and (memory or capture in UNCEASING):
            asked = "memory=True" if memory else f"capture={capture!r}"
            raise LogError(f"{asked} is told of all steps or of none", hint="leave out every, or record calls alone")
        self._given = None if path is None else Path(path)
        self._options: dict[str, Any] = {
            "policy": values, "keep_last": keep_last, "every": every, "on": on, "cap": cap, "budget": budget,
            "capture": capture, "memory": memory, "passes": passes,
        }  # fmt: skip
        self._writer: Writer | None = None
        self._log: Log | None = None  # kept while recording: a temporary folder goes with it

    def __enter__(self) -> Log:
        path = siblings.place(self._given)
        self._writer = start(path, **self._options)
        self._log = log = load(self._writer.path)
        if path is None:
            discard = functools.partial(_discard, self._writer)
            _references[self._writer.path] = weakref.ref(log, functools.partial(appender.later, discard))
        grow_old()
        return log

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            if error is not None and isinstance(error, Exception) and going() is self._writer:
                exception(error)
            stop(self._writer)
        self._writer = self._log = None

    def __call__(self, function: _Function) -> _Function:
        """Record each call of a function."""

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record(self._given, **{_SPELLING.get(key, key): value for key, value in self._options.items()}):
                return function(*args, **kwargs)

        return recorded  # type: ignore[return-value]


_SPELLING = {"policy": "values"}


at_stop: Final[list[Callable[[], None]]] = []
"""Called when a recording ends: producers forget what they know of its rows."""


def start(path: Path | None = None, **options: Any) -> Writer:
    """Begin to record, and return the writer. `stop` ends it.

    Raises:
        LogError: As `record`.
    """
    with _starting:
        if (other := going()) is not None:
            raise LogError(f"a recording is active already, to {other.path}", hint="end it first, or use it")
        try:
            if path is None:
                folder = Folder()
                path = folder.path / "memory.gscope"
                _folders[path] = folder
        except own(OSError) as error:
            raise LogError(
                f"can't record to {path or 'a temporary folder'}: {error.strerror or error}",
                hint="name another place with --log PATH",
            ) from error
        started = _begin(path, options)
        presenting.forget(started.path)
        activate(started)
        user_signal.watch(started)
        replacing.watch(started)
        if "finding" in started.sampling.on:  # a layer above, of which recording knows nothing else
            import_module("graphscope.diagnose.watching").start(started.path)
    # A layer above, which knows the frameworks that the program may have loaded.
    import_module("graphscope.adapters").attach(started)
    return started


def stop(which: Writer) -> None:
    """End a recording. What was recorded is on disk already. One that has ended stays as it is."""
    global _next_base, suspended
    if which.closed:
        return  # another may be active, whose rows producers are to keep
    if writer is which:
        activate(None)
    if suspended is which:
        suspended = None
        with forgiving(Exception):  # of a log that is broken already
            import_module("graphscope.eventlog.training_steps").keep_passed(which)
    _next_base = max(_next_base, which.end)
    user_signal.leave()
    replacing.leave()
    for forget in at_stop:
        forget()
    _finished[which.base] = which.path
    which.retention.clear()
    which.close()


def holding(row: int) -> tuple[Log, int] | None:
    """The recording of this process that holds a row as producers count them, and the number of the row in it.

    None when that recording is gone, as one in memory is with its log object.
    """
    places = {**_finished, **({writer.base: writer.path} if writer is not None else {})}
    base = max((base for base in places if base <= row), default=None)
    if base is None:
        return None
    try:
        log = load(places[base])
    except LogError:
        return None
    return (log, row - base) if log.first <= row - base < log.end else None


def _begin(path: Path, options: dict[str, Any]) -> Writer:
    """A writer of a log at `path`, or beside it while another process records there."""
    while True:
        try:
            place = make_room(path)
            started = Writer(place, base=_next_base, **options)
        except LogError as error:
            if isinstance(error.__cause__, FileExistsError):  # another process was quicker
                continue
            raise
        if place != path:
            say(f"another process records to {path}; this one records to {place}")
        return started


def mark(kind: Kind, *, text: str | None = None, node: int | None = None, **attrs: Any) -> None:
    """Append a mark to the active log, if there is one."""
    if writer is not None:
        if text is not None:
            attrs["text"] = text
        writer.mark(kind, inputs=() if node is None else (node,), **attrs)


def turn(frame: FrameType, row: int, lines: Mapping[FrameType, int] = NO_LINES) -> None:
    """Tell which turn of its loops the program is in, where no mark does: it waits at a row, or has failed there.

    Args:
        frame: Where it is.
        row: The row.
        lines: The lines that an exception left frames at, which may have gone on since, as to the end of a `with`.
    """
    counters, which = loop_counters(frame, lines), going()
    if which is None:
        return
    step, marked = which.sampling.step_of(frame, lines), which.sampling.marked
    told: dict[str, Any] = {"step": step} if which.is_ring else {}  # else the log itself tells how many there were
    if which.is_ring and marked is not None and marked.is_counted and not counters:
        counters = {"step": step}
    if marked is not None and step == which.sampling.ended:
        told["has_ended"] = True
    if counters or told:
        told |= {"counters": [*counters], "numbers": [*counters.values()]}
        which.attributes({"call": "turn", "row": row, **told})


def exception(error: BaseException, *, node: int | None = None, site: int = 0) -> None:
    """Mark that an exception left an op or the program; each exception is marked once.

    Args:
        error: The exception.
        node: The row of the op that it left, if it left one.
        site: Where that op stands; without it, the line of the program that the exception left last.
    """
    which = going()
    if which is None or _is_marked(error):
        return
    mark_as_told(error)
    lines = {each.tb_frame: each.tb_lineno for each in passed(error)}
    turn(next(reversed(lines), sys._getframe(1)), which.end - which.base, lines)
    try:
        text = str(error)
    except own(Exception):  # the program's own code; its exception is not to be replaced by another
        text = ""
    which.mark(
        Kind.EXCEPTION,
        site=site or site_of(which, error),
        inputs=() if node is None else (node,),
        text=text,
        type=type(error).__name__,
    )


def mark_as_told(error: BaseException) -> None:
    """Note that the log has an exception."""
    with forgiving(AttributeError, TypeError):
        error._graphscope_marked = True  # type: ignore[attr-defined]


def _is_marked(error: BaseException) -> bool:
    """Whether the log has an exception, or the one in whose place it was raised: `raise ... from None`."""
    first = error.__context__ if error.__suppress_context__ and error.__cause__ is None else None
    return getattr(error, "_graphscope_marked", False) or getattr(first, "_graphscope_marked", False)


def edit(node: int, value: Any, frame: FrameType, *, cut: bool = False) -> int:
    """Mark that a person has replaced the value (or the cotangent) that a program waits with; the row of the mark.

    Args:
        node: The row of the node.
        value: What the program goes on with.
        frame: Where the program waits.
        cut: Whether the value is cut off from what it was computed from.

    Raises:
        LogError: Nothing is recorded.
    """
    if writer is None:
        raise LogError("Nothing is recorded that could be edited")
    attrs = {"cut": True} if cut else {}
    inputs = (node + writer.base,)
    return writer.mark(Kind.EDIT, site=site_number(writer, frame), inputs=inputs, value=value, **attrs) - writer.base


def user_frame(depth: int = 1) -> FrameType | None:
    """The innermost frame that belongs to neither graphscope nor its standard library helpers."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _discard(finished: Writer) -> None:
    """Remove a temporary log that nobody can reach any more; a forked child leaves it to its parent."""
    folder = _folders.pop(finished.path, None)
    _references.pop(finished.path, None)
    if folder is not None:
        stop(finished)
        folder.remove()


def _detach_child() -> None:
    global _next_base, _starting, suspended
    _starting = threading.Lock()
    user_signal.detach()
    _folders.clear()
    _references.clear()
    if writer is not None:
        _next_base = max(_next_base, writer.end)  # tensors of the parent's log are none of the child's
        writer.detach()
        activate(None)
    if suspended is not None:
        suspended.detach()
        suspended = None


def _close_at_exit() -> None:
    _references.clear()  # nothing is to be called back when Python has begun to take its modules apart
    if (which := going()) is not None:
        stop(which)
    while _folders:
        _folders.popitem()[1].remove()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_child)
atexit.register(_close_at_exit)
