"""Requests about threads and their frames."""

from __future__ import annotations

from graphscope.dap import stack
from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments
from graphscope.dap.scopes import scopes_of
from graphscope.dap.table import Body, request


@request("threads")
async def threads(adapter: Adapter, arguments: Arguments) -> Body:
    """The threads that have made nodes."""
    log = adapter.need_session().debugger.log
    known = [entry if isinstance(entry, dict) else {} for entry in log.table("threads")]
    told = [{"id": number, "name": str(entry.get("name", number))} for number, entry in enumerate(known, 1)]
    return {"threads": told or [{"id": 1, "name": "MainThread"}]}


@request("stackTrace", "supportsDelayedStackTraceLoading", when="stop")
async def stack_trace(adapter: Adapter, arguments: Arguments) -> Body:
    """The node, the modules around it, and the Python frames."""
    found = stack.frames(adapter, arguments.number("threadId"))
    start, levels = max(arguments.number("startFrame", 0), 0), max(arguments.number("levels", 0), 0)
    return {"stackFrames": found[start : start + levels if levels else None], "totalFrames": len(found)}


@request("scopes", when="stop")
async def scopes(adapter: Adapter, arguments: Arguments) -> Body:
    """What can be seen at a frame."""
    frame = adapter.references.frame_of(arguments.number("frameId"))
    return {"scopes": scopes_of(adapter, frame)}
