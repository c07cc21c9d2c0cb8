"""An adapter in a thread of this process, for a screen that is drawn by it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

from graphscope.dap.server import converse


@contextlib.contextmanager
def adapter() -> Iterator[socket.socket]:
    """A connection to an adapter; behind the block it has left nothing of the program that it held."""
    client, remote = socket.socketpair()
    thread = threading.Thread(target=asyncio.run, args=(_serve(remote),), name="graphscope-adapter")
    thread.start()
    try:
        yield client
    finally:
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
        client.close()
        thread.join()


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    await converse(reader, writer)
