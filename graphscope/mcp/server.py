"""The server: every tool of a table under its own name, by the official SDK, over the standard streams."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from graphscope._version import __version__
from graphscope.errors import GraphscopeError, UsageError
from graphscope.mcp.opened import Opened
from graphscope.mcp.reading import READING, Reading

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from graphscope.mcp.program import Adapter

Tool = Callable[..., Any]

_READING: Final = """\
graphscope keeps what a program computes (PyTorch, JAX, TensorFlow, NumPy) as a graph: each op of forward and backward
passes with values, gradients and source lines, in a log on disk. Begin with `doctor` of a log. `why` explains one
gradient, `diff` says where two runs part; `steps`, `nodes`, `node`, `value` and `source` look at details. Of a long
answer ask again with its `next_offset` as `offset`."""

_RUNNING: Final = """
`record` runs a script and makes a log of it. `debug` starts one that waits at breakpoints, in backward passes, too:
`command` steps through it in both directions of time, evaluates, and changes values and gradients."""


def serve(adapter: Adapter | None) -> None:
    """Serve over the standard streams until the client leaves; then nothing runs any more that it has started.

    Args:
        adapter: Makes an adapter that holds a program; None: a client reads logs, and can do nothing else.

    Raises:
        UsageError: The SDK is not installed.
    """
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise UsageError(
            f"the SDK of the Model Context Protocol is missing ({error})", 'pip install "graphscope-debugger[mcp]"'
        ) from None
    opened = Opened()
    instructions = _READING if adapter is None else _READING + _RUNNING
    made = MCPServer("graphscope", instructions=instructions, version=__version__, log_level="WARNING")
    reading = Reading(opened)
    _enter(made, [tool.__get__(reading) for tool in READING], reads=True)
    if adapter is None:
        made.run("stdio")
        return
    from graphscope.mcp.running import RUNNING, Running

    with closing(Running(opened, adapter)) as running:
        _enter(made, [tool.__get__(running) for tool in RUNNING], reads=False)
        made.run("stdio")


def _enter(server: MCPServer, tools: Sequence[Tool], *, reads: bool) -> None:
    """Let clients call tools, and tell them what these may do."""
    from mcp.types import ToolAnnotations

    about = ToolAnnotations(read_only_hint=reads, destructive_hint=not reads, open_world_hint=not reads)
    for tool in tools:
        server.add_tool(_refusing(tool), description=inspect.getdoc(tool), annotations=about)


def _refusing(tool: Tool) -> Tool:
    """A tool whose refusals reach the client as they are."""
    from mcp.server.mcpserver.exceptions import ToolError

    def told(error: GraphscopeError) -> ToolError:
        return ToolError(f"{error.message} ({error.hint})" if error.hint else error.message)

    @functools.wraps(tool)
    def refusing(**arguments: Any) -> Any:
        try:
            return tool(**arguments)
        except GraphscopeError as error:
            raise told(error) from error

    @functools.wraps(tool)
    async def refusing_later(**arguments: Any) -> Any:
        try:
            return await tool(**arguments)
        except GraphscopeError as error:
            raise told(error) from error

    return refusing_later if inspect.iscoroutinefunction(tool) else refusing
