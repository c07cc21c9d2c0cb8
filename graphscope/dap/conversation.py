"""What goes back and forth between a client and its adapter: requests, answers, events, and the token that is shown."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from graphscope.dap.numbering import Numbering
from graphscope.dap.path_mappings import PathMappings
from graphscope.dap.protocol import Arguments, Malformed, RequestError
from graphscope.dap.request_table import REQUESTS, Body, Request
from graphscope.errors import GraphscopeError

Send = Callable[[Mapping[str, Any]], None]


_BEGINNING: Final = ("initialize", "launch", "attach", "restart")
"""Requests that nobody sees the failure of unless the editor shows it: there is no session yet to look at."""


class Conversation:
    """The messages of one client.

    Args:
        send: Sends a message to it.
        token: What it must show before it is told anything of a program; None where the way here is private.
    """

    def __init__(self, send: Send, token: str | None = None) -> None:
        self.client: dict[str, Any] = {}
        """What the client said of itself."""
        self.numbering = Numbering()
        self.paths = PathMappings()
        self._send = send
        self._token = token
        self._sequence = 0
        self._after: ContextVar[list[Callable[[], Awaitable[None]]]] = ContextVar("after")
        """What the request that a task answers leaves to be done."""
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._requested: dict[int, asyncio.Future[dict[str, Any]]] = {}
        """Requests to the client that it has not answered yet."""

    async def perform(self, request: Request, arguments: Arguments) -> Body:
        """Do what a request asks for, as soon as it makes sense; the body of the answer.

        Raises:
            GraphscopeError: It can't be done.
        """
        raise NotImplementedError

    def drop(self) -> None:
        """Drop all requests that are not answered yet."""
        for task in list(self._tasks.values()):
            task.cancel()

    def receive(self, message: dict[str, Any] | Malformed, headers: Mapping[str, str]) -> None:
        """Take a message from the client; what it asks for is done as the loop comes to it, in order of arrival."""
        self.show_token(headers.get("authorization"))
        if isinstance(message, Malformed):
            self._refuse({}, RequestError(f"That is {message.reason}"))
        elif message.get("type") == "request":
            task = asyncio.create_task(self._answer(message))
            key = object() if message.get("seq") in self._tasks else message.get("seq")
            self._tasks[key if isinstance(key, int) else task] = task
            task.add_done_callback(self._forget)
        elif message.get("type") == "response":
            answer = self._requested.pop(message.get("request_seq", 0), None)
            if answer is not None and not answer.done():
                answer.set_result(message)
        else:
            self._refuse(message, RequestError("A client sends requests", "type: request"))

    def show_token(self, token: object) -> None:
        """A client shows what it was given."""
        if self._token is not None and isinstance(token, str) and hmac.compare_digest(self._token, token.strip()):
            self._token = None

    def need_token(self) -> None:
        """Refuse a client that has not shown its token.

        Raises:
            RequestError: It has not.
        """
        if self._token is not None:
            raise RequestError("This adapter asks for a token", "it was printed when the adapter was started")

    async def _answer(self, message: dict[str, Any]) -> None:
        after: list[Callable[[], Awaitable[None]]] = []
        try:
            name = message.get("command")
            found = REQUESTS.get(name) if isinstance(name, str) else None
            if found is None:
                raise RequestError(f"There is no request {name!r}", "initialize tells what there is")
            given = self.numbering.from_client(found.name, message.get("arguments"))
            arguments = Arguments(found.name, self.paths.from_client(found.name, given))
            if found.when != "always":
                self.need_token()
            self._after.set(after)
            body = await self.perform(found, arguments)
        except asyncio.CancelledError:
            self._refuse(message, RequestError("cancelled"))
            raise
        except GraphscopeError as error:
            self._refuse(message, error)
        except Exception as error:  # noqa: BLE001 - a mistake of ours must cost no more than one answer
            self._refuse(message, RequestError(f"{type(error).__name__}: {error}", "this is a bug of graphscope's"))
        else:
            self._respond(message, body)
        for work in after:
            await self._later(work)

    def cancel(self, sequence: int) -> None:
        """Drop a request that is not answered yet."""
        task = self._tasks.get(sequence)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def _forget(self, done: asyncio.Task[None]) -> None:
        for key in [key for key, task in self._tasks.items() if task is done]:
            del self._tasks[key]

    async def _later(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except GraphscopeError as error:
            self.event("output", category="stderr", output=f"{error}\n")

    def afterwards(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something when the request that is being answered has its answer."""
        self._after.get().append(work)

    async def ask(self, name: str, **arguments: Any) -> None:
        """Ask the client to do something.

        Raises:
            RequestError: It did not.
        """
        answer = self._requested[self._sequence + 1] = asyncio.get_running_loop().create_future()
        self._transmit({"type": "request", "command": name, "arguments": arguments})
        outcome = await answer
        if outcome.get("success") is not True:
            raise RequestError(f"The client refused {name}: {outcome.get('message', 'it does not say why')}")

    def event(self, name: str, **body: Any) -> None:
        """Tell the client of something."""
        self._transmit({"type": "event", "event": name, "body": body} if body else {"type": "event", "event": name})

    def _respond(self, message: dict[str, Any], body: dict[str, Any] | None) -> None:
        self._transmit(
            {"type": "response", **_about(message), "success": True, **({} if body is None else {"body": body})}
        )

    def _refuse(self, message: dict[str, Any], error: GraphscopeError) -> None:
        text = f"{error.message} ({error.hint})" if error.hint else error.message
        shown = message.get("command") in _BEGINNING
        details = {"id": 1, "format": text.replace("{", "(").replace("}", ")"), "showUser": shown}
        self._transmit(
            {"type": "response", **_about(message), "success": False, "message": text, "body": {"error": details}}
        )

    def _transmit(self, message: dict[str, Any]) -> None:
        self._sequence += 1
        self._send({"seq": self._sequence, **self.numbering.for_client(self.paths.for_client(message))})


def _about(message: dict[str, Any]) -> dict[str, Any]:
    """What an answer says of the message that it answers."""
    sequence, command = message.get("seq"), message.get("command")
    return {
        "request_seq": sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else 0,
        "command": command if isinstance(command, str) else "",
    }
