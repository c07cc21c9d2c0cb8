"""Updates that part two trainings whose passes agree: the cause, and its line in both."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphscope as gs
from graphscope.compare.difference import Parting
from graphscope.compare.parameters import parameters
from graphscope.compare.steps import steps
from graphscope.compare.updates import update_parting
from graphscope.eventlog.reader import Log
from tests.quick import one_quick

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
x = torch.randn(32, 3)
y = torch.stack([x.sum(1), x.prod(1)], 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
for step in range(4):
    optimizer.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
"""
SGD = TRAINING.replace("torch.optim.Adam(net.parameters(), lr=1e-2)", "torch.optim.SGD(net.parameters(), lr=1e-2)")
MADE = "optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)"
CLIP = "nn.utils.clip_grad_norm_(net.parameters(), 0.5)"
GROUPS = """[
    {"params": [each for each in net.parameters() if each.ndim < 2], "weight_decay": 0},
    {"params": [each for each in net.parameters() if each.ndim > 1]},
]"""


def optimizer(made: str) -> str:
    return f"optimizer = torch.optim.{made}"


CASES = {
    "type": (MADE, optimizer("AdamW(net.parameters(), lr=1e-2)"), 1, "optimizer", "torch.optim.Adam"),
    "rate": (MADE, optimizer("Adam(net.parameters(), lr=1.1e-2)"), 1, "learning rate", "torch.optim.Adam"),
    "betas": (MADE, optimizer("Adam(net.parameters(), lr=1e-2, betas=(0.9, 0.99))"), 2, "optimizer settings", "Adam("),
    "eps": (MADE, optimizer("Adam(net.parameters(), lr=1e-2, eps=1e-5)"), 1, "optimizer settings", "torch.optim.Adam"),
    "decay": (MADE, optimizer("Adam(net.parameters(), lr=1e-2, weight_decay=0.1)"), 1, "weight decay", "Adam("),
    "schedule": ("    scheduler.step()\n", "    if step: scheduler.step()\n", 2, "schedule", "scheduler.step()"),
    "limit": (CLIP, CLIP.replace("0.5", "0.25"), 1, "clipping", "clip_grad_norm_"),
    "by value": (CLIP, "nn.utils.clip_grad_value_(net.parameters(), 0.05)", 1, "clipping", "clip_grad"),
    "not clipped": (CLIP, "pass", 1, "clipping", None),
    "not cleared": ("    optimizer.zero_grad()\n", "", 2, "zero_grad", None),
    "left out": (MADE, optimizer("Adam(net[2].parameters(), lr=1e-2)"), 1, "parameters left out", None),
}


def recorded(folder: Path, text: str, name: str) -> Log:
    script = folder / f"{name}.py"
    script.write_text(text)
    with gs.record(folder / f"{name}.gscope"):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


