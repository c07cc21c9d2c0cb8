"""Trainings written with an optimizer and by hand: the same where they do the same, else told where they update."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.compare import diff
from graphscope.eventlog.reader import Log
from tests.quick import one_quick

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

NET = """
import torch
from torch import nn
import rules
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 2))
x = torch.randn(64, 8)
y = torch.stack([x.sum(1), x.prod(1)], 1)
model = net
"""

WRITTEN_OUT = """
def model(x):
    x = x @ net[0].weight.T + net[0].bias
    mean = x.mean(-1, keepdim=True)
    x = (x - mean) / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + 1e-5) * net[1].weight + net[1].bias
    return torch.tanh(x) @ net[3].weight.T + net[3].bias
"""

RULES = """
import torch

def clip(gradients, limit):
    norm = torch.sqrt(sum((g ** 2).sum() for g in gradients))
    coefficient = torch.clamp(limit / (norm + 1e-6), max=1.0)
    return [g * coefficient for g in gradients]

@torch.no_grad()
def adam(parameters, gradients, state, step, rate=1e-2, beta=0.9, other=0.999, eps=1e-8, decay=0.0):
    for p, g, (m, v) in zip(parameters, gradients, state):
        p.mul_(1 - rate * decay)
        m.copy_(beta * m + (1 - beta) * g)
        v.copy_(other * v + (1 - other) * g * g)
        p.sub_(rate * (m / (1 - beta ** step)) / (torch.sqrt(v / (1 - other ** step)) + eps))

@torch.no_grad()
def momentum(parameters, gradients, velocity, rate=1e-2, mu=0.9):
    for p, g, v in zip(parameters, gradients, velocity):
        v.copy_(mu * v + g)
        p.copy_(p - rate * v)

@torch.no_grad()
def momentum_of_updates(parameters, gradients, velocity, rate=1e-2, mu=0.9):
    for p, g, v in zip(parameters, gradients, velocity):
        v.copy_(mu * v + rate * g)
        p.copy_(p - v)
"""

BY_TORCH = """
optimizer = torch.optim.{made}
for step in range(4):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    {between}
    optimizer.step()
"""

BY_HAND = """
state = [torch.zeros_like(p) for p in net.parameters()]
both = [(torch.zeros_like(p), torch.zeros_like(p)) for p in net.parameters()]
for step in range(4):
    loss = (model(x) - y).square().mean()
    loss.backward()
    gradients = [p.grad for p in net.parameters()]
    {update}
    for p in net.parameters():
        p.grad = None
"""

HANDED = """
weights = list(net.parameters())
state = [torch.zeros_like(p) for p in weights]
both = [(torch.zeros_like(p), torch.zeros_like(p)) for p in weights]
for step in range(4):
    loss = (model(x) - y).square().mean()
    gradients = torch.autograd.grad(loss, weights)
    {update}
