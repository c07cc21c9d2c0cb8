"""A program in a process of its own: its terminal, the line to its gate, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from graphscope.dap.terminal import Printed, Terminal
from graphscope.debugger import wire
from graphscope.debugger.remote import ATTENTION
from graphscope.errors import CommandError, UsageError
from graphscope.eventlog import siblings
from graphscope.eventlog.folder import Folder

PATIENCE: Final = 2.0
"""Seconds that a program has to end by itself, before it is killed."""

_UNNAMED: Final = "memory.gscope"
"""What a log is called that nobody named."""

_PRESSING: Final = 0.1
"""Seconds between two signals that interrupt a program."""

Event = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Launch:
    """How to start a program."""

    words: tuple[str, ...]
    """The script and its arguments, or `-m`, the module, and its arguments."""
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    values: str = "full"
    capture: str = "calls+backward"
    log: str | None = None
    python: str = sys.executable
    as_torch: bool = False
    size: tuple[int, int] = (24, 80)
    """Rows and columns of its terminal."""
    terminal: str = ""
    """The kind of terminal that the client is to run it in; empty for one of ours."""

    def command(self, gate: str, log: str) -> list[str]:
        """What runs it, with its gate at an address."""
        options = ["--gate", gate, "--values", self.values, "--capture", self.capture, "--log", log]
        return [self.python, "-m", "graphscope", "debug", *options, *(["--as-torch"] * self.as_torch), *self.words]

    def with_arguments(self, arguments: tuple[str, ...]) -> Launch:
        """The same program with other arguments."""
        named = self.words[: 2 if self.words[0] == "-m" else 1]
        return replace(self, words=(*named, *arguments))


class Program:
    """A line to a program that holds a gate, whoever started it.

    Args:
        heard: Called with each event that the program tells; must not raise.
        gone: Called once when the line is cut.
    """

    def __init__(self, received: Event, gone: Callable[[], None]) -> None:
        self.pid: int | None = None
        self._received = received
        self._gone = gone
        self._numbers = 0
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], bytes]]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._pressed: set[int] = set()
        """Questions that were given up, and are not answered yet."""
        self._pressing: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self.drained = asyncio.Event()
        """All that the program told has been heard, and the line is cut."""

    async def connect(self, connection: socket.socket) -> None:
        """Begin to listen on a connected socket."""
        reader, self._writer = await asyncio.open_connection(sock=connection)
        self._listening = asyncio.create_task(self._listen(reader))

    @property
    def connected(self) -> bool:
        """Whether the program can be spoken to."""
        return self._writer is not None

    def tell(self, ask: str, *, running: bool = False, **what: Any) -> None:
        """Say something that has no answer; a program that runs is nudged so that it reads."""
        if self._writer is not None:
            self._writer.write(wire.pack({"ask": ask, **what}))
            if running:
                self.nudge()

    async def ask(self, ask: str, *, patience: float | None = None, **what: Any) -> tuple[dict[str, Any], bytes]:
        """Ask something and wait for the answer.

        Args:
            ask: The question.
            patience: Seconds after which the answer is not waited for any longer, and the program is interrupted.
            what: What belongs to the question.

        Raises:
            CommandError: The program can't answer, or did not in time.
        """
        if self._writer is None:
            raise CommandError("The program is not there any more", "the log still tells what it did")
        self._numbers += 1
        number = self._numbers
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(wire.pack({"ask": ask, "id": number, **what}))
        try:
            body, blob = await asyncio.wait_for(answer, patience)
        except TimeoutError:
            raise CommandError(
                f"The program did not answer within {patience:g} s", "what was asked is dropped"
            ) from None
        finally:
            if not answer.done() or answer.cancelled():
                self.interrupt(number)
            self._waiting.pop(number, None)
        if "error" in body:
            raise CommandError(body["error"]["text"], body["error"]["hint"] or None)
        return body, blob

    async def wait(self, patience: float) -> None:
        """Wait until its process, which somebody else started, has ended; so many seconds at most.

        Where the system does not tell, until it has hung up.
        """
        with contextlib.suppress(OSError, TimeoutError):
            if self.pid is None or not hasattr(os, "pidfd_open"):
                await asyncio.wait_for(self.drained.wait(), patience)
                return
            found = os.pidfd_open(self.pid)
            try:
                await asyncio.wait_for(_readable(found), patience)
            finally:
                os.close(found)

    def nudge(self) -> None:
        """Let the program look at what it was told."""
        if ATTENTION is not None and self.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, ATTENTION)

    def interrupt(self, *numbers: int) -> None:
        """Interrupt what the program computes for us: these questions, or all."""
        unanswered = set(numbers or self._waiting) - self._pressed
        self._pressed |= unanswered
        if unanswered and (self._pressing is None or self._pressing.done()):
            self._pressing = asyncio.create_task(self._press())

    async def _press(self) -> None:
        """Signal until all that was to be interrupted is answered: a signal that comes too early is passed over."""
        while self._pressed and self.connected and self.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGINT)
            await asyncio.sleep(_PRESSING)

    def hang_up(self) -> None:
        """Cut the line."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                text, blob = wire.read_head(await reader.readexactly(wire.HEAD.size))
                message = wire.read_text(await reader.readexactly(text))
                data = await reader.readexactly(blob)
                self._arrived(message, data)
        except (asyncio.IncompleteReadError, OSError, wire.WireError):
            pass
        self.hang_up()
        self.drained.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(CommandError("The program ended before it answered"))
        self._gone()

    def _arrived(self, message: dict[str, Any], data: bytes) -> None:
        if "reply" not in message:
            self._received(message)
            return
        self._pressed.discard(message["reply"])
        answer = self._waiting.get(message["reply"])
        if answer is not None and not answer.done():
            answer.set_result((message, data))


