"""Processes that a program starts: the client is asked to begin a session with each."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.errors import GraphscopeError

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter

_COMING: Final = 60.0
"""Seconds that a process has to come to where it waits: it may have libraries to load."""

_LOOKING: Final = 0.05
"""Seconds between two looks whether it is there."""


def are_wished(adapter: Adapter) -> bool:
    """Whether the client debugs such processes: it must be able to begin a session when it is asked to."""
    return bool(adapter.client.get("supportsStartDebuggingRequest")) and adapter.wishes.flag("subProcess", default=True)


async def debug(adapter: Adapter, name: str, process: int, place: str) -> None:
    """Ask the client to hold a process that waits at a place."""
    door = Path(place.removeprefix("unix:"))
    try:
        async with asyncio.timeout(_COMING):
            while not door.exists():
                await asyncio.sleep(_LOOKING)
        configuration = {
            "type": "graphscope",
            "name": f"{name} ({process})",
            "address": place,
            "granularity": adapter.need_session().debugger.granularity,
            "justMyCode": adapter.need_session().debugger.just_my_code,
            "pathMappings": [{"localRoot": here, "remoteRoot": there} for here, there in adapter.paths.pairs],
        }
        await adapter.ask("startDebugging", request="attach", configuration=configuration)
    except (TimeoutError, GraphscopeError) as error:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
            line.connect(str(door))  # and hangs up: the process goes on without a debugger
        reason = error.message if isinstance(error, GraphscopeError) else "it did not come to where it was to wait"
        text = f"graphscope: breakpoints don't hold in process {process}: {reason}\n"
        adapter.event("output", category="console", output=text)
