"""Processes that a program starts by `multiprocessing`: each waits for a debugger of its own ahead of its work."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger import held_commands
from graphscope.debugger.attachment import accepted_at
from graphscope.debugger.remote import Remote, attending, begin, gate_of
from graphscope.debugger.wire import Channel
from graphscope.eventlog import record as recording
from graphscope.eventlog.own_files import is_own

if TYPE_CHECKING:
    from types import CodeType

PATIENCE: Final = 60.0
"""Seconds that a process waits; then it does its work without a debugger."""

Told = Callable[[str, int, str], None]
"""Hears of a process that was started: its name, its number, and where it waits."""


def place_in(folder: str) -> str:
    """The address where a process waits that was given a folder: nobody else may look into that."""
    return f"unix:{folder}/socket"


def accepted_in(folder: str) -> socket.socket | None:
    """Wait in a folder for a debugger, and remove it; None where none has come."""
    try:
        return accepted_at(place_in(folder), PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Held:
    """What a process is to do, once a debugger has come to where it waits."""

    target: Callable[..., object]
    folder: str
    kept: Mapping[str, Any]
    """What is recorded of it: `values` and `capture` of `record`."""

    @property
    def place(self) -> str:
        """The address where it waits."""
        return place_in(self.folder)

    def __call__(self, *arguments: Any, **named: Any) -> object:
        """Wait, and do it."""
        connection = accepted_in(self.folder)
        if connection is None:
            return self.target(*arguments, **named)
        with recording.record(**self.kept) as log:
            remote = Remote(Channel(connection))
            gate = gate_of(log, remote, Held.__call__.__code__)
            with attending(remote, gate):
                begin(remote, gate)
                try:
                    return self.target(*arguments, **named) if gate.ended is None else None
                finally:
                    gate.stop_tracing()
                    sys.stdout.flush()


@contextmanager
def as_wished(remote: Remote, kept: Mapping[str, Any]) -> Iterator[None]:
    """Where the debugger of a program asks for it, `held`, and the same of commands that it starts."""

    def told(name: str, process: int, place: str) -> None:
        remote.tell("child", name=name, pid=process, place=place)

    if not remote.wishes.get("children"):
        yield
        return
    with held(told, kept), held_commands.held(told, kept):
        yield


@contextmanager
def held(told: Told, kept: Mapping[str, Any]) -> Iterator[None]:
    """For the time of a block, let processes wait that are to run a function of the program's own.

    Args:
        told: Hears of each that was started.
        kept: What is recorded of them.
    """
    init, start, parent = BaseProcess.__init__, BaseProcess.start, os.getpid()

    def made(self: BaseProcess, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        target: Any = self.__dict__.get("_target")
        code: CodeType | None = getattr(target, "__code__", None)
        if code is not None and is_own(code.co_filename) and os.getpid() == parent:
            self.__dict__["_target"] = Held(target, tempfile.mkdtemp(prefix="graphscope-"), kept)

    def started(self: BaseProcess) -> None:
        target = self.__dict__.get("_target")  # the process forgets it when it has started
        start(self)
        if isinstance(target, Held) and self.pid is not None:
            told(self.name, self.pid, target.place)

    BaseProcess.__init__, BaseProcess.start = made, started  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseProcess.__init__, BaseProcess.start = init, start  # type: ignore[method-assign]
