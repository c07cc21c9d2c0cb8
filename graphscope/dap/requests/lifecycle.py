"""How a session begins and ends."""

from __future__ import annotations

from graphscope.dap import session_start
from graphscope.dap.adapter import Adapter
from graphscope.dap.exception_filters import filters
from graphscope.dap.numbering import numbering_of
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, capabilities, request


@request("initialize", when="always")
async def initialize(adapter: Adapter, arguments: Arguments) -> Body:
    """Tell what the adapter can do."""
    if adapter.client:
        raise RequestError("The adapter was initialized before")
    if arguments.text("pathFormat", "path") != "path":
        raise RequestError("Files are told as paths", "pathFormat: path")
    adapter.show_token(arguments.fields.get("token"))
    adapter.client = {"adapterID": "graphscope", **arguments.fields}
    adapter.numbering = numbering_of(adapter.client)
    symptoms = [
        {"filter": name, "label": found.label, "description": found.doc, "default": found.default}
        | ({"supportsCondition": True} if found.spec else {})
        | ({"conditionDescription": found.kinds} if found.kinds else {})
        for name, found in filters().items()
    ]
    return capabilities() | {"exceptionBreakpointFilters": symptoms, "completionTriggerCharacters": [".", ":", "#"]}


@request("launch", when="always")
async def launch(adapter: Adapter, arguments: Arguments) -> Body:
    """Start a program; it waits until the configuration is done."""
    _claim(adapter, arguments)
    await session_start.launch(adapter, session_start.launch_of(arguments))
    return None


@request("attach", when="always")
async def attach(adapter: Adapter, arguments: Arguments) -> Body:
    """Open a recorded log, or hold a program that waits at `gs.listen()`."""
    _claim(adapter, arguments)
    await session_start.attach(adapter, arguments)
    return None


@request("configurationDone", "supportsConfigurationDoneRequest")
async def configuration_done(adapter: Adapter, arguments: Arguments) -> Body:
    """Let the session begin."""
    adapter.afterwards(adapter.begin)
    return None


@request("restart", "supportsRestartRequest")
async def restart(adapter: Adapter, arguments: Arguments) -> Body:
    """Run the program again from its beginning; of a recording, go to its beginning."""
    again = arguments.object("arguments")
    if again.fields:
        adapter.wish(again)
        if "program" in again or "module" in again:
            adapter.launched = session_start.launch_of(again)
    adapter.afterwards(adapter.restart)
    return None


@request("terminate", "supportsTerminateRequest", when="session")
async def terminate(adapter: Adapter, arguments: Arguments) -> Body:
    """End the program."""
    session = adapter.need_session()

    async def work() -> None:
        await session.leave(end=True)
        adapter.ended(adapter.process.code if adapter.process is not None else None)

    adapter.afterwards(work)
    return None


@request("disconnect", "supportTerminateDebuggee", when="always")
async def disconnect(adapter: Adapter, arguments: Arguments) -> Body:
    """Leave; a program that was launched ends, one that was attached to goes on, unless something else is asked for."""
    await adapter.leave(arguments.flag("terminateDebuggee", default=adapter.ends_with_client))

    async def work() -> None:
        adapter.finished.set()

    adapter.afterwards(work)
    return None


@request("cancel", "supportsCancelRequest", when="always")
async def cancel(adapter: Adapter, arguments: Arguments) -> Body:
    """Drop a request that is waiting for the program, or what shows its progress."""
    if "requestId" in arguments:
        adapter.cancel(arguments.number("requestId"))
    if "progressId" in arguments and adapter.session is not None:
        adapter.session.worker.interrupt()
    return None


def _claim(adapter: Adapter, arguments: Arguments) -> None:
    if not adapter.client:
        raise RequestError("initialize comes first")
    adapter.show_token(arguments.fields.get("token"))
    adapter.need_token()
    if adapter.session is not None:
        raise RequestError("There is a session already", "disconnect it, or restart")
    adapter.wish(arguments)
