"""What a client may have run, where that was allowed: programs, recorded or stepped through, and Python in them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import anyio
from anyio.abc import Process

from graphscope.debugger.command_line import resolve
from graphscope.debugger.interpreter import run as carry_out
from graphscope.debugger.json_data import to_json
from graphscope.debugger.result_lines import text_of
from graphscope.debugger.results import Ended, Message, Result
from graphscope.errors import CommandError
from graphscope.eventlog.siblings import family
from graphscope.mcp.opened import Opened
from graphscope.mcp.pages import LONGEST, cut
from graphscope.mcp.program import Adapter, Program

Values = Literal["full", "summary", "none"]

_PATIENCE: Final = 5.0
"""Seconds that an interrupted program has to end by itself."""

_LINES: Final = 2000
"""So many chunks of what a program printed last are kept."""


class Running:
    """Programs that run for a client.

    Args:
        opened: The logs that were asked about.
        adapter: Makes an adapter that holds a program.
    """

    def __init__(self, opened: Opened, adapter: Adapter) -> None:
        self._opened = opened
        self._adapter = adapter
        self._numbers = count(1)
        self._programs: dict[str, Program] = {}

    async def record(
        self,
        program: str,
        arguments: list[str] = [],  # noqa: B006 - the schema says so; it is not written to
        log: str = "",
        values: Values = "summary",
        folder: str = ".",
        seconds: float = 600,
    ) -> dict[str, Any]:
        """Run a Python script and record all that its graph does; then ask `doctor` of the `log` in the answer.

        Of values statistics are kept, or all (`full`), or nothing (`none`). A program that runs longer than so many
        seconds is interrupted; what it did until then is in the log, too, as is that of one that fails.
        """
        place = Path(folder).expanduser().absolute()
        kept = place / (log or f"{Path(program).stem}.gscope")
        if not (place / program).exists():
            raise CommandError(f"There is no script {program!r} in {place}")
        words = ["record", "--values", values, "--log", str(kept), "--", program, *arguments]
        printed: deque[bytes] = deque(maxlen=_LINES)
        process = await anyio.open_process(
            [sys.executable, "-m", "graphscope", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=place, start_new_session=True,
        )  # fmt: skip
        try:
            with anyio.move_on_after(seconds) as limit:
                assert process.stdout is not None
                async for chunk in process.stdout:
                    printed.append(chunk)
                await process.wait()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        logs = [str(each) for each in family(kept)]
        return {
            "log": logs[0] if logs else None,
            "ranks": logs if len(logs) > 1 else [],
            "exit_status": process.returncode,
            "timed_out": limit.cancelled_caught,
            "printed": cut(b"".join(printed).decode(errors="replace")),
        }

    def debug(
        self,
        program: str,
        arguments: list[str] = [],  # noqa: B006
        breakpoints: list[str] = [],  # noqa: B006
        values: Values = "full",
        seconds: float = 60,
    ) -> dict[str, Any]:
        """Start a Python script under the debugger and run it to the first breakpoint, or to its first node.

        A breakpoint is `SPEC[, CONDITION]`: `op:tanh backward, abs(grad).max() > 1e3`, `line:model.py:31`, `nan`. The
        answer names the `session` for `command`, `wait` and `end`; its `log` can be read while the program waits. Where
        it does not stop within so many seconds its `state` is `runs`.
        """
        path = Path(program).expanduser()
        if not path.exists():
            raise CommandError(f"There is no script {program!r} in {Path.cwd()}")
        wishes = {"program": str(path), "args": arguments, "values": values, "capture": "calls+backward"}
        name = f"session-{next(self._numbers)}"
        started = self._programs[name] = Program(self._adapter, wishes, breakpoints)
        return {"session": name, **_told(*started.begin(seconds))}

    def command(self, where: str, line: str, seconds: float = 60) -> dict[str, Any]:
        """Carry out a command of the debugger in a session of `debug`, or at a log: `where` is its name or path.

        The words are pdb's: `break SPEC`, `continue`, `next`, `step`, `until`, `return`, `where`, `p EXPR`, `list`;
        back in time `rn`, `rs`, `rc`, `goto N`, `last EXPR`; `set value = ...`, `set grad = ...` in a program that
        waits; `help` tells all, `help WORD` one. Of what is answered, empty fields are left out.
        """
        found = self._programs.get(where)
        if found is None:
            return self._in_log(where, line)
        command, _ = resolve(line)
        if command is not None and command.name == "quit":
            return self.end(where)
        return _told(*found.carry_out(line, seconds))

    def wait(self, session: str, seconds: float = 60, pause: bool = False) -> dict[str, Any]:
        """Wait until a program that runs stops or ends; with `pause`, stop it at its next node."""
        return _told(*self._program(session).wait(seconds, pause=pause))

    def end(self, session: str, keep: str = "") -> dict[str, Any]:
        """End a program that `debug` has started; its log goes with it, unless `keep` names a path for it."""
        program = self._program(session)
        log = program.end(keep)
        del self._programs[session]
        return {"state": "ended", "log": log or None}

    def close(self) -> None:
        """End all programs."""
        while self._programs:
            self._programs.popitem()[1].close()

    def _program(self, session: str) -> Program:
        found = self._programs.get(session)
        if found is None:
            raise CommandError(f"There is no session {session!r}", f"there are: {', '.join(self._programs) or 'none'}")
        return found

    def _in_log(self, log: str, line: str) -> dict[str, Any]:
        with self._opened.turn:
            debugger = self._opened.debugger(log)
            result = carry_out(debugger, line)
            if isinstance(result, Ended):
                result = Message("A log stays as it is", "read on, or leave")
            return _told(result, {"row": debugger.now, **self._opened.owning_up(log)})


RUNNING: Final = (Running.record, Running.debug, Running.command, Running.wait, Running.end)
"""The tools of a client that may run programs."""


async def _end(process: Process) -> None:
    """Interrupt a program that still runs, and kill it where that does not help; those that it started, too."""
    for number, seconds in ((signal.SIGINT, _PATIENCE), (signal.SIGKILL, None)):
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with anyio.move_on_after(seconds):
                await process.wait()
    await process.aclose()


def _told(result: Result | None, place: dict[str, Any]) -> dict[str, Any]:
    """A result as `text` and as data, no more of either than a client can read, and where one stands."""
    if result is None:
        return place
    return {"text": cut(text_of(result)), "result": _limited(to_json(result)), **place}


def _limited(data: Any) -> Any:
    """The same data without what is empty, or behind the first items of a long list or characters of a long text."""
    if isinstance(data, dict):
        return {name: _limited(value) for name, value in data.items() if value not in (None, "", [], False)}
    if isinstance(data, list):
        return [_limited(each) for each in data[:LONGEST]]
    return cut(data) if isinstance(data, str) else data