def first(a: Log, b: Log) -> Parting | None:
    """The first step whose update parts; parameters that begin with the same numbers belong together."""
    mine, theirs = ({log.value(row).tobytes(): tensor for tensor, row in parameters(log, 0).items()} for log in (a, b))
    assert len(mine) == len(theirs) == 4
    pairs = {tensor: theirs[value] for value, tensor in mine.items()}
    found = (update_parting(a, b, both, pairs) for both in zip(steps(a), steps(b), strict=False))
    return next((each for each in found if each is not None), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", one_quick(CASES))
@pytest.mark.parametrize("turned", one_quick([False, True]))
def test_what_parts_updates(name: str, turned: bool, tmp_path: Path) -> None:
    line, changed, step, cause, source = CASES[name]
    assert line in TRAINING
    other = TRAINING.replace(line, changed)
    logs = [recorded(tmp_path, text, which) for text, which in ((TRAINING, "a"), (other, "b"))]
    found = first(*(logs[::-1] if turned else logs))
    assert found is not None
    assert (found.step, found.cause, found.when) == (step, cause, "update")
    assert found.inputs_agree
    for side in (found.a, found.b):
        assert side is not None
        assert side.line
        assert source is None or source in side.source


BY_HAND = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
x = torch.randn(32, 3)
y = torch.stack([x.sum(1), x.prod(1)], 1)
velocity = [torch.zeros_like(each) for each in net.parameters()]
for step in range(4):
    loss = (net(x) - y).square().mean()
    loss.backward()
    with torch.no_grad():
        for each, v in zip(net.parameters(), velocity):
            v.mul_(0.9).add_(each.grad)
            each.sub_(0.01 * v)
            each.grad = None
"""
DECAY = "learning rate times weight decay"
UNMET = "    nn.utils.clip_grad_norm_(net.parameters(), 100)"
MOMENTUM = (
    TRAINING.replace(MADE, optimizer("SGD(net.parameters(), lr=1e-2, momentum=0.9)"))
    .replace("    scheduler.step()\n", "").replace(f"    {CLIP}\n", "")
)  # fmt: skip

TWO = """
first, second = (torch.optim.SGD(each.parameters(), lr=1e-2, momentum=0.9) for each in (net[0], net[2]))
for step in range(4):
    first.zero_grad(), second.zero_grad()
    (net(x) - y).square().mean().backward()
    second.step(), first.step()
"""

HEALTHY = {
    "the same": (TRAINING, TRAINING),
    "gradients zeroed": (TRAINING, TRAINING.replace("zero_grad()", "zero_grad(set_to_none=False)")),
    "one by one": (TRAINING, TRAINING.replace("lr=1e-2)", "lr=1e-2, foreach=False)", 1)),
    "by hand": (MOMENTUM, BY_HAND),
    "a limit that is never met": (MOMENTUM, MOMENTUM.replace("    optimizer.step()", f"{UNMET}\n    optimizer.step()")),
    "two optimizers": (MOMENTUM, MOMENTUM[: MOMENTUM.index("optimizer =")] + TWO),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", one_quick(HEALTHY))
def test_trainings_that_do_the_same_do_not_part(name: str, tmp_path: Path) -> None:
    found = first(*(recorded(tmp_path, text, which) for text, which in zip(HEALTHY[name], "ab", strict=True)))
    assert found is None, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "changed", "step", "cause", "facts"),
    one_quick([
        ("0.01 * v", "0.02 * v", 1, "learning rate", [("learning rate", "0.01", "0.02")]),
        ("v.mul_(0.9)", "v.mul_(0.8)", 2, "momentum", [("momentum", "0.9", "0.8")]),
        ("add_(each.grad)", "add_(each.grad, alpha=0.1)", 1, "learning rate", [("learning rate", "0.01", "0.001")]),
        ("0.01 * v", "0.01 * v + 1e-4 * each", 1, "weight decay", [(DECAY, None, "0.0001")]),
    ]),
)  # fmt: skip
def test_what_the_numbers_tell_of_updates_by_hand(
    line: str, changed: str, step: int, cause: str, facts: list[tuple[str, str | None, str]], tmp_path: Path
) -> None:
    assert line in BY_HAND
    found = first(recorded(tmp_path, MOMENTUM, "a"), recorded(tmp_path, BY_HAND.replace(line, changed), "b"))
    assert found is not None
    assert (found.step, found.cause) == (step, cause)
    assert [(each.name, each.b) for each in found.facts] == [(name, b) for name, _, b in facts]
    assert all(a is None or each.a == a for each, (_, a, _) in zip(found.facts, facts, strict=True))
    assert found.a is not None
    assert found.b is not None
    assert "torch.optim.SGD" in found.a.source
    assert "each.sub_" in found.b.source


@pytest.mark.slow
@pytest.mark.parametrize(
    ("told", "step"),
    one_quick([("nesterov=True", 1), ("dampening=0.1", 2), ("maximize=True", 1), ("weight_decay=0.01", 1)]),
)
def test_settings_of_momentum_are_named(told: str, step: int, tmp_path: Path) -> None:
    text = MOMENTUM.replace("scheduler = ", "# ")
    other = text.replace("momentum=0.9)", f"momentum=0.9, {told})")
    found = first(recorded(tmp_path, text, "a"), recorded(tmp_path, other, "b"))
    assert found is not None
    assert (found.step, [each.name for each in found.facts]) == (step, [told.partition("=")[0]])
    assert found.b is not None
    assert told in found.b.source


@pytest.mark.slow
def test_decay_of_biases_is_named(tmp_path: Path) -> None:
    made = optimizer("AdamW(net.parameters(), lr=1e-2)")
    apart = TRAINING.replace(MADE, made.replace("net.parameters()", GROUPS, 1))
    found = first(recorded(tmp_path, TRAINING.replace(MADE, made), "a"), recorded(tmp_path, apart, "b"))
    assert found is not None
    assert found.cause == "weight decay"
    assert "0.bias" in found.verdict
    assert "weight" not in found.verdict.partition(" for ")[2]


@pytest.mark.slow
def test_a_scaler_that_leaves_a_step_out(tmp_path: Path) -> None:
    scaled = TRAINING.replace("loss.backward()", "scaler.scale(1000 * loss).backward()").replace(
        "optimizer.step()", "scaler.step(optimizer); scaler.update()"
    ).replace(CLIP, "scaler.unscale_(optimizer)").replace("    scheduler.step()\n", "")  # fmt: skip
    texts = [
        scaled.replace("for step", f"scaler = torch.amp.GradScaler('cpu', init_scale=2.0**{size})\nfor step")
        for size in (10, 127)
    ]
    found = first(*(recorded(tmp_path, text, which) for text, which in zip(texts, "ab", strict=True)))
    assert found is not None
    assert (found.step, found.cause) == (1, "scaler")
    assert found.b is not None
    assert "scaler.step" in found.b.source