"""

LOOPS = {"backward": BY_HAND, "grad": HANDED}


def by_torch(made: str, between: str = "pass") -> str:
    return BY_TORCH.format(made=made.replace("(", "(net.parameters(), ", 1), between=between)


PLAIN = """with torch.no_grad():
        for p, g in zip(net.parameters(), gradients):
            p -= 0.1 * g"""
DATA = """for p, g in zip(net.parameters(), gradients):
        p.data = p.data - 0.1 * g"""
DECAYED = """with torch.no_grad():
        for p, g in zip(net.parameters(), gradients):
            p.sub_(0.1 * (g + 0.01 * p))"""
CLIPPED = f"gradients = rules.clip(gradients, 0.5)\n    {PLAIN}"
WITHIN = f"gradients = [g.clamp(-0.05, 0.05) for g in gradients]\n    {PLAIN}"
MOMENTUM = "rules.momentum(net.parameters(), gradients, state)"
OF_UPDATES = "rules.momentum_of_updates(net.parameters(), gradients, state)"
ADAM = "rules.adam(net.parameters(), gradients, both, step + 1)"
ADAMW = "rules.adam(net.parameters(), gradients, both, step + 1, decay=0.1)"
BY_NORM = "nn.utils.clip_grad_norm_(net.parameters(), 0.5)"
BY_VALUE = "nn.utils.clip_grad_value_(net.parameters(), 0.05)"
PUT = """for p, g in zip(list(net.parameters()), rules.clip([p.grad for p in net.parameters()], 0.5)):
        p.grad = g"""
COPIED = PUT.replace("p.grad = g", "p.grad.copy_(g)")
DATA_CLAMPED = """for p in net.parameters():
        p.grad.data.clamp_(-0.05, 0.05)"""

SAME = {
    "sgd": (by_torch("SGD(lr=0.1)"), PLAIN),
    "data": (by_torch("SGD(lr=0.1)"), DATA),
    "clipped by norm": (by_torch("SGD(lr=0.1)", BY_NORM), CLIPPED),
    "clipped by value": (by_torch("SGD(lr=0.1)", BY_VALUE), WITHIN),
    "momentum": (by_torch("SGD(lr=1e-2, momentum=0.9)"), MOMENTUM),
    "momentum of updates": (by_torch("SGD(lr=1e-2, momentum=0.9)"), OF_UPDATES),
    "weight decay": (by_torch("SGD(lr=0.1, weight_decay=0.01)"), DECAYED),
    "adam": (by_torch("Adam(lr=1e-2)"), ADAM),
    "adamw": (by_torch("AdamW(lr=1e-2, weight_decay=0.1)"), ADAMW),
    "adam, clipped": (by_torch("Adam(lr=1e-2)", BY_NORM), f"gradients = rules.clip(gradients, 0.5)\n    {ADAM}"),
}

CLIPS = {
    "put in place": (BY_NORM, PUT),
    "copied": (BY_NORM, COPIED),
    "clamped": (BY_VALUE, DATA_CLAMPED),
}


@pytest.fixture(autouse=True)
def _rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules.py").write_text(RULES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rules", raising=False)


def recorded(folder: Path, name: str, *texts: str) -> Log:
    script = folder / f"{name}.py"
    script.write_text("".join(texts))
    with gs.record(folder / f"{name}.gscope"):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


@pytest.mark.slow
@pytest.mark.parametrize("loop", one_quick(LOOPS))
@pytest.mark.parametrize("net", one_quick([WRITTEN_OUT, ""]), ids=["another structure", "one structure"])
@pytest.mark.parametrize("name", one_quick(SAME))
def test_an_optimizer_and_its_rule_by_hand_do_the_same(name: str, net: str, loop: str, tmp_path: Path) -> None:
    made, update = SAME[name]
    found = diff(
        recorded(tmp_path, "a", NET, made), recorded(tmp_path, "b", NET, net, LOOPS[loop].format(update=update))
    )  # fmt: skip
    assert found.verdict == "same", [(each.step, each.when, each.cause, each.verdict) for each in found.partings]


@pytest.mark.slow
@pytest.mark.parametrize("made", ["SGD(lr=0.1)", "SGD(lr=0.01, momentum=0.9)", "Adam(lr=1e-2)", "AdamW(lr=1e-2)"])
@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("net", [WRITTEN_OUT, ""], ids=["another structure", "one structure"])
def test_gradients_clipped_by_hand_for_an_optimizer(name: str, made: str, net: str, tmp_path: Path) -> None:
    called, by_hand = CLIPS[name]
    found = diff(
        recorded(tmp_path, "a", NET, by_torch(made, called)), recorded(tmp_path, "b", NET, net, by_torch(made, by_hand))
    )  # fmt: skip
    assert found.verdict == "same", [(each.step, each.when, each.cause, each.verdict) for each in found.partings]


RATE = "rate=0.02 * 0.5 ** step"
CHANGED = {
    "rate": (PLAIN, PLAIN.replace("0.1 *", "0.11 *"), 1, "p -= 0.1"),
    "momentum, step 2": (MOMENTUM, MOMENTUM.replace("state)", "state, mu=0.8)"), 2, "p.copy_(p - "),
    "convention": (MOMENTUM.replace("state)", f"state, {RATE})"), OF_UPDATES.replace("state)", f"state, {RATE})"), 2,
                   "p.copy_(p - "),
    "betas": (ADAM, ADAM.replace("step + 1", "step + 1, beta=0.8"), 2, "p.sub_("),
    "decay": (ADAM, ADAMW, 1, "p.sub_("),
    "limit": (CLIPPED, CLIPPED.replace("0.5)", "0.4)"), 1, "p -= 0.1"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("loops", one_quick(["backward, grad", "grad, grad", "grad, backward"]))
@pytest.mark.parametrize("net", one_quick([WRITTEN_OUT, ""]), ids=["another structure", "one structure"])
@pytest.mark.parametrize("name", one_quick(CHANGED))
def test_another_rule_by_hand_is_told_where_it_updates(name: str, net: str, loops: str, tmp_path: Path) -> None:
    update, changed, step, source = CHANGED[name]
    one, other = (LOOPS[each] for each in loops.split(", "))
    a = recorded(tmp_path, "a", NET, one.format(update=update))
    found = diff(a, recorded(tmp_path, "b", NET, net, other.format(update=changed))).first
    assert found is not None
    assert (found.when, found.step) == ("update", step), found
    for side in (found.a, found.b):
        assert side is not None
        assert source.split("0.1")[0] in side.source, found
