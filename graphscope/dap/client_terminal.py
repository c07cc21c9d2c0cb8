"""A program in a terminal of the client's: the client starts it there, and it comes to where we wait."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.dap.protocol import RequestError
from graphscope.eventlog.folder import Folder

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter
    from graphscope.dap.program import Launch

TERMINALS: Final = {"": "", "internalConsole": "", "integratedTerminal": "integrated", "externalTerminal": "external"}
"""What `console` may be, and the kind of terminal that the client is asked for; nothing where ours does."""

COMING: Final = 60.0
"""Seconds that the program has to come: a person may have to allow it."""


class ClientTerminal:
    """A private place where one program comes to, and its log if nobody named one."""

    def __init__(self) -> None:
        self._folder = Folder()
        self.owns_log = False
        """Whether the log, which nobody named, lies in this place."""

    async def start(self, adapter: Adapter, how: Launch) -> socket.socket:
        """Let the client start a program; our end of the line to it.

        Raises:
            GraphscopeError: The client refused, or the program did not come.
        """
        self.owns_log = how.log is None
        where = self._folder.path / "gate"  # nobody else may look into this folder
        command = how.command(f"unix:{where}", how.log or str(self._folder.path / "memory.gscope"))
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(where))
            door.listen(1)
            door.setblocking(False)
            place = {"title": "graphscope", "cwd": how.cwd or str(Path.cwd()), "env": how.env}
            await adapter.ask("runInTerminal", kind=how.terminal, args=command, **place)
            try:
                connection, _ = await asyncio.wait_for(loop.sock_accept(door), COMING)
            except TimeoutError:
                raise RequestError(f"The program did not come within {COMING:g} s", "its terminal says why") from None
        return connection

    def forget(self) -> None:
        """Remove the place, and the log that nobody named."""
        self._folder.remove()
