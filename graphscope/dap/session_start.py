"""How a session comes about: a program is started, one that waits is held, or a log is opened."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from graphscope._version import __version__
from graphscope.dap.client_terminal import TERMINALS, ClientTerminal
from graphscope.dap.live_session import LiveSession
from graphscope.dap.log_session import Session
from graphscope.dap.program import Launch, Process, Program, found_program
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.transcript import Transcript
from graphscope.debugger.attachment import waiting_places
from graphscope.debugger.motion import STEPS, Granularity
from graphscope.debugger.results import Stop
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import CAPTURES
from graphscope.eventlog.values import POLICIES
from graphscope.eventlog.wholeness import in_part

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter
    from graphscope.debugger.output_marks import Place

STARTING: Final = 60.0
"""Seconds that a program has to say that it is there."""


def launch_of(arguments: Arguments) -> Launch:
    """What the arguments of `launch` say.

    Raises:
        RequestError: They are not understood.
    """
    if ("program" in arguments) == ("module" in arguments):
        raise RequestError("launch needs 'program', a script, or 'module'", "one of them, as a text")
    first = ("-m", arguments.text("module")) if "module" in arguments else (arguments.text("program"),)
    env = {key: None if value is None else str(value) for key, value in arguments.object("env").fields.items()}
    return Launch(
        (*first, *arguments.texts("args")),
        cwd=arguments.text("cwd", "") or None,
        env=env,
        values=_one_of(POLICIES, arguments, "values", "full"),
        capture=_one_of(CAPTURES, arguments, "capture", "calls+backward"),
        log=arguments.text("log", "") or None,
        python=arguments.text("python", "") or sys.executable,
        as_torch=arguments.flag("asTorch"),
        size=arguments.size(24, 80),
        terminal=TERMINALS[_one_of(tuple(TERMINALS), arguments, "console", "")],
    )


def granularity_of(arguments: Arguments) -> Granularity:
    """What a step is to be, as the arguments of `launch` or `attach` say: a line, unless they ask for nodes."""
    return cast("Granularity", _one_of(tuple(STEPS), arguments, "granularity", "line"))


def _one_of(choices: Sequence[str], arguments: Arguments, name: str, default: str) -> str:
    chosen = arguments.text(name, default)
    if chosen not in choices:
        *others, last = filter(None, choices)
        raise RequestError(f"launch: {name!r} can't be {chosen!r}", f"{', '.join(others)} or {last}")
    return chosen


async def launch(adapter: Adapter, how: Launch) -> None:
    """Start a program, and wait until it is there.

    Raises:
        GraphscopeError: It can't be started.
    """
    found_program(how)
    opening = _Opening(adapter)
    if how.terminal and adapter.client.get("supportsRunInTerminalRequest"):
        await _launch_in_client(adapter, how, opening)
        return
    adapter.process = process = Process(opening.printed, opening.ended)
    adapter.launched = how
    try:
        connection = process.start(how)
        opening.program.pid = process.pid
        await opening.hello(connection)
    except BaseException:
        opening.program.hang_up()
        await process.end(0.0)
        process.forget()
        raise
    opening.session_from(process)


async def _launch_in_client(adapter: Adapter, how: Launch, opening: _Opening) -> None:
    adapter.client_terminal = place = ClientTerminal()
    try:
        opening.program.pid = await opening.hello(await place.start(adapter, how))
    except BaseException:
        opening.program.hang_up()
        place.forget()
        raise
    adapter.launched = how
    opening.session_from(None)
    adapter.need_session().debugger.can_restart = True


async def attach(adapter: Adapter, arguments: Arguments) -> None:
    """Open a log, or hold a program that waits.

    Raises:
        GraphscopeError: There is no such log, or nobody waits there.
    """
    if "log" in arguments:
        log = load(Path(arguments.text("log")))
        adapter.session = Session(log, adapter)
        adapter.session.debugger.granularity = granularity_of(arguments)
        adapter.event("initialized")
        if said := in_part(log):
            adapter.event("output", category="important", output=f"graphscope: {log.path.name}: {said}\n")
        return
    address = arguments.text("address", "") or _place_of(arguments.number("processId", 0))
    opening = _Opening(adapter)
    connection = await asyncio.to_thread(_connected, address)
    connection.sendall(arguments.text("token", "").encode().ljust(64)[:64])
    try:
        opening.program.pid = await opening.hello(connection)
    except BaseException:
        opening.program.hang_up()
        raise
    opening.session_from(None)


def _place_of(process: int) -> str:
    """Where a process waits for a debugger."""
    if not process:
        raise RequestError(
            "attach needs 'log', a recording, or 'address' or 'processId' of a program that waits",
            "gs.listen() tells the address",
        )
    found = waiting_places(process)
    if not found:
        raise RequestError(f"Process {process} does not wait for a debugger", "gs.listen() in it does")
    return found[0]


_SAID: Final = 2000
"""So much of what a program printed that did not start is passed on."""


_WITHOUT: Final = re.compile(r"(\S+): No module named graphscope$")
"""What a Python says that has no graphscope."""

_LAST_WORDS: Final = 10.0
"""Seconds for a line to be read to its end; what the program forked may hold it open."""


class _Opening:
    """What a program tells until there is a session, and then passes to it."""

    def __init__(self, adapter: Adapter) -> None:
        self.program = Program(self._message_received, self._gone)
        self._adapter = adapter
        self._session: LiveSession | None = None
        self._hello: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._output: list[tuple[str, Place | None]] = []

    async def hello(self, connection: socket.socket) -> int:
        """Wait until the program introduces itself; its process number.

        Raises:
            RequestError: It does not.
        """
        await self.program.connect(connection)
        try:
            greeting = await asyncio.wait_for(self._hello, STARTING)
        except TimeoutError:
            raise RequestError(f"The program did not come up within {STARTING:g} s") from None
        self._path = greeting["log"]
        if greeting.get("version") != __version__:
            there = f"graphscope {greeting['version']}" if "version" in greeting else "an older graphscope"
            said = f"graphscope: the program has {there}, the editor {__version__}: install the same for both\n"
            self._adapter.event("output", category="console", output=said)
        return int(greeting["pid"])

    def session_from(self, process: Process | None) -> None:
        """Make the session."""
        self._session = LiveSession(self.program, self._path, self._adapter, process)
        self._adapter.session = self._session
        self._session.debugger.granularity = granularity_of(self._adapter.wishes)
        self._session.debugger.just_my_code = self._adapter.wishes.flag("justMyCode", default=True)
        self._adapter.transcript = Transcript(Path(self._path)) if process is not None else None
        self._adapter.event("initialized") if not self._adapter.restarting else None
        for text, place in self._output:
            self._adapter.printed(text, place)
        self._output.clear()

    def printed(self, text: str, place: Place | None) -> None:
        """The program has printed something."""
        if self._session is None:
            self._output.append((text, place))
        else:
            self._adapter.printed(text, place)

    def ended(self, code: int) -> None:
        """Its process has ended."""
        if self._session is not None:
            self._ending = asyncio.create_task(self._ended(self._session, code))
        elif not self._hello.done():
            said = "".join(text for text, _ in self._output).strip().removeprefix("graphscope: ").replace("hint: ", "")
            without = _WITHOUT.search(said)
            if without is not None:
                cure = f"{without[1]} -m pip install graphscope-debugger, or name another with `python`"
                self._hello.set_exception(RequestError(f"graphscope is not installed for {without[1]}", cure))
            else:
                self._hello.set_exception(RequestError(said[-_SAID:] or f"The program ended with status {code}"))

    async def _ended(self, session: LiveSession, code: int | None) -> None:
        with contextlib.suppress(TimeoutError):  # what it told last may still be under way
            await asyncio.wait_for(self.program.drained.wait(), _LAST_WORDS)
        session.worker.interrupt()
        await session.worker.settled()
        try:
            session.lost()
            self._adapter.program_ended(session, code)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with its log, the client must hear of the end
            self._wrong(error)
            self._adapter.ended(code)

    def _message_received(self, message: dict[str, Any]) -> None:
        try:
            if message["event"] == "hello" and not self._hello.done():
                self._hello.set_result(message)
            elif self._session is not None:
                self._session.message_received(message)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a message or the log, the next may be good
            self._wrong(error)
            if self._session is not None and not self._session.running:  # it waits, and somebody must let it go on
                self._adapter.stopped(Stop(None, live=True, remark="the position can't be shown"))

    def _wrong(self, error: Exception) -> None:
        self._adapter.event("output", category="stderr", output=f"graphscope: {type(error).__name__}: {error}\n")

    def _gone(self) -> None:
        if not self._hello.done() and self._adapter.process is None:
            self._hello.set_exception(RequestError("The program hung up", "the token may be wrong"))
        if self._session is not None and self._session.process is None:
            self._ending = asyncio.create_task(self._ended(self._session, None))


def _connected(address: str) -> socket.socket:
    kind, _, place = address.partition(":")
    try:
        if kind == "unix":
            with contextlib.ExitStack() as undone:
                connection = undone.enter_context(socket.socket(socket.AF_UNIX))
                connection.connect(place)
                undone.pop_all()
                return connection
        host, _, port = address.rpartition(":")
        return socket.create_connection((host or "127.0.0.1", int(port)), timeout=10)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise RequestError(f"Nobody waits at {address!r}: {why}", "gs.listen() prints where a program waits") from None
