"""Stepping into one call of a line: what is offered, and where it leads. The order is that in which Python calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dap.talking import Client, Refused
from tests.dap.test_lines import begin, line_of

Write = Callable[[str], Path]

CALLS = """\
import torch


def double(x):
    return x * 2


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        y = x * self.weight
        return y


def numbers(count):
    for each in range(count):
        yield each


layer = Layer()
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = double(layer(double(x))) + (double(x)
                                .sum())
for k in numbers(2): z = double(y)
double(double(z)).sum().backward()
print("done")
"""

FORWARD = {"condition": "forward"}


def targets(client: Client) -> dict[str, int]:
    """What is offered at the top frame, with the numbers."""
    found = client.request("stepInTargets", {"frameId": client.stack()[0]["id"]})["targets"]
    return {f"{each['label']} {each['line']}:{each['column']}": each["id"] for each in found}


def stepped(client: Client, target: int) -> dict[str, Any]:
    client.move("stepIn", targetId=target)
    return client.stack()[0]


@pytest.fixture(params=["graphscope", pytest.param("torch", marks=pytest.mark.torch)])
def program(request: pytest.FixtureRequest, write: Write) -> Path:
    if request.param == "torch":
        pytest.importorskip("torch")
        return write(CALLS)
    return write(CALLS.replace("import torch", "import graphscope as torch", 1))


@pytest.mark.slow
def test_each_call_of_a_line_can_be_stepped_into_alone(client: Client, program: Path) -> None:
    begin(client, program, {"line": 25, **FORWARD})
    client.event("stopped")
    offered = {
        "double() 25:18": 1,
        "layer() 25:12": 2,
        "double() 25:5": 3,
        "double() 25:33": 4,
        "double(x).sum() 25:33": 5,
    }
    assert targets(client) == offered
    top = stepped(client, 2)
    assert (top["name"], top["line"]) == ("forward", 14)
    client.move("stepOut")
    client.request("setBreakpoints", {"source": {"path": str(program)}, "breakpoints": []})
    client.leave()


@pytest.mark.slow
def test_the_third_of_the_same_name_is_the_third(client: Client, program: Path) -> None:
    begin(client, program, {"line": 25, **FORWARD})
    client.event("stopped")
    top = stepped(client, 3)
    assert (top["name"], top["line"]) == ("double", 5)
    assert client.evaluate("x.tolist()", frameId=top["id"]) == "[2.0, 8.0]"
    client.leave()


@pytest.mark.slow
def test_a_library_function_is_passed_and_a_pass_entered(client: Client, program: Path) -> None:
    begin(client, program, {"line": 25, **FORWARD})
    client.event("stopped")
    assert stepped(client, 5)["line"] == 27  # no line of the program is in `sum`
    assert targets(client) == {"numbers() 27:10": 1, "double() 27:26": 2}
    assert stepped(client, 2)["name"] == "double"
    assert [line_of(client.move("next")) for _ in range(2)] == [27, 27]
    assert targets(client) == {"double() 27:26": 1}  # `numbers` was called when the loop began
    assert line_of(client.move("next")) == 28
    *_, backward = offered = targets(client)
    assert backward == "double(double(z)).sum().backward() 28:1"
    client.move("stepIn", targetId=offered[backward])
    assert client.stack()[0]["name"].startswith("#")
    assert client.scopes()  # a node of the pass
    assert targets(client) == {}
    client.leave()


@pytest.mark.slow
def test_what_is_not_offered_is_refused(client: Client, program: Path) -> None:
    begin(client, program, {"line": 28, **FORWARD})
    client.event("stopped")
    client.move("stepIn", targetId=77)
    assert "There is no call 77 in this line" in client.said
    outer = client.stack()[-1]["id"]
    assert "targets" in client.request("stepInTargets", {"frameId": outer})
    with pytest.raises(Refused, match="no frame"):
        client.request("stepInTargets", {"frameId": 1 << 20})
    client.move("stepBack")
    assert targets(client) == {}
    client.leave()
