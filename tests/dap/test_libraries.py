"""Lines of libraries: breakpoints hold there, and steps lead there where `justMyCode` is false, as in debugpy."""

from __future__ import annotations

import inspect
import itertools
import json.decoder
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import Client
from tests.dap.test_lines import begin, line_of

Write = Callable[[str], Path]

PLAIN = """\
import json

import graphscope as torch

x = torch.tensor([1.0, 2.0])
found = json.loads("[1, 2]")
print("done", found)
"""

MODULES = """\
import torch

layer = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
x = torch.ones(2)
y = layer(x)
y.sum().backward()
print("done")
"""

CALLS = """\
import json, sys
json.loads("[1]")
called = []
sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
found = json.loads("[1, 2]")
sys.setprofile(None)
print(*called)
"""


def functions(client: Client, until: int) -> list[str]:
    """The functions that stepping into comes by, up to a line of the program; runs of one name count once."""
    seen = []
    while line_of(client.move("stepIn")) != until:
        seen.append(client.stack()[0]["name"])
    return [name for name, _ in itertools.groupby(seen)]


@pytest.mark.slow
def test_a_step_leads_into_a_library_where_that_is_wished(client: Client, write: Write) -> None:
    begin(client, write(PLAIN), {"line": 6}, justMyCode=False)
    client.event("stopped")
    told = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True).stdout
    entered = told.split()
    back = entered[-2:0:-1]  # the line of `loads` has nothing to do any more
    assert functions(client, 7) == [*entered, *back]
    client.leave()


@pytest.mark.slow
def test_steps_keep_to_the_program_where_nothing_is_said(client: Client, write: Write) -> None:
    begin(client, write(PLAIN), {"line": 6})
    client.event("stopped")
    assert line_of(client.move("stepIn")) == 7
    client.leave()


@pytest.mark.slow
def test_a_breakpoint_in_a_library_holds_and_shows_its_frames(client: Client, write: Write) -> None:
    program = write(PLAIN)
    lines, first = inspect.getsourcelines(json.decoder.JSONDecoder.decode)
    line = first + next(number for number, text in enumerate(lines) if "self.raw_decode" in text)
    path = inspect.getfile(json.decoder)

    def configure() -> None:
        asked = {"source": {"path": path}, "breakpoints": [{"line": line, "condition": "s == '[1, 2]'"}]}
        assert client.request("setBreakpoints", asked)["breakpoints"][0]["verified"]

    client.launch(program, configure=configure, granularity="line")
    client.event("stopped")
    top, *around = client.stack()
    assert (top["name"], top["line"], top["source"]["path"]) == ("decode", line, path)
    assert [each["name"] for each in around][:2] == ["loads", "<module>"]
    assert client.evaluate("s", "hover", frameId=top["id"]) == "'[1, 2]'"
    assert line_of(client.move("next")) == 7  # a step leaves it
    client.leave()


@pytest.mark.slow
@pytest.mark.torch
def test_what_graphscope_calls_of_pytorch_is_not_stepped_into(client: Client, write: Write) -> None:
    pytest.importorskip("torch")
    begin(client, write(MODULES), {"line": 5, "condition": "forward"}, justMyCode=False)
    client.event("stopped")
    seen = functions(client, 6)
    assert seen.count("forward") >= 3  # of each of the modules
    assert "parameters" not in seen  # which the recording asks for
    client.move("stepIn")
    assert client.stack()[0]["name"] == "backward"
    client.leave()


@pytest.mark.slow
@pytest.mark.torch
def test_a_breakpoint_in_a_module_of_pytorch_shows_its_variables(client: Client, write: Write) -> None:
    torch = pytest.importorskip("torch")
    lines, first = inspect.getsourcelines(torch.nn.Linear.forward)
    path, line = inspect.getfile(torch.nn.Linear), first + len(lines) - 1

    def configure() -> None:
        asked = {"source": {"path": path}, "breakpoints": [{"line": line, "condition": "forward"}]}
        client.request("setBreakpoints", asked)

    client.launch(write(MODULES), configure=configure, granularity="line")
    client.event("stopped")
    top = client.stack()[0]
    assert (top["name"], top["line"], top["source"]["path"]) == ("forward", line, path)
    assert client.evaluate("input.tolist()", "watch", frameId=top["id"]) == "[1.0, 1.0]"
    assert line_of(client.move("stepOut")) == 6
    client.leave()
