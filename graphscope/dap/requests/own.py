"""Requests that the protocol has no word for. Their names begin with `graphscope/`."""

from __future__ import annotations

from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments
from graphscope.dap.table import Body, request
from graphscope.debugger.results import to_json


@request("graphscope/command")
async def command(adapter: Adapter, arguments: Arguments) -> Body:
    """Carry out a line of the debugger's own language and answer its result as data.

    Arguments: `line`, and `block`, the lines of a command that takes some. The body is `result`, as
    `graphscope.debugger.results.to_json` writes it, and `now`.
    """
    frame = adapter.references.frame_of(arguments.number("frameId")) if "frameId" in arguments else None
    result = await adapter.carry_out(arguments.text("line"), tuple(arguments.texts("block")), frame)
    return {"result": to_json(result), "now": adapter.need_session().debugger.now}


@request("graphscope/position")
async def position(adapter: Adapter, arguments: Arguments) -> Body:
    """Where in time one stands.

    The body is `log` (a path), `now`, `edge` (the row that the program waits at, or null), and `running`.
    """
    session = adapter.need_session()
    debugger = session.debugger
    return {
        "log": str(debugger.log.path),
        "now": debugger.now,
        "edge": None if debugger.edge is None or session.running else debugger.edge.row,
        "running": session.running,
    }


@request("graphscope/input")
async def type_in(adapter: Adapter, arguments: Arguments) -> Body:
    """Type `text` into the terminal of the program; a line ends with a newline."""
    if adapter.process is not None:
        adapter.process.type(arguments.text("text"))
    return None


@request("graphscope/resize")
async def resize(adapter: Adapter, arguments: Arguments) -> Body:
    """Tell the terminal of the program that it has so many `rows` and `columns`."""
    if adapter.process is not None:
        adapter.process.resize(arguments.number("rows"), arguments.number("columns"))
    return None
