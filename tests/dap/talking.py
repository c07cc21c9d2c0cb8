"""A client of the Debug Adapter Protocol, written from its schema: every message, either way, is checked against it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema

from graphscope.dap.adapter_thread import adapter

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((Path(__file__).parent / "schema" / "debugAdapterProtocol.json").read_text(encoding="utf-8"))
PATIENCE = 120.0
"""Seconds after which what was awaited will not come; the machine may be busy with other things."""


@functools.cache
def _validator(name: str) -> Any:
    return jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": SCHEMA["definitions"]})


@functools.cache
def _named(kind: str) -> dict[str, str]:
    """For each command or event, the definition of its message."""
    found = {}
    for name, definition in SCHEMA["definitions"].items():
        for part in definition.get("allOf", []):
            word = part.get("properties", {}).get("command" if kind == "Request" else "event", {}).get("enum", [])
            if name.endswith(kind) and len(word) == 1:
                found[word[0]] = name
    return found


def check(message: Mapping[str, Any]) -> None:
    """Hold a message against the schema."""
    kind = message["type"]
    if kind == "request":
        name = _named("Request").get(message["command"], "Request")
    elif kind == "event":
        name = _named("Event")[message["event"]]
    elif not message["success"]:
        name = "ErrorResponse"
    else:
        name = _named("Request").get(message["command"], "Response").replace("Request", "Response")
        name = "Response" if name == "Response" or name not in SCHEMA["definitions"] else name
    _validator(name).validate(message)


def spoken(data: bytes) -> list[dict[str, Any]]:
    """The messages of what went by in one direction."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-l"))
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found


