"""A PyTorch program under the adapter: stopped in its backward pass, looked at, changed, and gone back in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import Client

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAINING = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
x, target = torch.randn(16, 4), torch.randn(16, 1)
for step in range(3):
    sgd.zero_grad()
    loss = ((net(x) - target) ** 2).mean()
    loss.backward()
    {change}
    sgd.step()
    print(step, loss.item().hex())
print([parameter.sum().item().hex() for parameter in net.parameters()])
"""


def alone(program: Path) -> str:
    return subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout


def test_back_in_time_and_on_changes_nothing(client: Client, write: Callable[[str], Path]) -> None:
    program = write(TRAINING.format(change="pass"))
    client.launch(program, {"name": "op:tanh backward", "hitCondition": "2"}, capture="ops", values="full")
    assert client.event("stopped")["reason"] == "function breakpoint"
    names = [frame["name"] for frame in client.stack()]
    assert names[1:] == ["in 1 (Tanh)", "<module>"]
    assert client.evaluate("step") == "1"
    assert client.evaluate("grad.shape") == "torch.Size([16, 8])"
    at = client.position()["now"]
    for _ in range(5):
        client.move("stepBack")
    assert client.position()["now"] < at
    assert client.evaluate("value.numel() > 0") == "True"  # a tensor in the past, too, while the program waits
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:linear forward"}]})
    assert "linear" in client.move("reverseContinue")["description"]
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    assert client.output == alone(program)
    assert client.leave() == 0


def test_a_changed_gradient_has_the_effect_that_it_has_in_the_program(
    client: Client, write: Callable[[str], Path]
) -> None:
    program = write(TRAINING.format(change="pass"))
    client.launch(program, {"name": "op:linear backward", "hitCondition": "2"})
    client.event("stopped")  # at the first layer: its cotangent makes the gradients of net[0]
    assert client.evaluate("grad.shape") == "torch.Size([16, 8])"
    scope = client.scopes()["Gradient"]
    client.request("setVariable", {"variablesReference": scope, "name": "grad", "value": "grad * 0"})
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    same = "if step == 0: [parameter.grad.zero_() for parameter in net[0].parameters()]"
    assert client.output == alone(write(TRAINING.format(change=same)))
    client.leave()


@pytest.mark.parametrize(
    ("text", "filter", "said"),
    [
        (
            "w, b = (torch.ones(2, requires_grad=True) for _ in range(2))\n(w * b.detach()).sum().backward()\n",
            "missing",
            "detach at prog.py:3 cuts the way",
        ),
        (
            "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.mul_(2)\n",
            "overwritten",
            "exp at prog.py:3 had saved its output, and mul_ at prog.py:4 writes over it",
        ),
    ],
    ids=["missing", "overwritten"],
)
def test_faults(client: Client, write: Callable[[str], Path], text: str, filter: str, said: str) -> None:
    client.launch(
        write(f"import torch\n{text}"),
        configure=lambda: client.request("setExceptionBreakpoints", {"filters": [filter]}) and None,
    )
    assert client.event("stopped")["reason"] == "exception"
    assert said in client.request("exceptionInfo", {"threadId": 1})["description"]
    client.leave()


WORKERS = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(12, 3), torch.randn(12, 1))
    w = torch.randn(3, 1, requires_grad=True)
    for x, y in DataLoader(data, batch_size=4, num_workers=2):
        ((x @ w - y) ** 2).mean().backward()
    print(w.grad.sum().item().hex())
"""


def test_workers_of_a_data_loader_keep_working(client: Client, write: Callable[[str], Path]) -> None:
    program = write(WORKERS)
    client.launch(program, "op:mean backward")
    for _ in range(3):
        client.event("stopped")
        client.request("continue", {"threadId": 1})
    assert client.event("exited")["exitCode"] == 0
    assert client.output == alone(program)
    assert client.leave() == 0


RANKS = """\
import torch
import torch.distributed as dist

import graphscope as gs

dist.init_process_group("gloo")
with gs.record():
    x = torch.ones(2, requires_grad=True) * (dist.get_rank() + 1)
    y = x.exp()
dist.destroy_process_group()
"""


def test_each_rank_of_torchrun_is_a_thread(client: Client, write: Callable[[str], Path], tmp_path: Path) -> None:
    client.initialize()
    words = ["--nproc-per-node", "2", "--standalone", str(write(RANKS))]
    kept = {"log": str(tmp_path / "run.gscope"), "env": {"TMPDIR": str(tmp_path)}}
    launched = {"module": "torch.distributed.run", "args": words, **kept}
    client.request("launch", {**launched, "stopAtEnd": "always"})
    client.event("initialized")
    client.request("configurationDone")
    assert client.event("exited", 120)["exitCode"] == 0
    client.event("stopped")
    _, *ranks = client.request("threads")["threads"]
    assert [found["name"] for found in ranks] == ["rank 0: MainThread", "rank 1: MainThread"]
    for rank, found in enumerate(ranks):
        (frame,) = client.request("stackTrace", {"threadId": found["id"]})["stackFrames"]
        assert "exp" in frame["name"]
        assert client.evaluate("inputs[0].tolist()", frameId=frame["id"]) == str([rank + 1.0] * 2)
    assert client.leave() == 0


LEARNS_NOTHING = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.01)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for step in range(60):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print("the end", step)
"""


@pytest.mark.parametrize("condition", ["", "zero_grad, lr_vanished"], ids=["any", "kinds"])
def test_an_editor_stops_where_a_check_of_the_run_fires(
    client: Client, write: Callable[[str], Path], condition: str
) -> None:
    options = [{"filterId": "finding", "condition": condition}]
    client.launch(
        write(LEARNS_NOTHING),
        configure=lambda: client.request("setExceptionBreakpoints", {"filters": [], "filterOptions": options}) and None,
    )
    stopped = client.event("stopped")
    assert stopped["reason"] == "exception"
    assert "lr_vanished at prog.py:14: the learning rate of SGD" in stopped["text"]
    info = client.request("exceptionInfo", {"threadId": 1})
    assert info["exceptionId"] == "learning rate that vanishes"
    assert info["description"].endswith("cure: step the scheduler once an epoch, or let it count batches")
    assert info["details"]["typeName"] == "lr_vanished"
    assert client.stack()[0]["line"] == 13
    assert int(client.evaluate("step")) < 30
    client.leave()


def test_an_editor_that_asks_for_other_kinds_does_not_stop(client: Client, write: Callable[[str], Path]) -> None:
    options = [{"filterId": "finding", "condition": "zero_grad not_in_optimizer"}]
    client.launch(
        write(LEARNS_NOTHING),
        configure=lambda: client.request("setExceptionBreakpoints", {"filters": [], "filterOptions": options}) and None,
    )
    client.event("terminated")
    assert "the end 59" in client.output
    client.leave()
