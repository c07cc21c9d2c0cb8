"""What is behind the screen while a program runs: the adapter carries out, the screen reads the program's log."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from textual.message import Message as Post

from graphscope.debugger.adapter_client import AdapterClient
from graphscope.debugger.breakpoint_reading import read
from graphscope.debugger.command_line import resolve
from graphscope.debugger.json_data import from_json
from graphscope.debugger.results import BreakpointInfo, Ended, Message, Result, Resumed, Stop
from graphscope.errors import CommandError, GraphscopeError
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.siblings import unused
from graphscope.tui.messages import Moved, Notice, Printed
from graphscope.tui.screen_session import in_turn

PATIENCE: Final = 0.4
"""Seconds in which the next stop is waited for; a program that takes longer is said to run."""


class ProgramSession:
    """A program that the adapter holds.

    Args:
        connection: A connection to the adapter.
        name: What the program is called.
    """

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.name = name
        self.rank = ""
        self.now = -1
        self.edge: int | None = None
        self.other: Path | None = None
        self.arranged: Mapping[str, Any] = {}
        self.breakpoints: tuple[BreakpointInfo, ...] = ()
        self.state = "starting"
        self.begun = False
        self.has_output = True
        self.kept: Path | None = None
        self.named: Path | None = None
        """Where the person has said that the log is to be."""
        self.released = False
        """The program is to go on when the screen has ended."""
        self._over = threading.Event()
        self.code: int | None = None
        """The exit status of the program, when it has ended."""
        self._line = AdapterClient(connection, self._received)
        self._post: Callable[[Post], object] | None = None
        self._early: list[Post] = []
        self._stopped = threading.Condition()
        self._printing = threading.Lock()
        self._printed: list[str] = []
        self._stops = 0
        self._awaited = False
        """Whether a stop belongs to what is being carried out, rather than to be told of."""
        self._path = ""
        self._restarts = False
        """The program was ended to begin again, and has not come to a stop since."""
        self._again = False
        """There is a log that the screen has not taken yet."""
        self._aliases: dict[str, str] = {}
        self._first: list[str] = []

    def launch(self, words: dict[str, Any], breakpoints: Sequence[str] = (), commands: Sequence[str] = ()) -> None:
        """Start the program; it waits ahead of its first line.

        Args:
            words: The arguments of `launch`.
            breakpoints: What is given to `break`.
            commands: Carried out at the first stop.

        Raises:
            GraphscopeError: It can't be started, or a breakpoint is not understood.
        """
        for text in breakpoints:
            read(text, file="")
        self.named = Path(words["log"]) if "log" in words else None
        self._line.ask("initialize", adapterID="graphscope", clientName="graphscope")
        self._line.ask("launch", stopOnEntry=True, stopAtEnd="always", granularity="node", **words)
        self._line.ask("setExceptionBreakpoints", filters=["uncaught"])
        for text in breakpoints:
            self._one(f"break {text}", ())
        self._first = list(commands)
        self._path = self._line.ask("graphscope/position")["log"]

    def open_log(self) -> Log:
        """The log that the program writes."""
        return load(Path(self._path))

    # What the screen asks for ----------------------------------------------------------------------------------------

    def begin(self) -> list[Result]:
        """Let the program run to its first node; nothing where that takes long."""
        with self._stopped:
            self._awaited, before = True, self._stops
        self._line.ask("configurationDone")
        stop = self._await(before)
        return [] if stop is None else self._behind(stop)

    def follow(self) -> list[Result]:
        """Go where the program has come to a stop: the stop, and what is attached to its breakpoint."""
        stop = self._where()
        return [] if stop is None else self._behind(stop)

    def _behind(self, stop: Stop) -> list[Result]:
        waiting, self._first = deque([*stop.commands, *self._first]), []
        found: list[Result] = [stop]
        while waiting:
            found += self.carry_out(waiting.popleft())
            if self.state in ("starting", "runs"):  # the rest is for where it stops
                self._first = list(waiting)
                break
        return found

    def _where(self) -> Stop | None:
        body = self._line.ask("graphscope/position")
        self.now, self.edge = body["now"], body["edge"]
        self._path = body["log"]
        self.other = None if body["other"] is None else Path(body["other"])
        self._again, self._restarts = self._again or self._restarts, False
        self.state = (
            "runs" if body["running"] else "failed" if body["failed"] else "ended" if self.code is not None else "waits"
        )
        self.breakpoints, self._aliases = from_json(body["breakpoints"]), body["aliases"]
        self.begun = self.begun or not body["running"]
        stop: Stop | None = None if body["stop"] is None else from_json(body["stop"])
        return stop

    def carry_out(self, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        """Carry out a line: aliases written out, `;;` parted, and what is attached to a breakpoint behind it."""
        return in_turn(line, self._aliases, lambda part: self._one(part, block))

    def new_log(self) -> Log | None:
        """The log, once, where the program was started again."""
        if not self._again:
            return None
        self._again = False
        return self.open_log()

    def interrupt(self) -> None:
        """Stop the program at its next node, or what it computes for us."""
        self._line.tell("pause", threadId=1)

    def complete(self, line: str, word: str) -> list[str]:
        """What a word at the end of a line may become."""
        try:
            found = self._line.ask("completions", text=line, column=len(line) + 1)["targets"]
        except CommandError:
            return []
        return [label for each in found if (label := str(each["label"])).startswith(word)]

    def edit(self, target: str, text: str) -> Result:
        """Let the program go on with another value: of all (`grad`), or of one element (`value[0, 3]`)."""
        try:
            self._line.ask("setExpression", expression=target, value=text)
        except CommandError as error:
            return Message(error.message, error.hint or "", error=True)
        self._where()
        return Message(f"{target} = {text}: the program will go on with this")

    @property
    def place_to_keep(self) -> Path | None:
        """Where a recording that nobody has named can be kept; None where it stays anyway."""
        return None if self.named is not None else unused(Path(f"{Path(self.name).stem}.gscope"))

    def keep(self) -> Result:
        """End the program, and keep its recording in the current folder."""
        place = self.place_to_keep
        if place is None:
            return Message("The recording stays where it is")
        try:
            self._line.ask("graphscope/keep", path=str(place.absolute()))
        except CommandError as error:
            return Message(error.message, error.hint or "", error=True)
        except OSError as error:  # the current folder is gone
            return Message(f"The recording can't be kept as {place}: {error.strerror}", error=True)
        self.kept = place
        return Message(f"The recording is {place}")

    def arrange(self, screen: Mapping[str, Any]) -> None:
        """Keep with the recording how the screen is arranged."""
        self.arranged = screen
        self._line.tell("graphscope/arrangement", screen=screen)

    def release(self) -> None:
        """Let the program go on when the screen has ended."""
        self.released = True

    def go_on(self, terminal: TextIO) -> None:
        """Let the program go on without a debugger until it has ended: what it prints goes to this terminal."""
        self.listen(lambda message: self._pass_on(terminal) if isinstance(message, Printed) else None)
        self._pass_on(terminal)
        self._line.tell("graphscope/release")
        threading.Thread(target=self._type_on, name="graphscope-keys", daemon=True).start()
        while not self._over.is_set():
            try:
                self._over.wait()
            except KeyboardInterrupt:
                self._line.tell("graphscope/interrupt")
        self._pass_on(terminal)
        if self.named is None:
            self.keep()

    def _pass_on(self, terminal: TextIO) -> None:
        with contextlib.suppress(OSError, ValueError):  # it may be gone
            terminal.write(self.take_printed())
            terminal.flush()

    def _type_on(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in sys.stdin:
                self.type(line)
        self.type("\x04")

    def listen(self, post: Callable[[Post], object]) -> None:
        """Tell somebody of what happens by itself, from now on."""
        with self._stopped:
            self._post = post
            early, self._early = self._early, []
        for message in early:
            post(message)

    def type(self, text: str) -> None:
        """Type into the terminal of the program."""
        self._line.tell("graphscope/input", text=text)

    def resize(self, rows: int, columns: int) -> None:
        """Tell the terminal of the program how large it is."""
        self._line.tell("graphscope/resize", rows=rows, columns=columns)

    def close(self) -> None:
        """Leave, and let the program end."""
        try:
            self._line.ask("disconnect", terminateDebuggee=True)
        except CommandError:
            pass
        self._line.close()

    # How -------------------------------------------------------------------------------------------------------------

    def _one(self, line: str, block: tuple[str, ...]) -> Result:
        try:
            return self._answered(line, block)
        except GraphscopeError as error:
            return Message(error.message, error.hint or "", error=True)

    def _answered(self, line: str, block: tuple[str, ...]) -> Result:
        found, _ = resolve(line)
        name = found.name if found is not None else ""
        if name == "quit":
            return Ended()
        with self._stopped:
            self._awaited, before = True, self._stops
        body = self._line.ask("graphscope/command", line=line, block=list(block))
        result: Result = from_json(body["result"])
        moves = isinstance(result, Resumed) or (isinstance(result, Ended) and result.restart)
        if isinstance(result, Ended):
            self._restarts, self.begun, self.code, self.state = True, False, None, "starting"
        if moves:
            return self._await(before) or Message("")
        with self._stopped:
            self._awaited = False
        self._where()
        return result

    def _await(self, before: int) -> Stop | None:
        """The next stop, if it comes soon."""
        with self._stopped:
            self._stopped.wait_for(lambda: self._stops > before, PATIENCE)
            self._awaited = False
            come = self._stops > before
        if come:
            return self._where()
        self.state, self.edge = "starting" if self._restarts else "runs", None
        return None

    # What happens by itself ------------------------------------------------------------------------------------------

    def _received(self, event: str, body: dict[str, Any]) -> None:
        if event == "stopped":
            with self._stopped:
                self._stops += 1
                awaited = self._awaited
                self._stopped.notify_all()
            if not awaited:
                self._tell(Moved())
        elif event == "output":
            text = str(body.get("output", ""))
            if body.get("category") == "stdout":
                self._print(text)
            else:
                self._tell(Notice(text))
        elif event == "exited":
            self.code = int(body["exitCode"])
            self._over.set()
        elif event in ("terminated", "gone"):
            self.state = "ended"
            self._over.set()
            self._tell(Notice("The program has ended\n" if event == "terminated" else ""))

    def _print(self, text: str) -> None:
        """Keep what is printed, and tell of it once: a program may print faster than a screen can be drawn."""
        with self._printing:
            pending = bool(self._printed)
            self._printed.append(text)
        if not pending:
            self._tell(Printed())

    def take_printed(self) -> str:
        """What the program has printed since this was asked last."""
        with self._printing:
            text, self._printed = "".join(self._printed), []
        return text

    def _tell(self, message: Post) -> None:
        with self._stopped:
            if self._post is None:
                self._early.append(message)
                return
        self._post(message)
