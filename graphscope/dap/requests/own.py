"""Requests that the protocol has no word for. Their names begin with `graphscope/`."""

from __future__ import annotations

import base64

from graphscope import exporting as exporting  # its command enters the table
from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments
from graphscope.dap.request_table import Body, request
from graphscope.debugger.results import to_json


@request("graphscope/command")
async def command(adapter: Adapter, arguments: Arguments) -> Body:
    """Carry out a line of the debugger's own language and answer its result as data.

    Arguments: `line`, and `block`, the lines of a command that takes some. The body is `result`, as
    `graphscope.debugger.results.to_json` writes it, and `now`.
    """
    _, frame = adapter.at_frame(arguments)
    result = await adapter.carry_out(arguments.text("line"), tuple(arguments.texts("block")), frame)
    return {"result": to_json(result), "now": adapter.need_session().debugger.now}


@request("graphscope/position")
async def position(adapter: Adapter, arguments: Arguments) -> Body:
    """Where in time one stands.

    The body is `log` (a path), `now`, `edge` (the row that the program waits at, or null), `running`, `edited` (whether
    something was changed there), and `stop`, the last stop as data, or null; where it is an exception or the end of the
    program that failed, `failure` names it.
    """
    session = adapter.need_session()
    debugger = session.debugger
    return {
        "log": str(debugger.log.path),
        "now": debugger.now,
        "edge": None if debugger.edge is None or session.running else debugger.edge.row,
        "running": session.running,
        "edited": session.edited,
        "stop": None if adapter.last_stop is None else to_json(adapter.last_stop),
        "failure": session.failure,
    }


@request("graphscope/replacement", when="stop")
async def replacement(adapter: Adapter, arguments: Arguments) -> Body:
    """What the program will go on with in place of what the log has, where a person has changed it.

    The body is `shape`, `dtype` (as NumPy writes it) and `data`, the elements in base64; `data` is null where nothing
    was changed, or it is too large to be sent.
    """
    array = await adapter.need_session().replacement()
    if array is None:
        return {"data": None}
    return {
        "shape": list(array.shape),
        "dtype": array.dtype.str,
        "data": base64.b64encode(array.tobytes()).decode(),
    }


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
