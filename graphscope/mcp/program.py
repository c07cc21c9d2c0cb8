"""A program that a client has started: an adapter holds it, and its log is read beside it while it waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from socket import socket
from typing import Any

from graphscope.debugger.adapter_client import AdapterClient
from graphscope.debugger.breakpoint_reading import read
from graphscope.debugger.json_data import from_json
from graphscope.debugger.results import Ended, Interact, Result, Resumed, Tour
from graphscope.errors import CommandError
from graphscope.mcp.pages import cut

Adapter = Callable[[], AbstractContextManager[socket]]
"""Makes a connection to an adapter of its own, which leaves nothing of its program when it is closed."""

Answer = tuple[Result | None, dict[str, Any]]
"""What was answered, nothing where the program runs on; and where it stands, as data."""


class Program:
    """One program under the debugger.

    Args:
        adapter: Makes the adapter that holds it.
        wishes: The arguments of the adapter's `launch`.
        breakpoints: What is given to `break`; where there are none the program stops at its first node.

    Raises:
        CommandError: It can't be started, or a breakpoint is not understood.
    """

    def __init__(self, adapter: Adapter, wishes: Mapping[str, Any], breakpoints: Sequence[str]) -> None:
        for text in breakpoints:
            read(text, file="")
        self._changed = threading.Condition()
        self._stops = 0
        self._over = False
        self._printed: list[str] = []
        self.status: int | None = None
        """The exit status of the program, when it has ended."""
        with ExitStack() as around:
            self._line = AdapterClient(around.enter_context(adapter()), self._received)
            self._line.ask("initialize", adapterID="graphscope", clientName="graphscope")
            self._line.ask("launch", stopOnEntry=not breakpoints, stopAtEnd="always", granularity="node", **wishes)
            self._line.ask("setExceptionBreakpoints", filters=["uncaught"])
            for text in breakpoints:
                self._command(f"break {text}")
            self._around = around.pop_all()

    def begin(self, seconds: float) -> Answer:
        """Let it run to its first stop, and wait for that no longer than so."""
        self._move(lambda: self._line.ask("configurationDone"), seconds)
        return self._stopped()

    def carry_out(self, line: str, seconds: float) -> Answer:
        """Carry out a command, and where the program goes on wait for its next stop.

        Raises:
            CommandError: It can't be carried out.
        """
        found: list[Result] = []
        self._move(lambda: found.append(self._command(line)), seconds, lambda: _goes_on(found[0]))
        return self._stopped() if _goes_on(found[0]) else (found[0], self._place(self._position()))

    def wait(self, seconds: float, *, pause: bool) -> Answer:
        """Wait until it stops or has ended; with `pause` stop it at its next node."""
        if self._position()["running"]:
            self._move(lambda: self._line.tell("pause", threadId=1) if pause else None, seconds)
        return self._stopped()

    def end(self, keep: str) -> str:
        """End it; the path of its log, where that is kept.

        Raises:
            CommandError: It can't be kept there.
        """
        log = ""
        if keep:
            self._line.ask("graphscope/keep", path=str(Path(keep).expanduser().absolute()))
            log = keep
        self.close()
        return log

    def close(self) -> None:
        """End it, and leave nothing of it."""
        self._line.tell("disconnect", terminateDebuggee=True)
        self._line.close()
        self._around.close()

    def _command(self, line: str) -> Result:
        result: Result = from_json(self._line.ask("graphscope/command", line=line, block=[])["result"])
        if isinstance(result, Interact | Tour):
            raise CommandError("That needs a terminal", "`p EXPRESSION` evaluates")
        if isinstance(result, Ended):  # it begins anew
            self._over, self.status = False, None
        return result

    def _move(self, work: Callable[[], object], seconds: float, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Do what may let the program go on, and where it does wait for its next stop."""
        with self._changed:
            before = self._stops
        work()
        if goes_on():
            with self._changed:
                self._changed.wait_for(lambda: self._stops > before or self._over, seconds)

    def _stopped(self) -> Answer:
        """Where it has stopped, unless it runs."""
        found = self._position()
        stop = None if found["running"] or found["stop"] is None else from_json(found["stop"])
        return stop, self._place(found)

    def _place(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Where it stands: `state` (runs, waits, failed or ended), the row, its log, and what it has printed since."""
        ended = self._over or self.status is not None
        state = "runs" if found["running"] else "failed" if found["failed"] else "ended" if ended else "waits"
        with self._changed:
            printed, self._printed = "".join(self._printed), []
        return {
            "state": state,
            "exit_status": self.status,
            "log": found["log"],
            "row": found["now"],
            "is_past": state == "waits" and found["edge"] is not None and found["now"] < found["edge"],
            "printed": cut(printed),
        }

    def _position(self) -> dict[str, Any]:
        return self._line.ask("graphscope/position")

    def _received(self, event: str, body: dict[str, Any]) -> None:
        with self._changed:
            if event == "stopped":
                self._stops += 1
            elif event == "output":
                self._printed.append(str(body.get("output", "")))
            elif event == "exited":
                self.status = int(body["exitCode"])
            elif event in ("terminated", "gone"):
                self._over = True
            self._changed.notify_all()


def _goes_on(result: Result) -> bool:
    """Whether the program runs on behind a command."""
    return isinstance(result, Resumed) or (isinstance(result, Ended) and result.restart)
