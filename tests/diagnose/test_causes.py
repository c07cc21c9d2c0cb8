"""One finding for one cause: a cascade of symptoms is one, and independent causes are several."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Report

pytestmark = [pytest.mark.torch, pytest.mark.slow]

BEGIN = """
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
def batch():
    x = torch.randn(64, 8)
    return x, (x.sum(1) > 0).long()
"""

CASCADES = {
    "steps too large": (
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
        opt = torch.optim.SGD(net.parameters(), lr=50.0)  # <--
        for _ in range(25):
            x, y = batch()
            opt.zero_grad()
            ((net(x).squeeze(1) - x.sum(1)) ** 2).mean().backward()
            opt.step()
        """,
        ("update_ratio", {"nan"}),
    ),
    "closed from the beginning": (
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
        nn.init.constant_(net[0].bias, -40.0)  # <--
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(25):
            x, y = batch()
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
        """,
        ("dead_relu", {"vanished"}),
    ),
    "gradients pile up": (
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.2)
        for _ in range(40):
            x, y = batch()
            ((net(x).squeeze(1) - x.sum(1)) ** 2).mean().backward()  # <--
            opt.step()
        """,
        ("zero_grad", {"update_ratio", "nan"}),
    ),
    "the loss is driven up": (
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.05)
        for _ in range(60):
            x, y = batch()
            opt.zero_grad()
            loss = -((net(x).squeeze(1) - x.sum(1)) ** 2).mean()  # <--
            loss.backward()
            opt.step()
        """,
        ("wrong_sign", {"nan"}),
    ),
    "a logarithm of 0 while steps are large": (
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
        opt = torch.optim.Adam(net.parameters(), lr=0.1)
        for step in range(40):
            x, y = batch()
            opt.zero_grad()
            p = torch.sigmoid(20 * net(x).squeeze(1))
            loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # <--
            loss.backward()
            opt.step()
        """,
        ("nan", {"update_ratio"}),
    ),
    "clipped too late": (
        """
        net, head = nn.RNN(1, 24, batch_first=True, nonlinearity="relu"), nn.Linear(24, 1)
        parameters = [*net.parameters(), *head.parameters()]
        opt = torch.optim.SGD(parameters, lr=0.05)
        for step in range(40):
            x = torch.randn(16, 25, 1) + 15 * torch.randn(16, 25, 1) * (torch.rand(16, 25, 1) < 0.02)
            opt.zero_grad()
            F.mse_loss(head(net(x)[0]), x.cumsum(1)).backward()
            opt.step()
            nn.utils.clip_grad_norm_(parameters, 1.0)  # <--
        """,
        ("clip_order", {"nan"}),
    ),
}

SEVERAL = {
    "cut off, and a division by zero": (
        """
        encoder, head = nn.Linear(8, 8), nn.Linear(8, 2)
        opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
        for step in range(20):
            x, y = batch()
            opt.zero_grad()
            scale = torch.ones(8) * (0.0 if step == 12 else 1.0)
            loss = F.cross_entropy(head(encoder(x).detach()), y) + head.weight.sum() / scale.sum()
            loss.backward()
            opt.step()
        """,
        {"missing", "nan"},
    ),
    "not registered, and a softmax too many": (
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(8, 16)
                self.blocks = [nn.Linear(16, 16)]
                self.last = nn.Linear(16, 2)
            def forward(self, x):
                return self.last(torch.relu(self.blocks[0](torch.relu(self.first(x))))).softmax(1)
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(20):
            x, y = batch()
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
        """,
        {"not_registered", "double_softmax"},
    ),
    "not in the optimizer, and never cleared": (
        """
        encoder, head = nn.Linear(8, 8), nn.Linear(8, 2)
        opt = torch.optim.SGD(encoder.parameters(), lr=0.05)
        for _ in range(20):
            x, y = batch()
            F.cross_entropy(head(torch.tanh(encoder(x))), y).backward()
            opt.step()
        """,
        {"not_in_optimizer", "zero_grad"},
    ),
    "a gate cut off, and a dead layer": (
        """
        first, second, head, gate = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 2), nn.Linear(8, 16)
        nn.init.constant_(second.bias, -30.0)
        opt = torch.optim.SGD([p for each in (first, second, head, gate) for p in each.parameters()], lr=0.05)
        for _ in range(25):
            x, y = batch()
            opt.zero_grad()
            open_ = torch.tensor(torch.sigmoid(gate(x)).tolist())
            hidden = torch.relu(second(torch.relu(first(x))))
            F.cross_entropy(head(hidden * open_), y).backward()
            opt.step()
        """,
        {"missing", "dead_relu"},
    ),
    "a schedule a batch, and evaluated in training": (
        """
        net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 2))
        opt = torch.optim.Adam(net.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.ExponentialLR(opt, 0.1)
        for epoch in range(8):
            for _ in range(4):
                x, y = batch()
                opt.zero_grad()
                F.cross_entropy(net(x), y).backward()
                opt.step()
                schedule.step()
            with torch.no_grad():
                x, y = batch()
                F.cross_entropy(net(x), y).item()
        """,
        {"lr_vanished", "train_eval_mode"},
    ),
}


def report_of(program: str, folder: Path) -> Report:
    pytest.importorskip("torch")
    script = folder / "train.py"
    script.write_text(BEGIN + textwrap.dedent(program))
    with gs.record(folder / "run.gscope", values="summary"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.doctor(folder / "run.gscope")


@pytest.mark.parametrize(("program", "expected"), CASCADES.values(), ids=CASCADES)
def test_a_cascade_is_one_finding(program: str, expected: tuple[str, set[str]], tmp_path: Path) -> None:
    (found,) = report_of(program, tmp_path)
    assert (found.kind, {each.kind for each in found.consequences}) == expected
    assert "# <--" in found.source


@pytest.mark.parametrize(("program", "expected"), SEVERAL.values(), ids=SEVERAL)
def test_independent_causes_are_all_told(program: str, expected: set[str], tmp_path: Path) -> None:
    found = report_of(program, tmp_path)
    assert {each.kind for each in found} == expected
    assert len(found) == len(expected)


def test_the_factor_that_is_zero_is_named_where_a_rule_has_parts(tmp_path: Path) -> None:
    program = """
        net, (a, b) = nn.Linear(8, 4), (nn.Parameter(torch.zeros(shape)) for shape in ((2, 8), (4, 2)))
        net.requires_grad_(False)
        opt = torch.optim.SGD([a, b], lr=0.1)
        for _ in range(5):
            x = torch.randn(4, 3, 8)
            opt.zero_grad()
            (net(x) + F.linear(F.linear(x, a), b)).pow(2).mean().backward()
            opt.step()
        """
    (found,) = report_of(program, tmp_path)
    (effect,) = found.consequences
    assert effect.kind == "vanished"
    assert "100% of b (what it is multiplied by) is zero" in effect.verdict