async def _readable(file: int) -> None:
    """Wait until something can be read from an open file."""
    loop, is_there = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(file, is_there.set)
    try:
        await is_there.wait()
    finally:
        loop.remove_reader(file)


class Process:
    """The process of a program that we started, and its terminal.

    Args:
        printed: Called with what the program prints.
        ended: Called with its exit code, when all that it printed was passed on.
    """

    def __init__(self, printed: Printed, ended: Callable[[int], None]) -> None:
        self.code: int | None = None
        self._printed = printed
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._terminal: Terminal | None = None
        self._done = asyncio.Event()
        self._folder: Folder | None = None

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process is not None
        return self._process.pid

    def start(self, launch: Launch) -> socket.socket:
        """Start a program; returns our end of the line to it.

        Raises:
            UsageError: It can't be started.
        """
        terminal = Terminal(launch.size, self._printed)
        socket_here, socket_there = socket.socketpair()
        inherited = [socket_there.fileno()]
        log = launch.log
        if log is None:
            self._folder = Folder()
            if self._folder.lock is not None:
                inherited.append(self._folder.lock.number)
            log = str(self._folder.path / _UNNAMED)
        try:
            self._process = subprocess.Popen(
                launch.command(f"fd:{socket_there.fileno()}", log),
                stdin=terminal.program_end,
                stdout=terminal.program_end,
                stderr=terminal.program_end,
                cwd=launch.cwd,
                env=_environment(launch.env),
                pass_fds=inherited,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            socket_here.close()
            terminal.close()
            raise UsageError(f"The program can't be started: {error}", "cwd and python must exist") from None
        finally:
            socket_there.close()
            os.close(terminal.program_end)
        self._terminal = terminal
        terminal.listen()
        self._watching = asyncio.create_task(self._watch())
        return socket_here

    def keep(self, path: Path) -> None:
        """Move a log that nobody named, and those of processes that the program started, to where a person wants it.

        Raises:
            UsageError: It can't be moved there, or it has a name.
        """
        if self._folder is None:
            raise UsageError("The recording has a name already", "it stays where it is")
        if not (self._folder.path / _UNNAMED).exists():
            raise UsageError("The recording is gone: somebody has removed it", "nothing is left to keep")
        try:
            siblings.move(self._folder.path / _UNNAMED, path)
        except OSError as error:
            raise UsageError(f"The recording can't be moved to {str(path)!r}: {error}", "name another place") from None

    @property
    def owns_log(self) -> bool:
        """Whether its log, which nobody named, lies in a folder of its own."""
        return self._folder is not None

    def forget(self) -> None:
        """Remove a log that nobody named."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def type(self, text: str) -> None:
        """Type into its terminal."""
        if self._terminal is not None:
            self._terminal.type(text)

    def resize(self, rows: int, columns: int) -> None:
        """Tell its terminal how large it is."""
        if self._terminal is not None:
            self._terminal.resize(rows, columns)

    async def end(self, patience: float = PATIENCE) -> None:
        """See that it ends: wait, then ask the system to end it and all that it started, then make it."""
        if self._process is None:
            return
        for number, seconds in ((None, patience), (signal.SIGTERM, patience), (signal.SIGKILL, None)):
            if self._done.is_set():
                break
            if number is not None:
                self.kill(number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._done.wait(), seconds)
        self.kill(signal.SIGKILL)  # what it started and left behind
        self._process.wait()

    def kill(self, number: int) -> None:
        """Send a signal to it and to what it started."""
        if self._process is not None and self._process.returncode is None:  # its number is nobody else's yet
            with contextlib.suppress(OSError):
                os.killpg(self.pid, number)

    async def wait(self) -> int:
        """Its exit code, when it has ended."""
        await self._done.wait()
        assert self.code is not None
        return self.code

    async def _watch(self) -> None:
        assert self._process is not None
        code = await asyncio.to_thread(_exit_code, self._process)
        self.code = code
        try:
            if self._terminal is not None:
                self._terminal.close()
        finally:
            self._done.set()
        self._ended(code)


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process has ended; where the system lets us, it keeps its number, so that nobody else gets it."""
    if not hasattr(os, "waitid"):
        return process.wait()
    found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert found is not None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _environment(changes: dict[str, str | None]) -> dict[str, str]:
    changes = {"COLUMNS": None, "LINES": None, **changes}  # its terminal has a size of its own
    made = {key: value for key, value in os.environ.items() if changes.get(key, value) is not None}
    return made | {key: value for key, value in changes.items() if value is not None}


def found_program(launch: Launch) -> None:
    """See that there is something to run, so that it can be said before anything is started.

    Raises:
        UsageError: There is no such script or folder.
    """
    folder = Path(launch.cwd or ".")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r} to run in", "cwd names one")
    if launch.words[0] != "-m" and not (folder / launch.words[0]).exists():
        raise UsageError(f"there is no script {launch.words[0]!r}", "program names one, relative to cwd")
