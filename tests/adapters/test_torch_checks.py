"""The checks on training programs as people write them: what is wrong is found once, what is meant is no finding."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.cli.overview import overview
from graphscope.diagnose import Finding, every
from graphscope.eventlog.reader import Log
from graphscope.graph.faults import fault_rows
from graphscope.graph.passes.whole import whole
from graphscope.tui.log_index import LogIndex

pytestmark = pytest.mark.torch

LEVELS = ["calls", "calls+backward", "ops"]

HEADER = """
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)
"""

HEALTHY = {
    "frozen later": """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        x, y = torch.randn(16, 4), torch.randn(16, 1)
        for step in range(4):
            if step == 2:
                net[2].requires_grad_(False)
                net[0].weight.requires_grad = False
            optimizer.zero_grad()
            loss = F.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
        """,
    "two players": """
        maker, judge = nn.Linear(3, 4), nn.Linear(4, 1)
        for step in range(2):
            judge.requires_grad_(False)
            judge(maker(torch.randn(5, 3))).mean().backward()
            judge.requires_grad_(True)
            judge(maker(torch.randn(5, 3)).detach()).mean().backward(inputs=list(judge.parameters()))
        """,
    "a scaler that begins too high": """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)
        x, y = torch.randn(16, 4) * 1e5, torch.randn(16, 1)
        for step in range(4):
            optimizer.zero_grad()
            loss = F.mse_loss(net(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        """,
    "masks of attention": """
        q = torch.randn(1, 2, 6, 8, requires_grad=True)
        keep = torch.ones(6, 6, dtype=torch.bool).tril()
        scores = q @ q.transpose(-1, -2)
        added = torch.zeros(6, 6)
        added[~keep] = float("-inf")
        lowest = (1.0 - keep.float()) * torch.finfo(torch.float32).min
        start = torch.tensor([float("-inf"), 1.0])
        masked = [
            scores + added,
            scores.masked_fill(~keep, -torch.inf),
            torch.where(keep, scores, torch.tensor(float("-inf"))),
            scores + lowest + lowest,
            (scores + torch.full((6, 6), float("-inf")).triu(1)) / 2,
        ]
        loss = sum(each.softmax(-1).square().sum() for each in masked) + start.amax()
        loss = loss + F.scaled_dot_product_attention(q, q, q, attn_mask=added).sum()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
        mask = nn.Transformer.generate_square_subsequent_mask(6)
        (loss + layer(torch.randn(2, 6, 16), src_mask=mask).square().sum()).backward()
        """,
    "memory that is written later": """
        layer = nn.GRU(8, 16)
        for weight in layer.parameters():
            if weight.dim() > 1:
                nn.init.orthogonal_(weight)
        buffer = torch.empty(64, 64)
        rows = buffer[:2]
        rows.copy_(torch.ones(2, 64))
        layer(rows[:, :8])[0].square().sum().backward()
        """,
    "targets, penalties and checkpoints": """
        from torch.utils.checkpoint import checkpoint

        value, target = nn.Linear(3, 2), nn.Linear(3, 2)
        deep = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = torch.optim.Adam([*value.parameters(), *deep.parameters()])
        for _ in range(3):
            x = torch.randn(5, 3, requires_grad=True)
            with torch.no_grad():
                wanted = target(x).amax(1)
            out = value(x)
            (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
            loss = F.mse_loss(out.amax(1), wanted) + slope.square().mean()
            loss = loss + checkpoint(deep, out, use_reentrant=False).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for mean, weight in zip(target.parameters(), value.parameters(), strict=True):
                mean.data.mul_(0.9).add_(weight.data, alpha=0.1)
        """,
    "padded sequences": """
        lstm = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
        optimizer = torch.optim.RMSprop(lstm.parameters(), momentum=0.9)
        for _ in range(2):
            packed = nn.utils.rnn.pack_padded_sequence(torch.randn(2, 3, 4), torch.tensor([3, 2]), batch_first=True)
            out, _ = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True, padding_value=float("-inf"))
            optimizer.zero_grad()
            out.amax(1).square().sum().backward()
            optimizer.step()
        best = torch.minimum(torch.tensor(float("inf")), out.amax())
        """,
}


def run(program: str, folder: Path, capture: str = "calls+backward") -> Log:
    script = folder / "train.py"
    script.write_text(HEADER + textwrap.dedent(program))
    for size in (16, 48, 64):
        [torch.full((size, 64), float("nan")) for _ in range(8)]  # what `empty` gives, once this is free
    with gs.record(folder / "run.gscope", capture=capture):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / "run.gscope")


def findings(log: Log) -> list[Finding]:
    return [found for check in every().values() for found in check.findings(log.graph)]


@pytest.mark.slow
@pytest.mark.parametrize("capture", LEVELS)
@pytest.mark.parametrize("name", HEALTHY)
def test_what_a_program_means_is_no_finding(name: str, capture: str, tmp_path: Path) -> None:
    log = run(HEALTHY[name], tmp_path, capture)
    assert findings(log) == []
    assert overview(log).nonfinite is None
    assert list(fault_rows(log.graph)) == []
    assert not any(box.nonfinite for box in whole(log.graph).nodes)
    assert list(LogIndex(log).flagged) == []


@pytest.mark.slow
def test_a_pass_that_is_scaled_up_is_forgiven_for_overflow_alone(tmp_path: Path) -> None:
    program = HEALTHY["a scaler that begins too high"].replace(
        "F.mse_loss(net(x), y)", "F.mse_loss(net(x), y).log() / 0"
    )
    found = findings(run(program, tmp_path))
    assert {(each.kind, each.cause, each.names) for each in found} == {("nan", "division by zero", ("loss",))}


POISONED = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(20, 8)
                self.rnn = nn.GRU(8, 16, batch_first=True)
                for weight in self.rnn.parameters():
                    if weight.dim() > 1:
                        nn.init.orthogonal_(weight)
                self.out = nn.Linear(16, 20)

            def forward(self, x):
                return self.out(self.rnn(self.embedding(x))[0])


        def criterion(out, wanted, step):
            spread = out.std(-1) if step != 3 else (out - out.detach()).abs()
            return F.cross_entropy(out.reshape(-1, 20), wanted.reshape(-1)) + spread.sqrt().mean()  # here


        net = Net()
        optimizer = torch.optim.{optimizer}(net.parameters(), lr=0.01)
        data = torch.randint(0, 20, (2, 7))
        for step in range({steps}):
            optimizer.zero_grad()
            loss = criterion(net(data[:, :-1]), data[:, 1:], step)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
"""
SQRT = next(n for n, line in enumerate((HEADER + textwrap.dedent(POISONED)).splitlines(), 1) if "# here" in line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capture", "optimizer", "steps"),
    [("calls+backward", "Adam", 6), ("ops", "SGD", 5), pytest.param("ops", "AdamW", 15, marks=pytest.mark.slow)],
)
def test_why_leads_back_to_the_birth_of_a_nan_that_persists(
    capture: str, optimizer: str, steps: int, tmp_path: Path
) -> None:
    log = run(POISONED.format(optimizer=optimizer, steps=steps), tmp_path, capture)
    graph = log.graph
    born = [each for each in findings(log) if each.kind == "nan"]
    assert {(each.line, each.cause) for each in born} == {(SQRT, "root at zero")}
    leaves = {node.name: node for node in graph.nodes if node.kind == "leaf" and node.name.startswith(("rnn.", "out."))}
    assert {"rnn.weight_ih_l0", "rnn.weight_hh_l0", "out.weight"} <= leaves.keys()
    for node in (*leaves.values(), graph.select("name:loss forward")[-1]):
        found = gs.explain(node)
        assert (found.symptom, found.step and found.step.line) == ("nonfinite", SQRT), str(found)
    for node in list(graph.nodes)[::37]:
        gs.explain(node)  # whatever is asked is answered
        assert node.grad is None or node.kind != "op" or not node.dtype or node.grad.shape == node.shape


FROZEN = """
        net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 1))
        net(torch.randn(2, 4))
        net[1].requires_grad_(False)
        net(torch.randn(2, 4)).mean().backward()
"""


def test_a_parameter_that_was_frozen_after_its_first_use_is_said_to_be(tmp_path: Path) -> None:
    log = run(FROZEN, tmp_path)
    assert gs.explain(log, "1.weight").cause == "frozen"
    assert gs.explain(log, "0.weight").symptom == "fine"
    assert findings(log) == []


ATTENTION = """
        from torch.nn.attention import SDPBackend, sdpa_kernel

        q, k, v = (torch.randn(1, 2, 4, 8, requires_grad=True) for _ in range(3))
        with sdpa_kernel(SDPBackend.MATH):
            out = F.scaled_dot_product_attention(q, k, v)
        out.square().sum().backward()
"""


def test_the_ops_inside_of_a_call_have_the_gradients_that_pass_them(tmp_path: Path) -> None:
    graph = run(ATTENTION, tmp_path, "ops").graph
    (softmax,) = graph.select("op:_safe_softmax forward")
    weights = torch.from_numpy(softmax.value.copy()).requires_grad_()
    v, out = (graph.select(f"op:{op} forward")[-1] for op in ("expand", "scaled_dot_product_attention"))
    (weights @ torch.from_numpy(v.value.copy())).square().sum().backward()
    assert torch.allclose(torch.from_numpy(softmax.grad.copy()), weights.grad, atol=1e-5)
    assert gs.explain(softmax).symptom == gs.explain(out).symptom == "fine"


NAMED = """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)
                nn.init.xavier_uniform_(self.fc.weight)
                nn.init.zeros_(self.fc.bias)

            def forward(self, x):
                return torch.tanh(self.fc(x))


        def criterion(out, y):
            error = out - y
            return (error**2).mean()


        first, second = Block().to(torch.float64), Block().double()
        more = [nn.Linear(4, 4).double() for _ in range(3)]
        x = torch.randn(3, 4, dtype=torch.float64)
        for step in range(2):
            out = second(first(x))
            for layer in more:
                out = layer(out)
            loss = criterion(out, x)
            loss.backward()
"""


def test_each_parameter_and_the_loss_has_a_name_of_its_own(tmp_path: Path) -> None:
    graph = run(NAMED, tmp_path).graph
    trained = {node.tensor: node.name for node in graph.nodes if node.kind == "leaf" and node.name != "x"}
    assert len(set(trained.values())) == len(trained) == 10
    assert {"fc.weight", "second.fc.weight", "second.fc.bias", "more.1.weight", "more.2.bias"} <= set(trained.values())
    for name in trained.values():
        assert {node.name for node in graph.select(f"name:{name}")} == {name}
    losses = graph.select("name:loss forward")
    assert [node.op for node in losses] == ["mean", "mean"]
    assert gs.explain(losses[0]).verdict.startswith("loss.grad is neither")
