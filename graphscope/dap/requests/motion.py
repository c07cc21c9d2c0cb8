"""Requests that move in time: each is a command of the debugger that says so in its own table."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.request_table import Body, Handler, request
from graphscope.dap.stop_events import title
from graphscope.debugger import nodes
from graphscope.debugger.command_table import COMMANDS, Command
from graphscope.debugger.commands import stepping as stepping  # with the package come all commands
from graphscope.debugger.step_targets import Target
from graphscope.graph.search import rows_of
from graphscope.graph.select import parse

OFFERS: Final = {"stepBack": ("supportsStepBack",), "next": ("supportsSteppingGranularity",)}
"""What a client is told that these requests mean."""

FINEST: Final = {"next": "stepi", "stepIn": "stepi", "stepBack": "rsi"}
"""What a step by one instruction is: one node, wherever it is."""


def _moving(command: Command) -> Handler:
    async def move(adapter: Adapter, arguments: Arguments) -> Body:
        finest = arguments.text("granularity", "") == "instruction"
        line = FINEST.get(command.dap, command.name) if finest else command.name
        if command.dap == "stepIn" and "targetId" in arguments:
            line = f"into {arguments.number('targetId')}"
        adapter.afterwards(partial(adapter.move, line))
        return {"allThreadsContinued": True} if command.dap == "continue" else None

    move.__doc__ = command.doc
    return move


for _command in list(COMMANDS.values()):
    if _command.dap:
        request(_command.dap, *OFFERS.get(_command.dap, ()), when="stop")(_moving(_command))


@request("stepInTargets", "supportsStepInTargetsRequest", when="stop")
async def step_in_targets(adapter: Adapter, arguments: Arguments) -> Body:
    """The calls that are to come in the line of a frame, in their order: `stepIn` goes into the one that is chosen."""
    number = arguments.number("frameId")
    frame = adapter.references.frame_of(number)
    found = await adapter.references.session_of(number).step_targets(frame)
    return {"targets": [{"id": number, **_target(each)} for number, each in enumerate(found, 1)]}


def _target(found: Target) -> dict[str, Any]:
    begin, end = {"line": found.line, "column": found.column + 1}, {"endLine": found.end_line}
    return {"label": f"{found.name}()", **begin, **end, "endColumn": found.end_column + 1}


@request("pause", when="session")
async def pause(adapter: Adapter, arguments: Arguments) -> Body:
    """Stop the program at its next node, or where it is if it comes to none; interrupt what it computes for us."""
    adapter.afterwards(adapter.need_session().pause)
    return None


@request("gotoTargets", "supportsGotoTargetsRequest", when="stop")
async def goto_targets(adapter: Adapter, arguments: Arguments) -> Body:
    """The recorded nodes of a line."""
    debugger = adapter.need_session().debugger
    line = arguments.number("line")
    spec = parse(f'line:"{arguments.object("source").text("path")}":{line}')
    graph = debugger.graph.at(debugger.last_row)
    rows = rows_of(graph, spec)[-_MOST:].tolist()
    labels = (title(nodes.describe(graph.node(row))) for row in rows)
    return {"targets": [{"id": row, "label": label, "line": line} for row, label in zip(rows, labels, strict=True)]}


_MOST: Final = 100


@request("goto", when="stop")
async def goto(adapter: Adapter, arguments: Arguments) -> Body:
    """Go to a recorded node, in either direction of time."""
    row = arguments.number("targetId")
    debugger = adapter.need_session().debugger
    if not debugger.log.first <= row <= debugger.last_row:
        raise RequestError(f"There is no node #{row}", "gotoTargets tells those of a line")
    adapter.afterwards(partial(adapter.move, f"goto #{row}"))
    return None


@request("restartFrame", "supportsRestartFrame", when="stop")
async def restart_frame(adapter: Adapter, arguments: Arguments) -> Body:
    """Go back to the first node of a module or composite op that one is in; its frames say that they can."""
    row = adapter.references.start_of(arguments.number("frameId"))
    adapter.afterwards(partial(adapter.move, f"goto #{row}"))
    return None
