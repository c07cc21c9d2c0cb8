"""By lines: one stop a line and pass, at lines of plain Python as well. What `trace` of Python tells is the measure."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphscope import load
from tests.dap.conftest import CHAIN
from tests.dap.talking import ROOT, Client, Refused

Write = Callable[[str], Path]

LOOP = """\
import graphscope as torch


def layer(x, weight):
    scaled = x * weight
    factor = 3
    return (scaled
            .tanh())


x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
total = 0
for step in range(3):
    h = layer(x, w)
    for k in range(2): h = h * h + h
    loss = sum(
        [h.sum(),
         h.sum()])
    total += step
    loss.backward()
    kinds = [str(each) for each in (1, 2)]
print("done", total)
"""


def traced(program: Path) -> list[int]:
    """The lines of a program in the order in which they run, as Python tells; text that goes on counts once."""
    command = [sys.executable, "-m", "trace", "--trace", program.name]
    told = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=True).stdout
    return [int(found[1]) for found in re.finditer(r"\bprog\.py\((\d+)\): ", told)]


def once_a_statement(lines: list[int]) -> list[int]:
    """As above, without what the further lines of one text, and parts of lines that are functions, add."""
    further = {8: 7, 18: 17, 19: 17}
    found: list[int] = []
    for line in (further.get(each, each) for each in lines):
        if not found or found[-1] != line or line == 16:
            found.append(line)
    return found


def line_of(stopped: dict[str, Any]) -> int:
    name, _, line = stopped["description"].rpartition(":")
    return int(line) if name == "prog.py" else 0


def begin(client: Client, program: Path, *breakpoints: dict[str, Any], **more: Any) -> None:
    source = {"path": str(program)}

    def configure() -> None:
        client.request("setBreakpoints", {"source": source, "breakpoints": list(breakpoints)})

    client.launch(program, configure=configure, granularity="line", **more)


@pytest.mark.slow
def test_stepping_into_passes_by_every_line_that_runs(client: Client, write: Write) -> None:
    program = write(LOOP)
    begin(client, program, stopOnEntry=True)
    stopped = client.event("stopped")
    assert stopped["reason"] == "entry"
    seen = [line_of(stopped)]
    while seen[-1] != 23:
        seen.append(line_of(client.move("stepIn")))
    forward = [line for line in seen if line]
    assert forward == once_a_statement(traced(program))
    assert seen.count(0) > 3 * 4  # in each backward pass, its lines besides
    client.leave()


@pytest.mark.slow
def test_a_step_over_stays_in_the_function_and_one_out_leaves_it(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 5, "condition": "forward"})
    assert line_of(client.event("stopped")) == 5
    assert [line_of(client.move("next")) for _ in range(3)] == [6, 7, 16]
    client.move("continue")
    assert [line_of(client.move(each)) for each in ("stepOut", "next", "next")] == [16, 16, 16]  # a loop of one line
    assert [line_of(client.move("next")) for _ in range(3)] == [17, 20, 21]
    assert line_of(client.move("next")) == 22  # over the backward pass
    client.leave()


@pytest.mark.slow
def test_a_breakpoint_counts_runs_of_its_line_and_visits_in_backward_apart(client: Client, write: Write) -> None:
    program = write(LOOP)
    begin(client, program, {"line": 6}, {"line": 5, "hitCondition": "3"}, {"line": 22, "condition": "step == 1"})
    runs = [client.event("stopped"), *(client.move("continue") for _ in range(5))]
    top = client.stack()[0]
    assert [line_of(each) for each in runs] == [6, 6, 22, 5, 6, 0]
    assert runs[3]["hitBreakpointIds"] == [2]
    assert "MulBackward" in runs[5]["description"]  # the third time that backward comes by
    assert top["line"] == 5
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.leave() == 0


@pytest.mark.slow
def test_a_line_without_a_node_shows_its_frame_and_lets_values_be_set(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 20, "condition": "step == 2"})
    client.event("stopped")
    top = client.stack()[0]
    assert (top["name"], top["line"]) == ("<module>", 20)
    assert client.evaluate("total", "hover", frameId=top["id"]) == "1"
    locals_ = client.scopes(top["id"])["Locals"]
    client.request("setVariable", {"variablesReference": locals_, "name": "total", "value": "40"})
    assert client.evaluate("total", "watch", frameId=top["id"]) == "40"
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert "done 42" in client.output
    client.leave()


@pytest.mark.slow
def test_back_in_time_by_lines_and_forward_to_where_the_program_waits(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 21, "condition": "step == 1"})
    client.event("stopped")

    def line() -> int:
        return int(client.stack()[0]["line"])

    back = []
    for _ in range(4):
        client.move("stepBack")
        back.append(line())
    assert back == [18, 16, 16, 8]  # line 20 makes no node; a node stands at its own line of the text
    ahead = []
    for _ in range(4):
        client.move("next")
        ahead.append(line())
    assert ahead == [16, 16, 18, 21]
    assert client.position()["edge"] == client.position()["now"]
    client.leave()


@pytest.mark.slow
def test_nodes_are_a_command_away(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 16, "condition": "forward"})
    client.event("stopped")
    assert client.evaluate("granularity node", "repl") == "A step is a node"
    assert ["#" in client.move("next")["description"] for _ in range(3)] == [True] * 3
    assert client.evaluate("granularity line", "repl") == "A step is a line"
    assert line_of(client.move("next")) == 16
    assert "#" in client.move("next", granularity="instruction")["description"]
    client.leave()


@pytest.mark.slow
def test_a_breakpoint_at_a_line_without_a_statement_goes_to_the_next(client: Client, write: Write) -> None:
    source = {"path": str(write(LOOP))}
    told: list[dict[str, Any]] = []

    def configure() -> None:
        lines = [{"line": line} for line in (2, 19, 24)]
        told.extend(client.request("setBreakpoints", {"source": source, "breakpoints": lines})["breakpoints"])

    client.launch(Path(source["path"]), configure=configure, granularity="line")
    assert [(found["line"], found["verified"]) for found in told] == [(4, True), (19, True), (24, False)]
    assert line_of(client.event("stopped")) == 4
    assert line_of(client.move("continue")) == 17  # the statement that line 19 belongs to
    asked = {"source": source, "line": 5, "endLine": 16}
    found = client.request("breakpointLocations", asked)["breakpoints"]
    assert [each["line"] for each in found] == [5, 6, 7, 11, 12, 13, 14, 15, 16]
    client.leave()


@pytest.mark.slow
def test_the_frame_of_backward_has_its_own_variables_in_the_past_too(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 5, "condition": "backward"}, {"line": 22})
    client.event("stopped")
    client.move("continue")
    client.move("reverseContinue")
    rule, caller = client.stack()
    assert (rule["line"], caller["line"]) == (5, 21)
    of_rule, of_caller = (client.variables(client.scopes(each["id"])["Locals"]) for each in (rule, caller))
    assert "scaled" in of_rule
    assert {"h", "loss", "w", "x"} <= of_caller.keys()
    assert "scaled" not in of_caller
    client.leave()


@pytest.mark.slow
def test_what_is_watched_is_told_by_name(client: Client, write: Write) -> None:
    begin(client, write(LOOP), {"line": 16, "condition": "backward"})
    node = client.event("stopped")["description"]
    assert client.request("dataBreakpointInfo", {"name": "grad"})["description"] == f"grad of {node}"
    client.leave()


@pytest.mark.slow
def test_a_program_of_plain_python_runs_untraced_once_nothing_asks_for_lines(client: Client, write: Write) -> None:
    program = write(f"{CHAIN}\nimport sys\nfor turn in range(3):\n    print(sys.gettrace() is None)\n")
    begin(client, program, {"line": 21})
    client.event("stopped")
    client.request("setBreakpoints", {"source": {"path": str(program)}, "breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.output.split()[-3:] == ["True"] * 3
    client.leave()


@pytest.mark.slow
@pytest.mark.torch
def test_looking_at_each_line_of_a_pytorch_program_writes_no_rows(client: Client, write: Write) -> None:
    pytest.importorskip("torch")
    program = write(LOOP.replace("graphscope as torch", "torch"))
    alone, looked_at = (program.with_name(f"{name}.gscope") for name in ("alone", "looked_at"))
    command = [sys.executable, "-m", "graphscope", "record", "--log", str(alone), str(program)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    begin(client, program, stopOnEntry=True, log=str(looked_at))
    client.event("stopped")
    seen = [1]
    while seen[-1] != 23:
        for frame in client.stack():
            for reference in client.scopes(frame["id"]).values():
                client.variables(reference)
            with contextlib.suppress(Refused):  # there is no `w` yet
                client.evaluate("w", "hover", frameId=frame["id"])
                client.evaluate("w * 2", "watch", frameId=frame["id"])
        seen.append(line_of(client.move("stepIn")))
    client.leave()
    ops = [[(each.op, each.graph_pass) for each in load(log).graph.nodes] for log in (alone, looked_at)]
    assert ops[1] == ops[0]
