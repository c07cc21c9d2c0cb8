"""Whose variables one sees: hovers, variables in the text, conditions, the debug console; then and now."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dap.talking import Client, Refused

Write = Callable[[str], Path]

FRAMEWORKS = [
    pytest.param("import graphscope as torch", id="engine"),
    pytest.param("import torch", id="torch", marks=[pytest.mark.torch, pytest.mark.slow]),
]

LAYERS = """\
{framework}
nn = torch.nn


class Layer(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        h = x * self.scale
        y = h.tanh()
        return y + h


w = torch.ones(3, requires_grad=True)
first, second = Layer(1.0), Layer(5.0)
for step in range(2):
    h = w * 100.0
    n = first(h)
    out = second(n)
    loss = out.sum()
    loss.backward()
"""

CALLS = """\
{framework}


def f(x, k):
    y = x.tanh()
    return y


x = torch.ones(3, requires_grad=True)
for epoch in range(6):
    z = f(x, epoch)
    loss = z.sum()
"""

FAILS = """\
{framework}


def f(x, w):
    y = x * w
    limit = 3
    raise ValueError("too far")


w = torch.ones(3, requires_grad=True)
f(torch.ones(3), w)
"""

EDITED = """\
{framework}

x = torch.tensor([15.0], requires_grad=True)
y = x * 20.0
loss = y.sum()
loss.backward()
print("end", loss.item(), x.grad.tolist())
"""


def program(write: Write, text: str, framework: str) -> Path:
    return write(text.replace("{framework}", framework))


def hover(client: Client, name: str, frame: int) -> str:
    return client.evaluate(name, "hover", frameId=client.stack()[frame]["id"])


def inline(client: Client, frame: int) -> dict[str, str]:
    """What an editor writes beside the lines of a frame: of the scopes that hold its line, the variables."""
    found = client.stack()[frame]
    scopes = client.request("scopes", {"frameId": found["id"]})["scopes"]
    around = [scope for scope in scopes if scope.get("line", 0) <= found["line"] <= scope.get("endLine", -1)]
    variables: dict[str, str] = {}
    for scope in around:
        for name, variable in client.variables(scope["variablesReference"]).items():
            variables[name] = variable["value"]
    return variables


def elements(text: str) -> list[float]:
    return [round(float(part), 2) for part in text[text.rindex("[") + 1 : text.rindex("]")].split(",")]


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_in_backward_the_forward_line_has_the_names_of_its_own_call(
    client: Client, write: Write, framework: str
) -> None:
    client.launch(program(write, LAYERS, framework), "op:tanh backward")
    client.event("stopped")
    assert elements(hover(client, "h", 0)) == [505.0] * 3  # of `second`: (tanh(100) + 100) * 5
    assert elements(inline(client, 0)["h"]) == [505.0] * 3
    assert "step" not in inline(client, 0)
    with pytest.raises(Refused):
        hover(client, "step", 0)
    caller = next(place for place, frame in enumerate(client.stack()) if frame["name"] == "<module>")
    assert elements(hover(client, "h", caller)) == [100.0] * 3
    assert hover(client, "step", caller) == "0"
    client.move("continue")
    assert elements(hover(client, "h", 0)) == [100.0] * 3  # of `first`
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_in_the_past_names_are_those_of_the_module_that_ran(client: Client, write: Write, framework: str) -> None:
    client.launch(program(write, LAYERS, framework), "op:tanh forward")
    for _ in range(3):
        client.event("stopped")
        client.request("continue", {"threadId": 1})
    client.event("stopped")
    seen = []
    for _ in range(3):
        client.move("reverseContinue")
        seen.append(
            (elements(hover(client, "h", 0)), elements(inline(client, 0)["h"]), elements(inline(client, 0)["x"]))
        )
    assert [h for h, _, _ in seen] == [[100.0] * 3, [505.0] * 3, [100.0] * 3]
    assert [h for _, h, _ in seen] == [h for h, _, _ in seen]
    assert [x for _, _, x in seen] == [[100.0] * 3, [101.0] * 3, [100.0] * 3]
    client.leave()


@pytest.mark.slow
def test_a_variable_that_is_none_of_a_tensor_any_more_is_not_shown(client: Client, write: Write) -> None:
    text = "import graphscope as torch\nx = torch.ones(2)\ny = x * 2.0\ny = y.sum().item()\nz = x * 3.0\nu = z + 1.0\n"
    client.launch(write(text), "line:prog.py:6")
    client.event("stopped")
    client.move("stepBack")
    assert elements(hover(client, "x", 0)) == [1.0, 1.0]
    with pytest.raises(Refused):
        hover(client, "y", 0)
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_condition_sees_the_frame_of_the_node(client: Client, write: Write, framework: str) -> None:
    wanted = {"name": "op:tanh forward", "condition": "k == 4"}
    client.launch(program(write, CALLS, framework), wanted, stopOnEntry=True)
    client.event("stopped")
    stopped = client.move("continue")
    assert "raised" not in stopped.get("text", "")
    assert client.evaluate("k") == "4"
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:sum forward", "condition": "epoch == 5"}]})
    stopped = client.move("continue")
    assert "raised" not in stopped.get("text", "")
    assert client.evaluate("epoch") == "5"
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_exception_is_at_its_line_and_who_looks_adds_nothing(client: Client, write: Write, framework: str) -> None:
    client.launch(program(write, FAILS, framework))
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    top = client.stack()[0]
    assert (top["name"], top["line"]) == ("f", 7)
    assert client.request("exceptionInfo", {"threadId": 1})["exceptionId"] == "ValueError"
    names = client.variables(client.scopes(top["id"])["Locals"])
    assert names["limit"]["value"] == "3"
    rows = client.evaluate("info log", "repl")
    for context in ("watch", "hover", "repl"):
        assert client.evaluate("(w * 2).sum() if hasattr(w, 'sum') else w", context, frameId=client.stack()[0]["id"])
    client.variables(client.scopes(client.stack()[-1]["id"])["Locals"])
    assert client.evaluate("info log", "repl") == rows
    assert client.move("stepBack")["reason"] == "step"
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_was_edited_is_shown_as_it_is(client: Client, write: Write, framework: str) -> None:
    client.launch(program(write, EDITED, framework), "op:mul")
    client.event("stopped")
    client.evaluate("set value = 7.0", "repl")
    assert elements(client.variables(client.scopes()["Value"])["value"]["value"]) == [7.0]
    assert "computed" in client.variables(client.scopes()["Value"])
    client.move("next")
    assert "7" in client.evaluate("info", "repl")
    client.move("continue")
    assert client.stack()[0]["name"].startswith("#")
    client.evaluate("set grad = 5.0", "repl")
    assert elements(client.variables(client.scopes()["Gradient"])["grad"]["value"]) == [5.0]
    assert elements(client.variables(client.scopes()["Value"])["value"]["value"]) == [7.0]
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.output.split() == ["end", "7.0", "[100.0]"]
    client.leave()


@pytest.mark.slow
def test_watches_of_a_running_program_tell_their_hits(client: Client, write: Write) -> None:
    client.launch(program(write, LAYERS, "import graphscope as torch"), stopOnEntry=True)
    client.event("stopped")
    client.evaluate("watch w.grad", "repl")
    client.move("continue")
    stopped = client.move("continue")
    assert stopped["reason"] == "data breakpoint"
    table: Any = client.command("info watches")
    assert table["items"][0]["hits"] == 2
    assert table["rows"][0][3] != "undefined"
    client.leave()


CONSOLE = """\
{framework}
h, n, w = 41, torch.ones(2), 3
for step in range(2):
    wt = n * step
    loss = wt.sum()
"""


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_variable_wins_over_a_command_at_the_debug_console(client: Client, write: Write, framework: str) -> None:
    client.launch(program(write, CONSOLE, framework), "op:sum")
    client.event("stopped")
    client.move("continue")
    row = client.position()["now"]
    assert client.evaluate("h", "repl") == "41"
    assert client.evaluate("h + 1", "repl") == "42"
    assert "1." in client.evaluate("n", "repl")
    assert client.evaluate("w", "repl") == "3"
    assert client.evaluate("step", "repl") == "1"
    assert client.position()["now"] == row
    assert "commands" in client.evaluate(":h", "repl")
    assert "prog.py" in client.evaluate(":w", "repl")
    assert "Breakpoint" in client.evaluate("b op:mul", "repl")
    client.move("reverseContinue")
    client.move("reverseContinue")
    bare, printed = client.evaluate("wt", "repl"), client.evaluate("p wt", "repl")
    assert bare == printed
    assert "0." in bare
    assert "1." in client.evaluate("!wt", "repl")
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_saved_of_several_outputs_is_the_one_that_was_used(
    client: Client, write: Write, framework: str
) -> None:
    text = "{framework}\nx = torch.tensor([1.0, 2.0], requires_grad=True)\na, b = torch.split(x, 1)\ny = b * b\n"
    client.launch(program(write, text, framework), "op:mul")
    client.event("stopped")
    saved = client.variables(client.scopes()["Saved"]).values()
    assert [found["value"] for found in saved] == ["float32 1 [2.]"] * 2
    assert [client.evaluate(found["evaluateName"]) for found in saved] == ["float32 1 [2.]"] * 2
    client.leave()


RECALLED = """\
{framework}

def layer(x, n):
    c = x * n
    return c.tanh()

x = torch.tensor([3.0], requires_grad=True)
layer(layer(x, torch.tensor([0.5])), torch.tensor([2.0])).sum().backward()
"""


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_a_call_that_is_over_had_comes_first_in_its_frame(client: Client, write: Write, framework: str) -> None:
    """`x` is a variable of the program as well, `c` and `n` are commands that move."""
    client.initialize()
    path = program(write, RECALLED, framework)
    client.request("launch", {"program": str(path)})
    client.event("initialized")
    lines = [{"line": 5, "condition": "backward"}]
    client.request("setBreakpoints", {"source": {"path": str(path)}, "breakpoints": lines})
    client.request("configurationDone")
    client.event("stopped")
    row = client.position()["now"]
    frames = client.stack()
    for context in ("hover", "watch", "repl", "clipboard"):
        told = client.evaluate("x", context, frameId=frames[0]["id"])
        assert f"{math.tanh(1.5):.3f}" in told
        assert f"{2 * math.tanh(1.5):.3f}" in client.evaluate("c", context, frameId=frames[0]["id"])
        assert "3." in client.evaluate("x", context, frameId=frames[-1]["id"])
    assert client.position()["now"] == row
    client.leave()


@pytest.mark.slow
def test_the_console_of_the_terminal_keeps_its_commands(write: Write) -> None:
    path = program(write, CONSOLE, "import graphscope as torch")
    command = [sys.executable, "-m", "graphscope", "debug", "--console", str(path)]
    said = subprocess.run(command, input="n\nn\nh\nq\n", capture_output=True, text=True).stdout
    assert "> #1 mul" in said
    assert "commands" in said


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_nan_stops_at_the_node_that_its_text_blames(client: Client, write: Write, framework: str) -> None:
    text = f"{framework}\nx = torch.zeros(3, requires_grad=True)\na = (x * x).sum().abs()\nr = a.sqrt()\nr.backward()\n"
    client.initialize()
    client.request("launch", {"program": str(write(text)), "granularity": "node"})
    client.event("initialized")
    client.request("setExceptionBreakpoints", {"filters": ["nan"]})
    client.request("configurationDone")
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    assert "sqrt" in stopped["description"].lower()
    assert client.stack()[0]["line"] == 4
    assert "prog.py:4" in client.request("exceptionInfo", {"threadId": 1})["description"]
    following = client.move("next")["description"]
    assert "abs" in following.lower()
    client.leave()
