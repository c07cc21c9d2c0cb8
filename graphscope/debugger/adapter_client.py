"""A connection to a debug adapter: requests go out and are waited for, events are received as they come."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from graphscope.errors import CommandError

Hear = Callable[[str, dict[str, Any]], None]
"""Hears of an event: its name and its body. It is called on the thread that reads, so it must not ask."""

_HEAD: Final = b"Content-Length:"


class AdapterClient:
    """A client of the Debug Adapter Protocol.

    Args:
        connection: A connected socket.
        hear: Hears of events.
    """

    def __init__(self, connection: socket.socket, hear: Hear) -> None:
        self._connection = connection
        self._hear = hear
        self._sequence = 0
        self._sending = threading.Lock()
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._cut = False
        threading.Thread(target=self._listen, name="graphscope-line", daemon=True).start()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Ask, and wait for the answer; its body.

        Raises:
            CommandError: The adapter refuses, or is gone.
        """
        answer = self._send(command, arguments).result()
        if not answer["success"]:
            error = answer.get("body", {}).get("error", {})
            raise CommandError(str(answer.get("message") or error.get("format", "The adapter refuses")))
        body: dict[str, Any] = answer.get("body") or {}
        return body

    def tell(self, command: str, **arguments: Any) -> None:
        """Ask, and do not wait."""
        with contextlib.suppress(CommandError):
            self._send(command, arguments)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _send(self, command: str, arguments: dict[str, Any]) -> Future[dict[str, Any]]:
        answer: Future[dict[str, Any]] = Future()
        with self._sending:
            self._sequence += 1
            if self._cut:
                raise CommandError("The debug adapter is gone", "q leaves")
            self._waiting[self._sequence] = answer
            message = {"seq": self._sequence, "type": "request", "command": command, "arguments": arguments}
            text = json.dumps(message).encode()
            try:
                self._connection.sendall(_HEAD + b" %d\r\n\r\n%b" % (len(text), text))
            except OSError:
                del self._waiting[self._sequence]
                raise CommandError("The debug adapter is gone", "q leaves") from None
        return answer

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._connection.makefile("rb") as stream:
            while head := stream.readline():
                if head.startswith(_HEAD):
                    size = int(head[len(_HEAD) :])
                    while stream.readline().strip():  # other headers
                        pass
                    self._arrived(json.loads(stream.read(size)))
        with self._sending:
            self._cut = True
            left, self._waiting = list(self._waiting.values()), {}
        for answer in left:
            answer.set_result({"success": False, "message": "The debug adapter is gone"})
        self._hear("gone", {})

    def _arrived(self, message: dict[str, Any]) -> None:
        if message["type"] == "event":
            self._hear(message["event"], message.get("body", {}))
        elif message["type"] == "response":
            answer = self._waiting.pop(message["request_seq"], None)
            if answer is not None:
                answer.set_result(message)
