"""A program that asks to be debugged: it waits until an adapter holds it, and goes on under it."""

from __future__ import annotations

import hmac
import os
import secrets
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Final

from graphscope.debugger.remote import Remote, attend_to, begin, gate_of
from graphscope.debugger.wire import Channel
from graphscope.errors import UsageError
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import load

TOKEN: Final = 64
"""So many bytes, padded with spaces, are what an adapter sends first."""


def listen(address: str | None = None, *, token: str | None = None) -> None:
    """Wait for a debugger, then go on under it; the editor's `attach` names the address that is printed.

    Args:
        address: `unix:PATH`, or `PORT` or `127.0.0.1:PORT` (0 takes a free one), where whoever comes must show the
            token that is printed, too. None makes a socket in a folder that only this user can open; `attach` finds
            that by the number of the process, too.
        token: What whoever comes must show, instead of one that is made up and printed.

    Raises:
        UsageError: One can't wait there, or a debugger has the program already.
    """
    writer = recording.active()
    if writer is not None and writer.gate is not None:
        raise UsageError("A debugger has this program already", "listen() once")
    connection = _accepted(address, token)
    log = recording.record().__enter__() if writer is None else load(writer.path)
    remote = Remote(Channel(connection))
    gate = gate_of(log, remote)
    attend_to(remote, gate)
    begin(remote, gate)


def waiting_places(process: int) -> list[str]:
    """Where a program that waits at `listen()` can be reached, by the number of its process."""
    folders = Path(tempfile.gettempdir()).glob(f"{_PREFIX}{process}-*")
    return [f"unix:{folder}/socket" for folder in folders if (folder / "socket").exists()]


_PREFIX: Final = "graphscope-at-"
"""What the folders are called where programs wait; behind it comes the number of the process."""


def _accepted(address: str | None, given: str | None) -> socket.socket:
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")) if address is None else None
    where = address or f"unix:{folder}/socket"
    kind, _, path = where.partition(":")
    token = given or ("" if kind == "unix" else secrets.token_urlsafe(24))
    try:
        with _bound(where) as server:
            shown = where if kind == "unix" else ":".join(map(str, server.getsockname()[:2]))
            said = f"graphscope: waiting for a debugger at {shown}"
            sys.stderr.write(f"{said} token {token}\n" if token and not given else f"{said}\n")
            sys.stderr.flush()
            while True:
                connection, _ = server.accept()
                if _admitted(connection, token):
                    return connection
                connection.close()
    finally:
        if kind == "unix":
            Path(path).unlink(missing_ok=True)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def accepted_at(address: str, patience: float) -> socket.socket | None:
    """The connection of a debugger that comes to a private place within so many seconds."""
    with _bound(address) as server:
        server.settimeout(patience)
        try:
            connection, _ = server.accept()
        except TimeoutError:
            return None
    return connection if _admitted(connection, "") else None


def _admitted(connection: socket.socket, token: str) -> bool:
    connection.settimeout(10.0)
    try:
        shown = b""
        while len(shown) < TOKEN:
            part = connection.recv(TOKEN - len(shown))
            if not part:
                return False
            shown += part
    except OSError:
        return False
    connection.settimeout(None)
    return not token or hmac.compare_digest(shown.strip(), token.encode())


def _bound(address: str) -> socket.socket:
    kind, _, place = address.partition(":")
    try:
        if kind == "unix":
            server = socket.socket(socket.AF_UNIX)
            before = os.umask(0o177)
            try:
                server.bind(place)
            finally:
                os.umask(before)
        else:
            host, _, port = address.rpartition(":")
            if host not in ("", "127.0.0.1", "localhost"):
                raise UsageError(f"{host!r} is not this machine", "forward a port by ssh")
            server = socket.socket()
            server.bind(("127.0.0.1", int(port)))
        server.listen(1)
    except (OSError, ValueError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        hint = "listen('0') takes a free port, listen() a place of its own"
        raise UsageError(f"can't wait for a debugger at {address!r}: {why}", hint) from None
    return server
