"""A program that replaces itself by another one, with `os.execv` and its like: its log says so, and is whole."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from time import time as wall_clock  # a program may set clocks of its own
from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog.awaited import fetch
from graphscope.eventlog.interruptions import forgiving
from graphscope.eventlog.notices import say

if TYPE_CHECKING:
    from graphscope.eventlog.writer import Writer

_CALLS: Final = {name: getattr(os, name) for name in ("execv", "execve") if hasattr(os, name)}
"""All others of `os` call these."""
_followed: dict[str, Callable[..., Any]] = {}
_watched: tuple[Writer, int] | None = None
"""The recording, and the process that it is of: what a forked child becomes is nothing to it."""


def watch(which: Writer) -> None:
    """Have the log of a recording say so when the program calls one of these."""
    global _watched
    _watched = which, os.getpid()
    for name, call in _CALLS.items():
        if getattr(os, name) is call:  # else it is the program's own
            _followed[name] = _telling(name, call)
            setattr(os, name, _followed[name])


def leave() -> None:
    """Say nothing any more."""
    global _watched
    _watched = None
    for name in [*_followed]:
        if getattr(os, name) is _followed[name]:
            setattr(os, name, _CALLS[name])
        del _followed[name]


def _telling(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def replaces(*words: Any, **named: Any) -> Any:
        which, process = _watched or (None, 0)
        path = words[0] if words else named.get("path")
        if which is None or process != os.getpid() or which.closed or not _exists(path):
            return call(*words, **named)
        with _finished(which, f"the program replaced itself by {_text(path)} (os.{name})"):
            return call(*words, **named)

    return replaces


@contextlib.contextmanager
def _finished(which: Writer, why: str) -> Iterator[None]:
    """Have a log be finished, with a reason; where what is called returns, the recording goes on."""
    before = which.metadata
    with forgiving(Exception):  # of a log that is broken already
        fetch()
        import_module("graphscope.eventlog.training_steps").keep_passed(which)
    which.metadata = {**before, "stopped": before.get("stopped", why), "finished": wall_clock()}
    with forgiving(OSError):
        which.insist(which.write_metadata)
    say(f"{why}: what it did before is in {which.path.name}, what follows is not recorded")
    try:
        yield
    finally:
        which.metadata = before
        with forgiving(OSError):
            which.insist(which.write_metadata)


def _exists(path: Any) -> bool:
    return isinstance(path, str | bytes | os.PathLike | int) and os.path.exists(path)  # noqa: PTH110 - a number as well


def _text(path: Any) -> str:
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else f"file {path}"
