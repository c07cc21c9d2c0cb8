"""Requests that the protocol has no word for. Their names begin with `graphscope/`."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from graphscope import exporting as exporting  # its command enters the table
from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, request
from graphscope.debugger.json_data import to_json


@request("graphscope/command")
async def command(adapter: Adapter, arguments: Arguments) -> Body:
    """Carry out a line of the debugger's own language and answer its result as data.

    Arguments: `line`, and `block`, the lines of a command that takes some. The body is `result`, as
    `graphscope.debugger.json_data.to_json` writes it, and `now`.
    """
    _, frame = adapter.at_frame(arguments)
    result = await adapter.carry_out(arguments.text("line"), tuple(arguments.texts("block")), frame)
    return {"result": to_json(result), "now": adapter.need_session().debugger.now}


@request("graphscope/position")
async def position(adapter: Adapter, arguments: Arguments) -> Body:
    """Where in time one stands.

    The body is `log` (a path), `now`, `end` (behind the last row), `edge` (the row that the program waits at, or null),
    `running`, `failed` (the program did), `other` (the log of the run to compare with, or null), and as data `stop`
    (the last one, or null), `breakpoints` and `aliases`.
    """
    session = adapter.need_session()
    debugger = session.debugger
    return {
        "log": str(debugger.log.path),
        "now": debugger.now,
        "end": debugger.log.end,
        "edge": None if debugger.edge is None or session.running else debugger.edge.row,
        "running": session.running,
        "stop": None if adapter.last_stop is None else to_json(adapter.last_stop),
        "failed": session.failed,
        "other": None if debugger.other is None else str(debugger.other),
        "breakpoints": to_json(tuple(found.info for found in debugger.breakpoints)),
        "aliases": debugger.aliases,
    }


@request("graphscope/keep")
async def keep(adapter: Adapter, arguments: Arguments) -> Body:
    """End the program and move its recording, which nobody has named, to `path`: else it goes with the session."""
    path = Path(arguments.text("path")).absolute()
    if path.exists():
        raise RequestError(f"{str(path)!r} exists", "choose another name")
    if adapter.process is None:
        raise RequestError("No program was started from here", "its recording is where it was started")
    await adapter.leave(end=True)
    adapter.save_setup()
    await asyncio.to_thread(adapter.process.keep, path)
    return {"log": str(path)}


@request("graphscope/arrangement")
async def arrangement(adapter: Adapter, arguments: Arguments) -> Body:
    """Keep with the log of the program how the client's `screen` is arranged: an object that only the client reads."""
    adapter.screen = arguments.object("screen").fields
    return None


@request("graphscope/release")
async def release(adapter: Adapter, arguments: Arguments) -> Body:
    """Let the program go on without a debugger; the session stays, so that its end is told and its log can be kept."""
    await adapter.need_session().leave(end=False)
    return None


@request("graphscope/interrupt")
async def interrupt(adapter: Adapter, arguments: Arguments) -> Body:
    """Interrupt a program that was released, as Ctrl-C does."""
    if adapter.process is not None:
        adapter.process.kill(signal.SIGINT)
    return None


@request("graphscope/input")
async def type_in(adapter: Adapter, arguments: Arguments) -> Body:
    """Type `text` into the terminal of the program; a line ends with a newline."""
    adapter.type(arguments.text("text"))
    return None


@request("graphscope/resize")
async def resize(adapter: Adapter, arguments: Arguments) -> Body:
    """Tell the terminal of the program that it has so many `rows` and `columns`."""
    rows, columns = arguments.size()
    if adapter.process is not None:
        adapter.process.resize(rows, columns)
    return None
