"""What `value`, `grad` and the like mean: the node where one stands; at a line, where one stands at none, nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import Client, Refused

Write = Callable[[str], Path]

LINES = """\
import graphscope as torch

x = torch.ones(3)
w = torch.ones(3, requires_grad=True)
h = x * w
step = 1
loss = h.sum()
loss.backward()
value = "own"
step = 2
raise ValueError("no more")
"""


def begin(client: Client, program: Path, *lines: dict[str, object]) -> None:
    source = {"path": str(program)}

    def configure() -> None:
        client.request("setBreakpoints", {"source": source, "breakpoints": list(lines)})

    client.launch(program, configure=configure, granularity="line")
    client.event("stopped")


def said(client: Client, expression: str, context: str, frame: int) -> str:
    """What is answered, or why not."""
    try:
        return client.evaluate(expression, context, frameId=client.stack()[frame]["id"])
    except Refused as refused:
        return str(refused)


@pytest.mark.slow
def test_at_a_line_they_are_said_to_mean_nothing_wherever_one_asks(client: Client, write: Write) -> None:
    begin(client, write(LINES), {"line": 6})
    assert [frame["name"].partition(":")[0] for frame in client.stack()] == ["<module>", "the last node"]
    for word in ("value", "grad"):
        sentence = f"`{word}` speaks of the node where one stands, and one stands at a line, at no node"
        for frame in range(2):
            assert sentence in said(client, word, "watch", frame)
            assert sentence in said(client, f"p {word}", "repl", frame)
            assert sentence in said(client, f"{word} * 2", "watch", frame)
        assert f"#2 mul came last: `#2.{word}`" in said(client, word, "watch", 0)
        assert "1." not in said(client, word, "hover", 0)
        told = client.request("dataBreakpointInfo", {"name": word})
        assert told["dataId"] is None
        assert sentence in told["description"]
        assert sentence in said(client, f"watch {word}", "repl", 0)
    client.leave()


@pytest.mark.slow
def test_the_last_node_shows_its_own_under_an_expression_that_means_it_anywhere(client: Client, write: Write) -> None:
    begin(client, write(LINES), {"line": 6}, {"line": 9})
    top, last = client.stack()
    assert "Value" not in client.scopes(top["id"])
    scopes = client.scopes(last["id"])
    shown = client.variables(scopes["Value"])["value"]
    assert shown["evaluateName"] == "#2.value"
    assert client.evaluate(shown["evaluateName"]) == shown["value"]
    with pytest.raises(Refused, match="can't be changed any more"):
        client.request("setVariable", {"variablesReference": scopes["Value"], "name": "value", "value": "0.0"})
    client.move("continue")
    scopes = client.scopes(client.stack()[-1]["id"])
    shown = client.variables(scopes["Gradient"])["grad"]
    assert "1." in client.evaluate(shown["evaluateName"])  # of w, the last that backward came to
    client.leave()


@pytest.mark.slow
def test_at_a_line_a_variable_of_the_program_may_be_called_so(client: Client, write: Write) -> None:
    begin(client, write(LINES), {"line": 10})
    assert client.evaluate("value") == client.evaluate("p value", "repl") == "'own'"
    assert client.move("continue")["reason"] == "exception"
    assert client.stack()[0]["line"] == 11
    assert client.evaluate("value") == client.evaluate("p value", "repl") == "'own'"
    assert "at no node" in said(client, "grad", "watch", 0)
    client.leave()


@pytest.mark.slow
def test_at_a_node_they_mean_it_and_a_condition_at_a_line_says_why_not(client: Client, write: Write) -> None:
    begin(client, write(LINES), {"line": 5, "condition": "backward"})
    for context in ("watch", "repl"):
        said_of_grad = said(client, "grad" if context == "watch" else "p grad", context, 0)
        assert "1." in said_of_grad
    client.leave()


@pytest.mark.slow
def test_a_condition_at_a_line_over_a_word_is_told_why_it_can_not_hold(client: Client, write: Write) -> None:
    program = write(LINES)
    source = {"path": str(program)}
    asked = [{"line": 6, "condition": "value.max() > 5"}]
    client.launch(
        program,
        configure=lambda: client.request("setBreakpoints", {"source": source, "breakpoints": asked}) and None,
        granularity="line",
    )
    assert "at no node" in client.event("stopped")["text"]
    client.leave()


@pytest.mark.slow
def test_the_console_of_the_terminal_says_the_same(write: Write) -> None:
    command = [sys.executable, "-m", "graphscope", "debug", "--console", str(write(LINES))]
    lines = "granularity line\nb 6\nc\np value\nvalue\np step\nq\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    assert "`value` speaks of the node where one stands, and one stands at a line, at no node" in done.stdout
    assert "`p value` speaks of the node" in done.stdout
