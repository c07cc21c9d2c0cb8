"""What the log tells of how a program trains is the same whether the engine runs it or PyTorch."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind
from graphscope.graph.training import Training, training

pytestmark = pytest.mark.torch

PROGRAMS = {
    "modules and modes": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5))
                self.head = torch.nn.Linear(4, 2)
                self.idle = torch.nn.Linear(2, 2)
                self.loose = [torch.nn.Linear(2, 2)]

            def forward(self, x):
                return self.head(self.body(x))

        net = Net()
        net.head.bias.requires_grad_(False)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(2):
            net.train()
            optimizer.zero_grad()
            net(torch.ones(2, 3)).sum().backward()
            optimizer.step()
            net.eval()
            net.eval()
            net(torch.ones(2, 3))
            net.body[1].train()
        """,
    "groups, schedules and clipping": """
        a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.Adam([{"params": a.parameters()}, {"params": b.parameters(), "lr": 0.5}], lr=0.1)
        warm = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=2)
        fall = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        both = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, fall], milestones=[2])
        wait = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        for _ in range(5):
            loss = b(a(torch.ones(3, 2))).square().mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(a.parameters(), 1.0)
            torch.nn.utils.clip_grad_value_(list(b.parameters()), 0.5)
            optimizer.step()
            both.step()
            wait.step(loss.item())
            a.zero_grad()
            optimizer.zero_grad(set_to_none=False)
        """,
    "frozen later, loaded and joined": """
        class Trainer(torch.optim.SGD):
            def __init__(self, params):
                super().__init__(params, lr=0.1)

        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        late = torch.nn.Linear(1, 1)
        optimizer = Trainer(net.parameters())
        kept = {name: each.clone() for name, each in net.state_dict().items()}
        for step in range(3):
            optimizer.zero_grad()
            (late(net(torch.ones(1, 2))) if step else net(torch.ones(1, 2))).sum().backward()
            optimizer.step()
            if step == 0:
                optimizer.add_param_group({"params": late.parameters(), "lr": 0.01})
            if step == 1:
                net[0].weight.requires_grad = False
                net.load_state_dict(kept)
                optimizer.load_state_dict(optimizer.state_dict())
        """,
    "an optimizer that nothing was told of": """
        net = torch.nn.Linear(2, 1)
        other = torch.optim.SGD(net.parameters(), lr=0.1)
        """,
}


def recorded(program: str, module: str, folder: Path) -> Log:
    script = folder / "prog.py"
    script.write_text(f"import {module} as torch\n" + textwrap.dedent(program))
    with gs.record(folder / "run.gscope"):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / "run.gscope")


def told(log: Log) -> dict[str, Any]:
    """All of it, without numbers that are those of rows."""
    found = training(log)
    marks = found.rows(*_CALLS).tolist()
    assigned = [row for row in log.rare().tolist() if log.event(row).kind == Kind.ASSIGN]
    return {
        "optimizers": [
            (each.type, found.place(each.site)[1], each.is_told, [_group(found, group) for group in each.groups])
            for each in found.optimizers.values()
        ],
        "schedulers": [(each.type, found.place(each.site)[1]) for each in found.schedulers.values()],
        "modules": [_module(found, each) for each in found.modules.values()],
        "calls": [_call(found, row) for row in marks],
        "rates": np.nan_to_num(found.rates(found.rows("step"))).round(6).tolist(),
        "assigned": [each for row in assigned if (each := _assigned(found, row))[2]],
    }


_CALLS = ("zero_grad", "step", "scheduler.step", "clip_grad_norm_", "clip_grad_value_", "train", "eval",
          "load_state_dict")  # fmt: skip


def _group(found: Training, group: Any) -> tuple[Any, ...]:
    return _last(found, group.tensors), group.count, group.settings.get("lr")


def _last(found: Training, tensors: Iterable[int]) -> list[str]:
    """Their names; what they are called within a module that stands alone is another matter."""
    return sorted(found.name(tensor).rpartition(".")[2] for tensor in tensors)


def _module(found: Training, module: Any) -> tuple[Any, ...]:
    lines = {name: found.place(site)[1] for name, site in module.sites.items()}
    asked = {name: (value, found.place(site)[1]) for name, (value, site) in module.told.items()}
    loose = [(each.attribute, sorted(each.parameters), found.place(each.site)[1]) for each in module.unregistered]
    used = {name: tensor is not None for name, tensor in module.parameters.items()}
    return (
        module.type, dict(module.modules), lines, dict(module.sizes), sorted(module.frozen), asked, loose, used,
        module.is_training, sorted(module.others),
    )  # fmt: skip


def _call(found: Training, row: int) -> tuple[Any, ...]:
    call = found.call(row)
    facts = {name: call.facts.get(name) for name in ("limit", "to_none", "training", "others", "type")}
    return (
        call.name,
        found.place(call.site)[1],
        facts,
        len(found.log.attrs(found.log.event(row).attrs).get("tensors", ())),
    )


def _assigned(found: Training, row: int) -> tuple[Any, ...]:
    event = found.log.event(row)
    attrs = found.log.attrs(event.attrs)
    leaves = [each for each in attrs["tensors"] if found.log.event(each).kind == Kind.LEAF]  # not their gradients
    return attrs["set"], attrs["to"], len(leaves), found.place(event.site)[1]


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_the_engine_tells_what_the_adapter_of_pytorch_tells(program: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    both = []
    for module in ("graphscope", "torch"):
        (tmp_path / module).mkdir()
        both.append(told(recorded(program, module, tmp_path / module)))
    for what in both[0]:
        assert both[0][what] == both[1][what], what


@pytest.mark.parametrize("module", ["graphscope", "torch"])
def test_an_optimizer_that_was_made_before_is_told_where_it_steps(module: str, tmp_path: Path) -> None:
    torch = pytest.importorskip(module)
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with gs.record(tmp_path / "run.gscope"):
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(3, 2)).sum().backward()
            optimizer.step()
    found = training(gs.load(tmp_path / "run.gscope"))
    (known,) = found.optimizers.values()
    assert (known.type, known.site, known.is_told) == ("SGD", 0, True)
    assert _last(found, known.tensors) == ["bias", "weight"]
    assert found.rates(found.rows("step", owner=known.number)).ravel().tolist() == pytest.approx([0.1, 0.1])


def test_a_second_recording_is_told_anew(tmp_path: Path) -> None:
    net = gs.nn.Linear(2, 1)
    optimizer = gs.optim.SGD(net.parameters(), lr=0.1)
    for run in ("one", "two"):
        with gs.record(tmp_path / run):
            net(gs.ones(3, 2)).sum().backward()
            optimizer.step()
        found = training(gs.load(tmp_path / run))
        assert [each.type for each in found.optimizers.values()] == ["SGD"]
        assert [sorted(each.parameters) for each in found.modules.values()] == [["bias", "weight"]]


def test_nothing_is_told_where_nothing_is_recorded() -> None:
    net = gs.nn.Linear(2, 1)
    optimizer = gs.optim.SGD(net.parameters(), lr=0.1)
    scheduler = gs.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    optimizer.zero_grad()
    net.eval()(gs.ones(3, 2)).sum().backward()
    optimizer.step()
    scheduler.step()
    with gs.record() as log:
        pass
    log.refresh()
    assert len(log) == 0
