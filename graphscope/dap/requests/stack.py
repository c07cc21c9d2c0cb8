"""Requests about threads and their frames."""

from __future__ import annotations

from graphscope.dap import stack_frames
from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments
from graphscope.dap.request_table import Body, request
from graphscope.dap.sibling_processes import thread_names
from graphscope.dap.variable_scopes import scopes_of


@request("threads")
async def threads(adapter: Adapter, arguments: Arguments) -> Body:
    """The threads that have made nodes, and those of other processes of the same run."""
    session = adapter.need_session()
    own = [{"id": number, "name": name} for number, name in enumerate(thread_names(session.debugger.log), 1)]
    return {"threads": own + adapter.siblings.threads(session)}


@request("stackTrace", "supportsDelayedStackTraceLoading", when="stop")
async def stack_trace(adapter: Adapter, arguments: Arguments) -> Body:
    """The node, the modules around it, and the Python frames."""
    session, thread = adapter.need_session(), arguments.number("threadId")
    session, thread = adapter.siblings.member(thread, session) or (session, thread)
    found = stack_frames.frames(adapter.references, session, thread)
    start, levels = max(arguments.number("startFrame", 0), 0), max(arguments.number("levels", 0), 0)
    return {"stackFrames": found[start : start + levels if levels else None], "totalFrames": len(found)}


@request("scopes", when="stop")
async def scopes(adapter: Adapter, arguments: Arguments) -> Body:
    """What can be seen at a frame."""
    number = arguments.number("frameId")
    place = adapter.references.frame_of(number)
    return {"scopes": scopes_of(adapter.references, adapter.references.session_of(number), place)}
