"""Pruning, against PyTorch's: masks, what modules hold, training on with it, and taking it back."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
pytest.importorskip("torch.nn.utils.prune")


def network(library):
    """A small network with the same numbers in both."""
    nn = library.nn
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 5)).double()
    numbers = np.random.default_rng(3)
    for parameter in net.parameters():
        parameter.data.copy_(library.tensor(numbers.standard_normal(tuple(parameter.shape))))
    return net


def state_after(library, text):
    """What a network holds after a program, and what a step of training makes of it."""
    net = network(library)
    names = {"prune": library.nn.utils.prune, "net": net, "conv": net[0], "linear": net[3], "torch": library}
    exec(text, names)
    x = library.tensor(np.random.default_rng(4).standard_normal((3, 2, 4, 4)))
    optimizer = library.optim.SGD(net.parameters(), lr=0.1)
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    found = {name: value.numpy() for name, value in net.state_dict().items()}
    found |= {f"{name}.grad": value.grad.numpy() for name, value in net.named_parameters() if value.grad is not None}
    found |= {"output": net(x).detach().numpy(), "weight": net[3].weight.detach().numpy()}
    return found, [names["prune"].is_pruned(part) for part in (net, net[0], net[3])]


PROGRAMS = [
    "prune.l1_unstructured(linear, 'weight', 0.3)",
    "prune.l1_unstructured(linear, 'weight', amount=7); prune.l1_unstructured(linear, 'bias', amount=1)",
    "prune.ln_structured(conv, 'weight', amount=0.5, n=2, dim=0)",
    "prune.ln_structured(linear, 'weight', amount=2, n=float('inf'), dim=1)",
    "prune.l1_unstructured(linear, 'weight', 0.3); prune.l1_unstructured(linear, 'weight', 0.5)",
    "prune.ln_structured(conv, 'weight', 1, n=1, dim=1); prune.l1_unstructured(conv, 'weight', 9)",
    "prune.l1_unstructured(conv, 'weight', 0.6); prune.ln_structured(conv, 'weight', 2, n=2, dim=0)",
    "prune.identity(linear, 'bias'); prune.custom_from_mask(linear, 'bias', torch.tensor([1, 0, 1, 0, 0]))",
    "prune.global_unstructured([(conv, 'weight'), (linear, 'weight')], prune.L1Unstructured, amount=0.4)",
    """prune.l1_unstructured(conv, 'weight', 5)
prune.global_unstructured([(conv, 'weight'), (linear, 'weight')], prune.L1Unstructured, amount=20)""",
    "prune.l1_unstructured(linear, 'weight', 3, importance_scores=torch.arange(80.0).reshape(5, 16))",
    "prune.l1_unstructured(linear, 'weight', 0.3); prune.remove(linear, 'weight')",
    "prune.random_unstructured(linear, 'weight', 1.0); prune.random_structured(conv, 'weight', 4, dim=0)",
    "prune.random_unstructured(linear, 'weight', 0)",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_what_is_pruned_is_what_torch_prunes(text):
    (found, ours), (expected, theirs) = state_after(gs, text), state_after(torch, text)
    assert ours == theirs
    assert list(found) == list(expected)
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("amount", "count"), [(0.25, 20), (7, 7)])
def test_random_pruning_takes_as_many(amount, count):
    linear = gs.nn.Linear(16, 5)
    gs.nn.utils.prune.random_unstructured(linear, "weight", amount)
    assert int((linear.weight == 0).sum()) == count
    channels = gs.nn.Linear(16, 8)
    gs.nn.utils.prune.random_structured(channels, "weight", 3, dim=0)
    gs.nn.utils.prune.random_structured(channels, "weight", 2, dim=0)
    assert int((channels.weight == 0).all(1).sum()) == 5


REFUSED = [
    "prune.l1_unstructured(linear, 'weight', 1.5)",
    "prune.l1_unstructured(linear, 'weight', -1)",
    "prune.l1_unstructured(linear, 'weight', 81)",
    "prune.remove(linear, 'weight')",
    "prune.global_unstructured([(linear, 'weight')], prune.LnStructured, amount=1, n=2)",
    "prune.PruningContainer(3)",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_torch_refuses_is_refused_and_changes_nothing(text):
    for library in (torch, gs):
        net = network(library)
        with pytest.raises((ValueError, TypeError, AttributeError)):
            exec(text, {"prune": library.nn.utils.prune, "linear": net[3]})
        assert {name for name, _ in net[3].named_parameters()} == {"weight", "bias"}
        assert not list(net.buffers())


def test_a_pruned_network_is_saved_and_loaded(tmp_path):
    x = gs.ones(1, 2, 4, 4, dtype=gs.float64)
    outputs = []
    for loaded in (False, True):
        net = network(gs)
        gs.nn.utils.prune.identity(net[3], "weight")
        if loaded:
            net.load_state_dict(gs.load(tmp_path / "it"))
        else:
            gs.nn.utils.prune.l1_unstructured(net[3], "weight", 0.5)
            gs.save(net.state_dict(), tmp_path / "it")
        outputs.append(net(x).detach().numpy())
    np.testing.assert_array_equal(*outputs)
