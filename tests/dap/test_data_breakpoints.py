"""What can be watched, and what it is called: only tensors, by the name that a person sees; and it stops there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dap.talking import Client

Write = Callable[[str], Path]

FRAMEWORKS = [
    pytest.param("import graphscope as torch", id="engine"),
    pytest.param("import torch", id="torch", marks=[pytest.mark.torch, pytest.mark.slow]),
]

NET = """\
{framework}
nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, given):
        inner = self.fc(given)
        return inner.tanh()


model = Net()
x = torch.ones(1, 3)
label = "text"
rows = [x, x]
for step in range(3):
    out = model(x)
    loss = out.sum()
    loss.backward()
"""

NO_TENSORS = {"step": "int", "label": "str", "model": "Net", "rows": "list", "model.fc": "Linear", "op": "str"}


def told(client: Client, name: str, **more: Any) -> tuple[str | None, str]:
    found = client.request("dataBreakpointInfo", {"name": name, **more})
    return found["dataId"], found["description"]


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_no_tensor_is_not_offered(client: Client, write: Write, framework: str) -> None:
    client.launch(write(NET.replace("{framework}", framework)), "op:tanh")
    client.event("stopped")
    module = next(frame["id"] for frame in client.stack() if frame["name"] == "<module>")
    for name, kind in NO_TENSORS.items():
        identity, description = told(client, name, frameId=module)
        assert identity is None
        assert f"{name} is no tensor but of type {kind}" in description
    scopes = client.scopes(module)
    assert {"step", "label", "model", "x"} <= client.variables(scopes["Locals"]).keys()
    for name in ("step", "label", "model"):
        assert told(client, name, variablesReference=scopes["Locals"])[0] is None
    facts = client.scopes()["Value"]
    names = ("node op", "node shape", "node row")
    assert set(names) <= client.variables(facts).keys()
    assert [told(client, name, variablesReference=facts)[0] for name in names] == [None] * 3
    for nothing in ("no ( python", "x * step", "x.shape", "model.fc.nothing", "#99999.value"):
        identity, description = told(client, nothing, frameId=module)
        assert identity is None
        assert description
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_tensor_is_told_by_the_name_that_one_sees(client: Client, write: Write, framework: str) -> None:
    client.launch(write(NET.replace("{framework}", framework)), "op:tanh")
    node = client.event("stopped")["description"]
    forward = next(frame["id"] for frame in client.stack() if frame["name"] == "forward")
    scopes = client.scopes()
    inputs = list(client.variables(scopes["Inputs"]))
    assert told(client, inputs[0], variablesReference=scopes["Inputs"])[1] == "inner, of every pass"
    assert told(client, "given", frameId=forward)[1] == "x, of every pass"  # what stands for it here
    assert told(client, "self.fc.weight", frameId=forward)[1] == "fc.weight, of every pass"
    assert told(client, "model.fc.weight.grad", frameId=forward)[1] == "fc.weight.grad, of every pass"
    assert told(client, "value")[1] == f"value of {node}"
    assert told(client, "later") == (":later", "later, once a tensor is called so")
    client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_it_stops_where_what_was_told_changes(client: Client, write: Write, framework: str) -> None:
    client.launch(write(NET.replace("{framework}", framework)), "op:tanh forward")
    client.event("stopped")
    module = next(frame["id"] for frame in client.stack() if frame["name"] == "<module>")
    identity, _ = told(client, "model.fc.weight.grad", frameId=module)
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    made = client.request("setDataBreakpoints", {"breakpoints": [{"dataId": identity}]})["breakpoints"]
    seen = []
    for _ in range(3):
        stopped = client.move("continue")
        assert stopped["hitBreakpointIds"] == [made[0]["id"]]
        top = client.stack()[-1]["id"]
        seen.append((client.evaluate("step", frameId=top), "accumulate" in stopped["description"].lower()))
    assert seen == [("0", True), ("1", True), ("2", True)]
    client.leave()


@pytest.mark.slow
def test_in_a_recording_a_name_that_no_tensor_has_is_not_offered(client: Client, write: Write, tmp_path: Path) -> None:
    log = tmp_path / "it.gscope"
    client.launch(write(NET.replace("{framework}", "import graphscope as torch")), log=str(log), stopAtEnd="never")
    client.event("terminated")
    client.leave()
    other = Client(inside=True)
    try:
        other.attach(log=str(log))
        other.event("stopped")
        assert told(other, "loss") == (":loss", "loss, once a tensor is called so")
        assert told(other, "later")[0] is None
        other.leave()
    finally:
        other.close()