class Refused(Exception):
    """The adapter answered with an error."""


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class Client:
    """A client and its adapter: in a thread of this process, or a process of its own that is spoken to over its
    standard streams or a socket.

    Args:
        options: Of `graphscope dap`.
        inside: Whether the adapter is a thread.
        folder: Where a process of its own runs.
        first: The number of the first message; some clients count from 0.
    """

    def __init__(self, *options: str, inside: bool = False, folder: Path | None = None, first: int = 1) -> None:
        self.process: Any = None
        self.token = ""
        self._adapter = contextlib.ExitStack()
        if inside:
            connection = self._adapter.enter_context(adapter())
            self._to = self._from = self._adapter.enter_context(connection.makefile("rwb"))
            self._adapter.callback(_hang_up, connection)  # first of all, else whoever reads holds the stream
        else:
            self._start(*options, folder=folder)
        self._sequence = first - 1
        self._arrived: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.events: list[dict[str, Any]] = []
        self.output = ""
        """What the program printed."""
        self.said = ""
        """What the debugger had to say."""
        self._responses: dict[int, dict[str, Any]] = {}
        self.seen: list[dict[str, Any]] = []
        self.asked: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
        """Does what the adapter asks for: takes the request, gives back what belongs to its response, if it is done."""
        threading.Thread(target=self._read, args=(self._from,), daemon=True).start()

    def _start(self, *options: str, folder: Path | None) -> None:
        self.process = process = subprocess.Popen(
            [sys.executable, "-m", "graphscope", "dap", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._to: Any = process.stdin
        self._from: Any = process.stdout
        if "--listen" in options:
            words = process.stdout.readline().decode().split()
            host, _, port = words[words.index("at") + 1].rpartition(":")
            self.token = words[-1]
            connection = socket.create_connection((host, int(port)))
            self._to = self._from = connection.makefile("rwb")
            connection.close()

    # Messages --------------------------------------------------------------------------------------------------------

    def _read(self, stream: Any) -> None:
        with contextlib.suppress(OSError, ValueError):  # closed by the test meanwhile
            while line := stream.readline():
                length = int(line.split(b":")[1])
                stream.readline()
                self._arrived.put(json.loads(stream.read(length)))
        self._arrived.put(None)

    def send(self, command: str, arguments: Any = None, *, valid: bool = True) -> int:
        """Send a request and do not wait; `valid` holds it against the schema first."""
        self._sequence += 1
        message: dict[str, Any] = {"seq": self._sequence, "type": "request", "command": command}
        if arguments is not None:
            message["arguments"] = arguments
        if valid:
            check(message)
        self.write(json.dumps(message).encode())
        return self._sequence

    def answer_request(self, asked: dict[str, Any], answer: dict[str, Any]) -> None:
        """Answer what the adapter asked for."""
        self._sequence += 1
        about = {"request_seq": asked["seq"], "command": asked["command"], **answer}
        response = {"seq": self._sequence, "type": "response", **about}
        check(response)
        self.write(json.dumps(response).encode())

    def write(self, text: bytes, header: bytes | None = None) -> None:
        """Send bytes as a message."""
        self._to.write((header or b"Content-Length: %d\r\n\r\n" % len(text)) + text)
        self._to.flush()

    def request(self, command: str, arguments: Any = None, *, valid: bool = True) -> dict[str, Any]:
        """Send a request and wait for the answer's body."""
        return self.body(self.send(command, arguments, valid=valid))

    def body(self, sequence: int) -> dict[str, Any]:
        """The body of the answer to a request."""
        answer = self.answer(sequence)
        if not answer["success"]:
            raise Refused(answer["message"])
        return answer.get("body") or {}

    def answer(self, sequence: int) -> dict[str, Any]:
        """The answer to a request."""
        self.until(lambda: sequence in self._responses)
        return self._responses.pop(sequence)

    def event(self, name: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next event of a name that was not yet asked for; those before it stay."""
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [event for event in self.events if event["event"] == name]
            return bool(found)

        self.until(there, timeout)
        self.events.remove(found[0])
        return found[0].get("body") or {}

    def until(self, met: Callable[[], bool], timeout: float = PATIENCE) -> None:
        """Read what arrives until something is so."""
        while not met():
            message = self._arrived.get(timeout=timeout)
            if message is None:
                self._arrived.put(None)
                raise EOFError(f"the adapter is gone; it said {self.seen[-3:]}")
            check(message)
            self.seen.append(message)
            if message["type"] == "event":
                if message["event"] == "output":
                    if message["body"]["category"] == "stdout":
                        self.output += message["body"]["output"]
                    else:  # comes another way, perhaps in the middle of a line
                        self.said += message["body"]["output"]
                self.events.append(message)
            elif message["type"] == "response":
                self._responses[message["request_seq"]] = message
            else:
                assert self.asked is not None, message
                answer = self.asked(message)
                if answer is not None:
                    self.answer_request(message, answer)

    def next_response(self) -> dict[str, Any]:
        """The next answer, whatever it answers."""
        self.until(lambda: bool(self._responses))
        return self._responses.pop(next(iter(self._responses)))

    # The life of a session -------------------------------------------------------------------------------------------

    def initialize(self, **more: Any) -> dict[str, Any]:
        return self.request("initialize", {"adapterID": "graphscope", "pathFormat": "path", **more})

    def launch(self, program: Path, *functions: Any, configure: Callable[[], None] | None = None, **more: Any) -> None:
        """Start a program with breakpoints, up to where it runs."""
        self.initialize(supportsInvalidatedEvent=True)
        self.request("launch", {"program": str(program), "granularity": "node", **more})
        self.event("initialized")
        asked = [each if isinstance(each, dict) else {"name": each} for each in functions]
        self.request("setFunctionBreakpoints", {"breakpoints": asked})
        self.request("setExceptionBreakpoints", {"filters": ["uncaught"]})
        if configure is not None:
            configure()
        self.request("configurationDone")

    def attach(self, **arguments: Any) -> None:
        self.initialize()
        self.request("attach", {"granularity": "node", **arguments})
        self.event("initialized")
        self.request("configurationDone")

    def move(self, command: str, **more: Any) -> dict[str, Any]:
        """Move, and wait until one stands again."""
        self.request(command, {"threadId": 1, **more})
        return self.event("stopped")

    def stack(self) -> list[dict[str, Any]]:
        thread = self.request("threads")["threads"][0]["id"]
        return self.request("stackTrace", {"threadId": thread})["stackFrames"]

    def scopes(self, frame: int | None = None) -> dict[str, int]:
        chosen = self.stack()[0]["id"] if frame is None else frame
        found = self.request("scopes", {"frameId": chosen})["scopes"]
        return {scope["name"]: scope["variablesReference"] for scope in found}

    def variables(self, reference: int, **more: Any) -> dict[str, dict[str, Any]]:
        found = self.request("variables", {"variablesReference": reference, **more})["variables"]
        return {variable["name"]: variable for variable in found}

    def evaluate(self, expression: str, context: str = "watch", **more: Any) -> str:
        return self.request("evaluate", {"expression": expression, "context": context, **more})["result"]

    def position(self) -> dict[str, Any]:
        return self.request("graphscope/position")

    def command(self, line: str) -> dict[str, Any]:
        return self.request("graphscope/command", {"line": line})["result"]

    def leave(self, **more: Any) -> int:
        """Disconnect, and wait until the adapter has ended; its exit status."""
        self.request("disconnect", more)
        return self.wait()

    def wait(self) -> int:
        try:
            if self.process is not None:
                return int(self.process.wait(PATIENCE))
            while self._arrived.get(timeout=PATIENCE) is not None:
                pass
            return 0
        finally:
            self.close()

    def close_streams(self) -> None:
        """Be gone without a word."""
        with contextlib.suppress(OSError):
            self._adapter.close()
        if self.process is not None:
            for stream in (self._to, self._from, self.process.stdin, self.process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.close_streams()
