"""Exceptions as they are raised, though the program catches them: what its own traceback tells is the measure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import Client

Write = Callable[[str], Path]

CATCHING = """\
import json
import sys
import traceback

import graphscope as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)


def fail(number):
    values = [1, 2]
    return values[number]


def told(error):
    inner = traceback.extract_tb(error.__traceback__)
    return [frame.lineno for frame in inner if frame.filename == __file__][-1]


print(sys.gettrace() is None)
for number in (1, 2):
    try:
        y = x * fail(number)
    except IndexError as error:
        print(told(error), error)
try:
    json.loads("[1, ")
except ValueError as error:
    print(told(error), error)
print(next(iter([]), "empty"), [each for each in (1, 2)])
y.sum().backward()
try:
    sys.exit()
except SystemExit:
    print("done", x.grad.tolist())
"""


def launched(client: Client, program: Path, *filters: str) -> None:
    def configure() -> None:
        client.request("setExceptionBreakpoints", {"filters": list(filters)})

    client.launch(program, configure=configure, granularity="line")


@pytest.mark.slow
def test_an_exception_stops_where_it_comes_to_the_program_first(client: Client, write: Write) -> None:
    launched(client, write(CATCHING), "raised")
    stops = []
    for name in ("fail", "<module>"):
        stopped = client.event("stopped")
        assert stopped["reason"] == "exception"
        top = client.stack()[0]
        assert top["name"] == name
        told = client.request("exceptionInfo", {"threadId": 1})
        assert told["breakMode"] == "always"
        assert stopped["description"] == told["description"] == stopped["text"]
        stops.append((told["exceptionId"], top["line"], told["description"].partition(": ")[2]))
        if name == "fail":
            assert client.evaluate("values", "hover", frameId=top["id"]) == "[1, 2]"
        client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert [kind for kind, _, _ in stops] == ["IndexError", "JSONDecodeError"]
    printed = client.output.splitlines()
    assert printed[1:3] == [f"{line} {text}" for _, line, text in stops]
    assert printed[-1] == "done [2.0, 2.0]"
    client.leave()


@pytest.mark.slow
def test_nothing_is_traced_where_that_is_not_asked_for(client: Client, write: Write) -> None:
    launched(client, write(CATCHING), "uncaught")
    client.event("terminated")
    assert client.output.startswith("True\n")
    client.leave()


@pytest.mark.slow
def test_one_that_nobody_catches_stops_where_it_arises_and_where_it_leaves(client: Client, write: Write) -> None:
    launched(
        client, write("def fail():\n    raise KeyError('x')\n\n\nimport graphscope\nfail()\n"), "raised", "uncaught"
    )
    client.event("stopped")
    assert client.stack()[0]["line"] == 2
    assert client.move("continue")["description"] == "KeyError: 'x'"
    assert client.request("exceptionInfo", {"threadId": 1})["breakMode"] == "unhandled"
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    client.leave()


@pytest.mark.slow
def test_a_filter_that_is_taken_back_stops_nothing(client: Client, write: Write) -> None:
    launched(client, write(CATCHING), "raised")
    client.event("stopped")
    client.request("setExceptionBreakpoints", {"filters": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert "done" in client.output
    client.leave()
