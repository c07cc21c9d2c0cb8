"""Modules: names, parameters, printing, state, and the scopes that the log sees."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope import nn
from graphscope.eventlog.schema import Flag, Kind


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return self.linear(x).relu()


class Encoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([Block(size), Block(size)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(4)
        self.head = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2, bias=False))
        self.scale = nn.Parameter(gs.ones(2))

    def forward(self, x):
        return self.head(self.encoder(x)) * self.scale


NAMES = [
    "scale",
    "encoder.layers.0.linear.weight",
    "encoder.layers.0.linear.bias",
    "encoder.layers.1.linear.weight",
    "encoder.layers.1.linear.bias",
    "head.0.weight",
    "head.0.bias",
    "head.2.weight",
]


def test_parameters_bear_the_paths_of_their_modules():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [parameter.name for parameter in net.parameters()] == NAMES
    assert all(
        parameter.is_leaf and parameter.requires_grad and parameter.is_parameter for parameter in net.parameters()
    )
    assert all(isinstance(parameter, nn.Parameter) for parameter in net.parameters())
    assert not isinstance(gs.ones(2), nn.Parameter)


def test_the_log_knows_scopes_and_parameters(tmp_path):
    net = Net()
    x = gs.ones(5, 4)
    with gs.record(tmp_path / "run.gscope"):
        net(x).sum().backward()
    log = gs.load(tmp_path / "run.gscope")
    events = [log.event(row) for row in range(log.first, log.end)]
    paths = [(log.op(e.op).name, log.scope_path(e.scope)) for e in events if e.kind == Kind.OP]
    assert paths == [
        ("linear", "encoder.layers.0.linear"),
        ("relu", "encoder.layers.0"),
        ("linear", "encoder.layers.1.linear"),
        ("relu", "encoder.layers.1"),
        ("linear", "head.0"),
        ("tanh", "head.1"),
        ("linear", "head.2"),
        ("mul", ""),
        ("sum", ""),
    ]
    leaves = {log.attrs(e.attrs).get("name"): e for e in events if e.kind == Kind.LEAF}
    assert set(NAMES) <= leaves.keys()
    assert all(leaves[name].flags & Flag.PARAMETER for name in NAMES)
    assert {log.scope(e.scope).type for e in events if e.kind == Kind.OP and e.scope} == {"Linear", "Block", "Tanh"}


def test_a_shared_parameter_counts_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = self.first

    assert len(list(Tied().parameters())) == 2


def test_an_attribute_that_is_replaced():
    net = Block(2)
    net.linear = nn.ReLU()
    assert list(net.parameters()) == []
    net.linear = None
    assert list(net.children()) == []


def test_forgetting_the_base_class():
    class Hasty(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Hasty()
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


def test_training_and_gradients():
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net.train()
    net(gs.ones(1, 4)).sum().backward()
    assert net.scale.grad is not None
    net.zero_grad(set_to_none=False)
    assert net.scale.grad.tolist() == [0.0, 0.0]
    net.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())


def test_state_travels_between_networks():
    one, two = Net(), Net()
    two.load_state_dict(one.state_dict())
    x = gs.ones(3, 4)
    assert two(x).tolist() == one(x).tolist()
    with pytest.raises(
        RuntimeError,
        match=r'Missing key\(s\) in state_dict: "head\.2\.weight"\. \n.*Unexpected key\(s\) in state_dict: "other"\.',
    ):
        two.load_state_dict({**{k: v for k, v in one.state_dict().items() if k != NAMES[-1]}, "other": gs.ones(1)})
    with pytest.raises(
        RuntimeError,
        match=r"size mismatch for scale: .* torch.Size\(\[3\]\) from checkpoint, .* is torch.Size\(\[2\]\)",
    ):
        two.load_state_dict({**one.state_dict(), "scale": np.ones(3)})


@pytest.mark.torch
def test_text_and_results_are_those_of_torch():
    torch = pytest.importorskip("torch")
    texts, outputs = [], []
    numbers = np.random.default_rng(0)
    weights = [numbers.standard_normal(s).astype(np.float32) for s in ((3, 4), (3,), (2, 3), (2,))]
    for t in (gs, torch):
        net = t.nn.Sequential(t.nn.Linear(4, 3), t.nn.ReLU(), t.nn.Linear(3, 2), t.nn.LogSoftmax(dim=1))
        with t.no_grad():
            for parameter, value in zip(net.parameters(), weights, strict=True):
                parameter.copy_(t.tensor(value))
        texts.append(repr(net) + repr(t.nn.Sequential(t.nn.Sequential(t.nn.Tanh()))) + repr(t.nn.Sequential()))
        loss = t.nn.NLLLoss()(net(t.ones(5, 4)), t.tensor([0, 1, 1, 0, 1]))
        loss.backward()
        outputs.append([loss.item(), *(parameter.grad.numpy() for parameter in net.parameters())])
    assert texts[0] == texts[1]
    for mine, other in zip(*outputs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


def test_linear_begins_within_its_bound():
    gs.manual_seed(0)
    layer = nn.Linear(100, 50)
    assert layer.weight.shape == (50, 100)
    assert 0.09 < layer.weight.abs().max().item() <= 0.1
    assert layer.weight.dtype == np.float32
