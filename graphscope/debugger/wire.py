"""Messages between the debugger and the program that it holds: JSON with an optional run of bytes, over a socket."""

from __future__ import annotations

import contextlib
import json
import selectors
import signal
import socket
import struct
import threading
from collections import deque
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from graphscope.debugger.output_marks import mark_output
from graphscope.errors import UsageError

HEAD: Final = struct.Struct("<IQ")
"""Ahead of each message: how long its JSON is, and how long the bytes behind it."""

LONGEST_TEXT: Final = 1 << 28
"""No message has so much JSON: what claims to is no message."""

_Selector: Final = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""Poll, where there is one: select can't look at a socket whose number is above 1023, as that of a program that opens
many files may be."""


class WireError(Exception):
    """What arrived is no message of ours."""


def pack(message: Mapping[str, Any], blob: bytes | memoryview = b"") -> bytes:
    """A message as bytes."""
    text = json.dumps(message, separators=(",", ":")).encode()
    return b"".join((HEAD.pack(len(text), len(blob)), text, blob))


def read_head(head: bytes) -> tuple[int, int]:
    """How long the JSON of a message is, and the bytes behind it.

    Raises:
        WireError: That is no head of a message.
    """
    text, blob = HEAD.unpack(head)
    if text > LONGEST_TEXT:
        raise WireError("the other end does not speak this protocol")
    return text, blob


def read_text(text: bytes) -> dict[str, Any]:
    """The JSON of a message.

    Raises:
        WireError: It is none.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"the other end sent what is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise WireError("the other end sent what is no message")
    return found


class Channel:
    """The program's end of the line; whichever thread waits reads it, and any may write."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._writing = threading.Lock()
        self._outgoing: deque[bytes] = deque()

    def send(self, message: Mapping[str, Any], blob: bytes | memoryview = b"") -> bool:
        """Send a message; False when nobody is there any more."""
        self._outgoing.append(pack(message, blob))
        # A signal handler may send in the middle of a send of the same thread: whoever holds the lock sends for all.
        while self._outgoing and self._writing.acquire(blocking=False):
            try:
                while self._outgoing:
                    self._connection.sendall(self._outgoing.popleft())
            except OSError:
                return False
            finally:
                self._writing.release()
        return True

    def receive(self) -> dict[str, Any] | None:
        """The next message, waited for; None when nobody is there any more."""
        try:
            text, blob = read_head(self._exactly(HEAD.size))
            message = read_text(self._exactly(text))
            self._exactly(blob)
        except (OSError, EOFError, WireError):
            return None
        return message

    def waiting(self) -> bool:
        """Whether something can be read at once: a message, or that the other end is gone."""
        try:  # the socket itself stays blocking: another thread may be sending
            return self._readable(0)
        except (OSError, ValueError):
            return True

    def wait(self) -> None:
        """Wait until something can be read."""
        with contextlib.suppress(OSError, ValueError):
            self._readable(None)

    def _readable(self, seconds: float | None) -> bool:
        with _Selector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            return bool(selector.select(seconds))

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._connection.close()

    def _exactly(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            part = self._connection.recv(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def connect(address: str) -> Channel:
    """The line to who waits at an address: `fd:7` is a socket that was inherited, `unix:PATH` one of this machine.

    Raises:
        UsageError: Nobody waits there.
    """
    kind, _, place = address.partition(":")
    try:
        if kind == "fd":
            connection = socket.socket(fileno=int(place))
            connection.set_inheritable(False)  # programs that this one starts have no business with it
            _own_terminal()
            mark_output()
        else:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(place)
    except (OSError, ValueError) as error:
        raise UsageError(f"no debugger waits at {address}: {error}") from None
    return Channel(connection)


def _own_terminal() -> None:
    """Make the terminal of the standard input the one that Ctrl-C comes from, where the system can.

    It hangs up when the debugger dies. That has to end the program, also when all of this was started by `nohup`.
    """
    with contextlib.suppress(ImportError, OSError):
        fcntl, termios = import_module("fcntl"), import_module("termios")
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
