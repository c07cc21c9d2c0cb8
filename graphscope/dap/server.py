"""Where clients come from: the standard streams, or a socket that only this machine reaches."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import stat
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from graphscope.dap import requests as requests  # fills the table
from graphscope.dap.adapter import Adapter
from graphscope.dap.protocol import framed, read_message
from graphscope.errors import UsageError

Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""What editors send to an adapter that they have no use for any more: it cleans up and ends."""


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    token: str | None = None,
    gone: asyncio.Event | None = None,
) -> None:
    """Serve one client until it leaves or is gone; `gone` says so where its stream does not."""

    def send(message: Mapping[str, Any]) -> None:
        if not writer.is_closing():
            writer.write(framed(message))

    adapter = Adapter(send, token)
    ends = [asyncio.create_task(each.wait()) for each in (adapter.finished, gone) if each is not None]
    try:
        while not adapter.finished.is_set():
            reading = asyncio.create_task(read_message(reader))
            await asyncio.wait((reading, *ends), return_when=asyncio.FIRST_COMPLETED)
            read = None
            if reading.done():
                with contextlib.suppress(OSError):
                    read = reading.result()
            elif reading.cancel() and adapter.finished.is_set():
                break
            if read is None:  # gone without a word
                await adapter.leave(adapter.ends_with_client)
                break
            adapter.receive(*read)
            with contextlib.suppress(OSError):
                await writer.drain()
    finally:
        for waiting in ends:
            waiting.cancel()
        await adapter.close()
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()


def serve_stdio() -> int:
    """Serve the client at the standard streams; what anything else prints goes to standard error."""
    stdin, stdout = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(stdin, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(stdout, "wb", 0)
        )
        await converse(reader, asyncio.StreamWriter(transport, protocol, reader, loop), gone=_termination())

    for number, use in ((stdin, "input"), (stdout, "output")):
        mode = os.fstat(number).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(number)):
            raise UsageError(
                f"the standard {use} is no pipe, and a client is spoken to", "an editor starts this command"
            )
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(serve())
    return 0


def _termination() -> asyncio.Event:
    """Set when the system tells this process to end; what it holds is let go then. Told again, it ends at once."""
    requested, loop, serving = asyncio.Event(), asyncio.get_running_loop(), asyncio.current_task()
    assert serving is not None

    def tell() -> None:
        serving.cancel() if requested.is_set() else requested.set()

    for number in SIGNALS:
        with contextlib.suppress(NotImplementedError):  # as on Windows
            loop.add_signal_handler(number, tell)
    return requested


def serve_socket(address: str, announce: Callable[[str, str], None], *, once: bool = False) -> int:
    """Serve clients at an address: `unix:PATH`, or `PORT` or `HOST:PORT` of this machine.

    Args:
        address: Where.
        announce: Told the address and the token when clients may come.
        once: Whether the first client is the only one.

    Raises:
        UsageError: That is no address of this machine.
    """
    token = secrets.token_urlsafe(24)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(address, token, announce, once))
    return 0


async def _serve(address: str, token: str, announce: Callable[[str, str], None], once: bool) -> None:
    over = _termination()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await converse(reader, writer, token, over)
        finally:
            if once:
                over.set()

    server, where, path = await _listen(address, client)
    announce(where, token)
    try:
        async with server:
            await over.wait()
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


async def _listen(address: str, client: Client) -> tuple[asyncio.Server, str, Path | None]:
    kind, _, place = address.partition(":")
    try:
        if kind == "unix":
            path = Path(place)
            before = os.umask(0o177)
            try:
                server = await asyncio.start_unix_server(client, path)
            finally:
                os.umask(before)
            return server, f"unix:{path}", path
        host, _, port = address.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if host not in ("127.0.0.1", "::1", "localhost"):
            raise UsageError(
                f"{host!r} is not this machine", "a debugger runs what it is told to: forward a port by ssh"
            )
        server = await asyncio.start_server(client, host, int(port))
    except (OSError, ValueError) as error:
        number = getattr(error, "errno", None) or 0
        why = os.strerror(number) if number > 0 else error  # asyncio's own words repeat the address
        raise UsageError(f"can't listen at {address!r}: {why}", "--listen 0 takes a free port") from None
    bound = next(each for each in server.sockets if each.family in (socket.AF_INET, socket.AF_INET6))
    return server, f"{host}:{bound.getsockname()[1]}", None
