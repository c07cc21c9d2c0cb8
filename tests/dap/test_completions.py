"""What a name may become at the console of an editor: the names of the frame that is chosen, which answer there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import Client

Write = Callable[[str], Path]

CALLS = """\
import graphscope as torch


def layer(given, weight):
    inner = given * weight
    plain = 3
    return inner.tanh()


def train(rate):
    outer = layer(x, w)
    loss = outer.sum()
    loss.backward()


x = torch.ones(3)
w = torch.ones(3, requires_grad=True)
epoch = 7
train(0.5)
"""


TWICE = """\
import graphscope as torch


def f(x):
    h = x * 2.0
    return h.tanh()


x = torch.ones(1, requires_grad=True)
h = x * 5.0
y = f(h)
y.sum().backward()
"""


def offered(client: Client, text: str, frame: int) -> list[str]:
    chosen = client.stack()[frame]["id"]
    found = client.request("completions", {"text": text, "column": len(text) + 1, "frameId": chosen})["targets"]
    return [target["label"] for target in found]


@pytest.mark.slow
def test_names_are_those_of_the_frame_that_is_chosen(client: Client, write: Write) -> None:
    client.launch(write(CALLS), "op:tanh forward")
    client.event("stopped")
    assert [frame["name"] for frame in client.stack()[1:]] == ["layer", "train", "<module>"]
    for frame, names in enumerate(({"plain", "given"}, {"plain", "given"}, {"rate"}, set())):
        found = {name for name in ("plain", "given", "rate") if name in offered(client, f"p {name[:3]}", frame)}
        assert found == names
        assert {name for name in ("plain", "given", "rate") if name in offered(client, name[:3], frame)} == names
        assert offered(client, "p epo", frame) == ["epoch"]
    client.leave()


@pytest.mark.slow
def test_of_a_backward_node_there_are_those_of_its_forward_line_and_they_answer(client: Client, write: Write) -> None:
    client.launch(write(CALLS), "op:tanh backward")
    client.event("stopped")
    assert [frame["name"] for frame in client.stack()[1:]] == ["train", "<module>"]
    assert [offered(client, "p giv", frame) for frame in range(3)] == [["given"], [], []]
    assert [offered(client, "p rat", frame) for frame in range(3)] == [["rate"], ["rate"], []]
    top = client.stack()[0]["id"]
    assert "1." in client.evaluate("p given", "repl", frameId=top)
    assert "1." in client.evaluate("given", frameId=top)
    assert offered(client, "giv", 0) == ["given"]
    assert "1." in client.evaluate("given", "repl", frameId=top)
    assert client.evaluate("rate", frameId=top) == "0.5"
    client.leave()


@pytest.mark.slow
def test_in_the_past_there_are_those_that_were_recorded_of_the_frame(client: Client, write: Write) -> None:
    client.launch(write(CALLS), "op:mul backward")
    client.event("stopped")
    client.move("stepBack")
    assert [frame["line"] for frame in client.stack()] == [7, 13]  # the line of tanh, and that of backward()
    assert [offered(client, "p giv", frame) for frame in range(2)] == [["given"], []]
    assert [offered(client, "giv", frame) for frame in range(2)] == [["given"], []]
    assert offered(client, "p tan", 0) == []  # an op is no name that Python knows
    assert "tanh" in offered(client, "b tan", 0)
    client.leave()


@pytest.mark.slow
def test_a_frame_is_chosen_for_what_is_asked_in_it_alone(client: Client, write: Write) -> None:
    client.launch(write(TWICE), "op:mul backward")
    client.event("stopped")
    client.move("stepBack")
    node, caller = client.stack()
    assert "10." in client.evaluate("h", frameId=node["id"])
    assert "5." in client.evaluate("h", frameId=caller["id"])
    assert "10." in client.evaluate("h", frameId=node["id"])
    assert "5." in client.evaluate("h", "repl", frameId=caller["id"])
    assert "10." in client.evaluate("h", "repl", frameId=node["id"])
    client.leave()
