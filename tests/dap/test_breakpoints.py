"""Every way to stop, and what stops say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import graphscope as gs
from tests.dap.conftest import CHAIN
from tests.dap.talking import Client, Refused

Write = Callable[[str], Path]

NAN = """\
import graphscope as torch
x = torch.tensor([1.0, 0.0], requires_grad=True)
y = x.sqrt()
loss = (y * 2).sum()
loss.backward()
z = x.log() * 0
print("end")
"""


@pytest.mark.slow
def test_lines_with_pass_condition_hits_and_messages(client: Client, chain: Path) -> None:
    def configure() -> None:
        told = client.request(
            "setBreakpoints",
            {
                "source": {"path": str(chain)},
                "breakpoints": [
                    {"line": 13, "condition": "backward and grad.max() > 0", "hitCondition": "2"},
                    {"line": 12, "condition": "forward, value.sum() > 0", "logMessage": "h is {value.shape} of {op}"},
                    {"line": 14, "condition": "not ( python"},
                    {"line": 14, "hitCondition": "sometimes"},
                ],
            },
        )["breakpoints"]
        assert [found["verified"] for found in told] == [True, True, False, False]
        assert [found["line"] for found in told] == [13, 12, 14, 14]

    client.launch(chain, configure=configure)
    stopped = client.event("stopped")
    assert stopped["reason"] == "breakpoint"
    assert stopped["text"].endswith("; hit 2, each node is one")
    assert client.evaluate("step") == "1"
    assert client.stack()[0]["line"] == 13
    assert "h is (3,) of" not in client.said  # line 12 makes no node itself: layer does
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("launched", ["link", pytest.param("real", marks=pytest.mark.slow)])
def test_a_folder_may_be_opened_by_a_link(client: Client, tmp_path: Path, launched: str) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    (real / "prog.py").write_text(CHAIN)
    opened = (link if launched == "real" else real) / "prog.py"
    lines = {"source": {"path": str(opened)}, "breakpoints": [{"line": 5}]}
    start = tmp_path / launched / "prog.py"
    client.launch(start, configure=lambda: client.request("setBreakpoints", lines) and None)
    assert client.event("stopped")["reason"] == "breakpoint"
    assert client.request("gotoTargets", {"source": {"path": str(opened)}, "line": 5})["targets"]
    assert client.leave() == 0


@pytest.mark.slow
def test_a_client_may_count_from_0(client: Client, chain: Path) -> None:
    client.initialize(linesStartAt1=False, columnsStartAt1=False)
    client.request("launch", {"program": str(chain), "granularity": "node"})
    client.event("initialized")
    asked = {"source": {"path": str(chain)}, "lines": [5, 11], "breakpoints": [{"line": 5}, {"line": 11}]}
    assert [found["line"] for found in client.request("setBreakpoints", asked)["breakpoints"]] == [5, 11]
    client.request("configurationDone")
    client.event("stopped")  # beneath the line that calls
    client.move("continue")
    top, caller, module = client.stack()
    text = chain.read_text().splitlines()
    assert text[top["line"]][top["column"] : top["endColumn"]] == "scaled.tanh()"
    assert (top["endLine"], caller["line"], module["line"]) == (5, 5, 11)
    assert client.request("gotoTargets", {"source": {"path": str(chain)}, "line": 4})["targets"]
    found = client.request("completions", {"text": "p scal", "column": 6})["targets"]
    assert [(each["label"], each["start"]) for each in found] == [("scaled", 2)]
    for text, label, start in (("scal", "scaled", 0), ("p scaled.requires_g", "scaled.requires_grad", 2)):
        found = client.request("completions", {"text": text, "column": len(text)})["targets"]
        assert (label, start) in [(each["label"], each["start"]) for each in found]
    client.leave()


@pytest.mark.slow
def test_a_line_that_makes_no_node_is_told(client: Client, chain: Path) -> None:
    never = {"line": 6, "condition": "value.sum() > 1e9"}  # there is a node, but it does not stop
    told = []

    def configure() -> None:
        lines = {"source": {"path": str(chain)}, "breakpoints": [{"line": 12, "condition": "backward"}, never]}
        told.extend(client.request("setBreakpoints", lines)["breakpoints"])

    client.launch(chain, configure=configure)
    changed = client.event("breakpoint")
    assert told[0]["verified"]
    assert changed["breakpoint"]["id"] == told[0]["id"]
    assert changed["breakpoint"]["message"] == "prog.py:12 made no node itself; the nearest line that did is 13"
    client.event("terminated")
    assert client.said == f"Breakpoint {told[0]['id']}: {changed['breakpoint']['message']}\n"
    client.leave()


@pytest.mark.slow
def test_a_line_that_only_calls_stops_beneath_it_each_time(client: Client, chain: Path) -> None:
    calls, backward = 12, 16  # h = layer(x, w), and loss.backward()

    def configure() -> None:
        lines = {"source": {"path": str(chain)}, "breakpoints": [{"line": calls}, {"line": backward}]}
        client.request("setBreakpoints", lines)

    client.launch(chain, configure=configure)
    for _ in range(3):
        client.event("stopped")
        frames = client.stack()
        assert (client.evaluate("op"), frames[0]["line"]) == ("'mul'", 5)
        assert calls in [frame["line"] for frame in frames]
        client.request("continue", {"threadId": 1})
        client.event("stopped")
        assert (client.evaluate("op"), client.evaluate("node.graph_pass")) == ("'sum'", "'backward'")
        client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert "made no node" not in client.said
    client.leave()


@pytest.mark.slow
def test_a_log_point_speaks_and_does_not_stop(client: Client, chain: Path) -> None:
    client.launch(chain, configure=lambda: _log_point(client, chain))
    client.event("terminated")
    assert client.said.splitlines() == ["tanh of (3,) and <NameError: name 'nothing' is not defined>"] * 3
    said = [event["body"] for event in client.events if event["event"] == "output"]
    assert {(body["category"], body["source"]["path"], body["line"]) for body in said} == {
        ("console", str(chain), 6),
        ("stdout", str(chain), 17),
    }
    client.leave()


def _log_point(client: Client, chain: Path) -> None:
    point = {"line": 6, "condition": "forward", "logMessage": "{op} of {value.shape} and {nothing}"}
    client.request("setBreakpoints", {"source": {"path": str(chain)}, "breakpoints": [point]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filter", "lines"),
    [("nan", [3, 3]), pytest.param("nan backward", [3], marks=pytest.mark.slow)],
    ids=["either pass", "backward"],
)
def test_what_is_not_finite(client: Client, write: Write, filter: str, lines: list[int]) -> None:
    def configure() -> None:
        client.request("setExceptionBreakpoints", {"filters": [filter]})

    client.launch(write(NAN), configure=configure)
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    info = client.request("exceptionInfo", {"threadId": 1})
    assert info["breakMode"] == "always"
    told = f"{info['description']}\n{info['details']['stackTrace']}"
    assert told.count("the first non-finite") == told.count("keep what sqrt is given above 0") == 1, told
    client.leave()


FAULTS = {
    "overwritten": (
        """\
        import graphscope as torch
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        doubled = x * 2
        doubled += 1
        grown = doubled.exp()
        grown.mul_(3)
        """,
        6,
        "exp at prog.py:5 had saved its output, and mul_ at prog.py:6 writes over it",
    ),
    "missing": (
        """\
        import graphscope as torch
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        b = torch.tensor([1.0, 2.0], requires_grad=True)
        loss = (w * b.detach()).sum()
        loss.backward()
        w.grad = None
        print("not yet")
        """,
        5,
        "no gradient flows from loss to b: detach at prog.py:4 cuts the way",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("filter", FAULTS)
@pytest.mark.parametrize("live", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["live", "recorded"])
def test_faults_of_a_backward_pass(client: Client, write: Write, filter: str, live: bool, tmp_path: Path) -> None:
    text, line, said = FAULTS[filter]
    program = write(text)
    if live:
        client.launch(
            program, configure=lambda: client.request("setExceptionBreakpoints", {"filters": [filter]}) and None
        )
    else:
        with gs.record(tmp_path / "it.gscope"):
            exec(compile(program.read_text(), str(program), "exec"), {"__name__": "__main__"})
        client.attach(log=str(tmp_path / "it.gscope"))
        client.event("stopped")
        client.request("setExceptionBreakpoints", {"filters": [filter]})
        client.request("continue", {"threadId": 1})
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    info = client.request("exceptionInfo", {"threadId": 1})
    assert said in info["description"]
    frames = client.stack()
    assert line in {frame["line"] for frame in frames}
    if live and filter == "missing":
        assert client.evaluate("w.grad is None, b.grad is None", frameId=frames[-1]["id"]) == "(False, True)"
        assert client.output == ""
    client.leave()


@pytest.mark.slow
def test_a_data_breakpoint_with_condition_and_count(client: Client, write: Write) -> None:
    text = "import graphscope as torch\nx = torch.ones(2)\nfor step in range(5):\n    total = x * step\n"
    client.launch(write(text), stopOnEntry=True)
    client.event("stopped")
    identity = client.request("dataBreakpointInfo", {"name": "total"})["dataId"]
    asked = [
        {"dataId": identity, "condition": "value.sum() > 0", "hitCondition": "2"},
        {"dataId": identity, "condition": "not ( python"},
        {"dataId": identity, "hitCondition": "often"},
    ]
    made = client.request("setDataBreakpoints", {"breakpoints": asked})["breakpoints"]
    assert [found["verified"] for found in made] == [True, False, False]
    stopped = client.move("continue")
    assert stopped["hitBreakpointIds"] == [made[0]["id"]]
    assert client.evaluate("step") == "2"  # none at 0, where the sum is 0; the second of those behind
    client.leave()


@pytest.mark.slow
def test_data_breakpoints(client: Client, chain: Path) -> None:
    client.launch(chain, "op:mul forward")
    client.event("stopped")
    scope = client.scopes()
    inputs = client.variables(scope["Inputs"])
    assert len(inputs) == 2
    told = client.request("dataBreakpointInfo", {"name": "w.grad"})
    assert told["dataId"] == ":w.grad"
    assert client.request("dataBreakpointInfo", {"name": "no ( python"})["dataId"] is None
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    made = client.request(
        "setDataBreakpoints", {"breakpoints": [{"dataId": told["dataId"]}, {"dataId": "77777:value"}]}
    )
    assert [found["verified"] for found in made["breakpoints"]] == [True, False]
    stopped = client.move("continue")
    assert stopped["reason"] == "data breakpoint"
    assert "w.grad" in stopped["text"]
    assert "undefined" in stopped["text"] or "None" in stopped["text"]
    client.request("setDataBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    client.leave()


@pytest.mark.slow
def test_breakpoints_may_be_set_while_the_program_runs(client: Client, write: Write) -> None:
    text = "import graphscope as torch\nx = torch.ones(3)\nprint('on', flush=True)\nwhile True:\n    y = x.exp()\n"
    client.launch(write(text))
    while "on" not in client.output:
        client.event("output")
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:exp"}]})
    assert client.event("stopped")["reason"] == "function breakpoint"
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    assert client.position()["running"]
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:exp before"}]})
    stopped = client.event("stopped")
    assert stopped["description"].startswith("before #")
    assert client.variables(client.scopes()["Inputs"])
    client.leave()


@pytest.mark.slow
def test_goto_in_either_direction(client: Client, chain: Path) -> None:
    client.launch(chain, {"name": "op:sum backward", "hitCondition": "2"})
    client.event("stopped")
    place = {"source": {"path": str(chain)}, "line": 6}
    targets = client.request("gotoTargets", place)["targets"]
    words = [target["label"].split()[1] for target in targets]
    assert [word for word in words if word != "accumulate"] == ["tanh", "TanhBackward", "tanh"]
    assert client.move("goto", targetId=targets[0]["id"])["description"] == targets[0]["label"]
    assert client.request("gotoTargets", place)["targets"] == targets  # those to come, too
    assert client.move("goto", targetId=targets[-1]["id"])["description"] == targets[-1]["label"]
    with pytest.raises(Refused, match="no node"):
        client.request("goto", {"threadId": 1, "targetId": 100000})
    assert client.request("gotoTargets", {**place, "line": 1})["targets"] == []
    client.leave()


@pytest.mark.slow
def test_steps_into_a_rule_and_out_of_it(client: Client, chain: Path) -> None:
    client.launch(chain, "op:tanh backward")
    client.event("stopped")
    inside = client.move("stepIn")["description"]
    assert "Backward" not in inside
    out = client.move("stepOut")["description"]
    assert out != inside
    assert client.move("stepBack", granularity="instruction")["description"] != out
    client.leave()


@pytest.mark.slow
def test_the_console_of_an_editor_is_the_debuggers_own(client: Client, chain: Path) -> None:
    client.launch(chain, "op:tanh")
    client.event("stopped")
    assert "Breakpoint 2 at op:mul" in client.evaluate("b op:mul", "repl")
    assert "op:mul" in client.evaluate("b", "repl")
    assert "tanh" in client.evaluate("where", "repl") or "layer" in client.evaluate("where", "repl")
    assert "  6" in client.evaluate("l 6, 7", "repl")
    assert client.evaluate("why w", "repl")
    with pytest.raises(Refused):
        client.evaluate("nonsense", "repl")
    client.evaluate("c", "repl")
    assert "threadId" in client.event("continued")
    assert client.event("stopped")["hitBreakpointIds"]
    found = client.command("info log")
    assert found["type_name"] == "TableResult"
    assert client.command("p step")["text"] == "0"
    names = [target["label"] for target in client.request("completions", {"text": "p sca", "column": 6})["targets"]]
    assert "scale" in "".join(names) or names == []
    client.leave()


MODULES = """\
import graphscope as torch
from graphscope import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.inner(x))


net = Net()
loss = net(torch.ones(5, 3)).sum()
loss.backward()
"""


@pytest.mark.slow
def test_modules_stand_in_the_stack_and_can_be_gone_back_to(client: Client, write: Write) -> None:
    client.launch(write(MODULES), "op:tanh")
    client.event("stopped")
    names = [frame["name"] for frame in client.stack()]
    assert names[1:3] == ["in inner.1 (Tanh)", "in inner (Sequential)"]
    assert names[-2:] == ["forward", "<module>"]
    row = client.position()["now"]
    inner = client.stack()[2]
    assert inner["canRestart"]
    client.request("restartFrame", {"frameId": inner["id"]})
    client.event("stopped")
    assert client.position()["now"] < row
    assert "in inner.0 (Linear)" in [frame["name"] for frame in client.stack()]
    with pytest.raises(Refused, match="modules"):
        client.request("restartFrame", {"frameId": client.stack()[0]["id"]})
    stopped = client.move("continue")
    assert stopped["reason"] == "function breakpoint"
    assert "tanh" in stopped["description"]
    client.move("continue")
    assert [frame["name"] for frame in client.stack()][1:3] == names[1:3]  # in backward, too
    client.leave()
