"""A client of `graphscope mcp`, made by the protocol's own SDK."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

_Found = TypeVar("_Found")


class Refused(Exception):
    """The server said that a call can't be carried out."""


class Caller:
    """Calls tools, and counts how often.

    Args:
        client: The client, connected.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.calls = 0

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data that a tool answers."""
        self.calls += 1
        answer = await self.client.call_tool(tool, arguments)
        if answer.is_error:
            raise Refused(answer.content[0].text)  # type: ignore[union-attr]
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content


def talk(folder: Path, conversation: Callable[[Caller], Awaitable[_Found]], *words: str) -> _Found:
    """Start a server in a folder and talk with it; behind that it is gone."""

    async def go() -> _Found:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "graphscope", "mcp", *words], cwd=folder, env=dict(os.environ)
        )
        async with Client(stdio_client(server)) as client:
            return await conversation(Caller(client))

    return asyncio.run(go())
