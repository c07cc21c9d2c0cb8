"""Requests about variables and memory."""

from __future__ import annotations

import base64

from graphscope.dap.adapter import Adapter
from graphscope.dap.log_session import Session
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.references import Opened
from graphscope.dap.request_table import Body, request

MOST_BYTES = 1 << 24
"""So much memory is read at once."""


@request("variables", when="stop")
async def variables(adapter: Adapter, arguments: Arguments) -> Body:
    """What is inside a variable: of a large tensor, the elements that are asked for."""
    opened = adapter.references.get(arguments.number("variablesReference"))
    start, count = max(arguments.number("start", 0), 0), max(arguments.number("count", 0), 0)
    entries = await opened.open(arguments.text("filter", ""), start, min(count, 1 << 16))
    opened.told |= {entry.name: entry for entry in entries}
    return {"variables": [adapter.references.variable(opened.session, entry, opened.frame) for entry in entries]}


@request("setVariable", "supportsSetVariable", when="stop")
async def set_variable(adapter: Adapter, arguments: Arguments) -> Body:
    """Give a variable of the program, or what it waits with, another value."""
    opened = adapter.references.get(arguments.number("variablesReference"))
    name = arguments.text("name")
    target = await _expression(opened, name)
    return await _assigned(adapter, opened.session, target, arguments.text("value"), opened.frame)


@request("setExpression", "supportsSetExpression", when="stop")
async def set_expression(adapter: Adapter, arguments: Arguments) -> Body:
    """As `setVariable`, for an expression."""
    session, frame = adapter.at_frame(arguments)
    return await _assigned(adapter, session, arguments.text("expression"), arguments.text("value"), frame)


@request("readMemory", "supportsReadMemoryRequest", when="stop")
async def read_memory(adapter: Adapter, arguments: Arguments) -> Body:
    """The bytes of a tensor."""
    reference = arguments.text("memoryReference")
    session, handle = adapter.references.memory_of(reference)
    offset, count = arguments.number("offset", 0), arguments.number("count")
    if count < 0:
        raise RequestError("readMemory: 'count' must not be negative")
    size, data = await session.memory(handle, offset, min(count, MOST_BYTES))
    missing = count - len(data) if offset + count > size or offset < 0 else 0
    return {"address": str(offset), "data": base64.b64encode(data).decode(), "unreadableBytes": missing}


async def _expression(opened: Opened, name: str) -> str:
    if name not in opened.told:
        opened.told |= {entry.name: entry for entry in await opened.open("named", 0, 0)}
    found = opened.expression_of(name)
    if not found:
        raise RequestError(f"{name!r} can't be changed", "a variable of the program can, and `value` or `grad`")
    return found


async def _assigned(adapter: Adapter, session: Session, target: str, value: str, frame: int | None) -> Body:
    made = await session.assign(target, value, frame)
    adapter.changed()
    variable = adapter.references.variable(session, made, frame)
    return {key: variable[key] for key in variable if key not in ("name", "evaluateName")}
