"""Every optimizer against PyTorch's: ten steps on the same problem with the same options, and the state between."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)
START = [NUMBERS.standard_normal((3, 4)), NUMBERS.standard_normal(3), NUMBERS.standard_normal(())]
DATA = NUMBERS.standard_normal((8, 4))

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "momentum_decay": 0.01}),
    ("RAdam", {"lr": 0.1}),
    ("RAdam", {"lr": 0.1, "betas": (0.9, 0.9), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RMSprop", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.1, "alpha": 0.8, "eps": 1e-2, "maximize": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "weight_decay": 0.1}),
    ("LBFGS", {"lr": 0.1}),
    ("LBFGS", {"history_size": 2, "lr": 0.05, "max_iter": 6}),
]


def problem(t, dtype=None):
    """Parameters, one of them without a gradient, and a loss of them."""
    parameters = [t.tensor(value, dtype=dtype, requires_grad=True) for value in START]
    data = t.tensor(DATA, dtype=dtype)

    def loss():
        w, b, c = parameters
        hidden = (data @ w.t() + b).tanh()
        return (hidden * hidden).sum() + ((c - 2) * (c - 2)) + (w * w).sum() * 0.1

    return [*parameters, t.tensor(7.0, requires_grad=True)], loss


def train(optimizer, loss, steps):
    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return [float(optimizer.step(closure).detach()) for _ in range(steps)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_ten_steps_are_those_of_torch(name, settings):
    found = []
    for t in (gs, torch):
        parameters, loss = problem(t)
        losses = train(getattr(t.optim, name)(parameters, **settings), loss, 10)
        found.append([np.array(losses), *(parameter.detach().numpy() for parameter in parameters)])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_float32_stays(name, settings):
    parameters, loss = problem(gs, gs.float32)
    optimizer = getattr(gs.optim, name)(parameters, **settings)
    train(optimizer, loss, 3)
    assert all(parameter.dtype == gs.float32 for parameter in parameters)
    for state in optimizer.state.values():
        kept = [value for value in state.values() if isinstance(value, gs.Tensor)]
        assert all(value.dtype == gs.float32 for value in kept)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_state_goes_on_where_it_was_left(name, settings):
    parameters, loss = problem(gs)
    optimizer = getattr(gs.optim, name)(parameters, **settings)
    train(optimizer, loss, 3)
    copies, other_loss = problem(gs)
    with gs.no_grad():
        for twin, parameter in zip(copies, parameters, strict=True):
            twin.copy_(parameter)
    other = getattr(gs.optim, name)(copies, lr=3.0)
    other.load_state_dict(optimizer.state_dict())
    expected = train(optimizer, loss, 3)
    np.testing.assert_allclose(train(other, other_loss, 3), expected, rtol=0)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_text_and_state_dict_are_those_of_torch(name, settings):
    texts, states = [], []
    for t in (gs, torch):
        parameters, loss = problem(t)
        optimizer = getattr(t.optim, name)(parameters, **settings)
        train(optimizer, loss, 2)
        texts.append(repr(optimizer))
        states.append(optimizer.state_dict())
    assert texts[0] == texts[1]
    mine, other = states
    assert mine["param_groups"] == other["param_groups"]
    assert mine["state"].keys() == other["state"].keys()
    for number, entries in other["state"].items():
        wanted = {key for key, value in entries.items() if value is not None and key != "al"}
        assert wanted == set(mine["state"][number])
        for key in wanted:
            if isinstance(entries[key], torch.Tensor):
                np.testing.assert_allclose(np.asarray(mine["state"][number][key]), entries[key], rtol=1e-6, atol=1e-9)


def test_a_step_of_torch_is_taken_over():
    parameters, loss = problem(torch)
    optimizer = torch.optim.Adam(parameters, lr=0.1)
    train(optimizer, loss, 3)
    state = copy.deepcopy(optimizer.state_dict())
    for entries in state["state"].values():
        entries.update({key: gs.tensor(value.numpy()) for key, value in entries.items()})
    copies, other_loss = problem(gs)
    with gs.no_grad():
        for twin, parameter in zip(copies, parameters, strict=True):
            twin.copy_(gs.tensor(parameter.detach().numpy()))
    other = gs.optim.Adam(copies)
    other.load_state_dict(state)
    np.testing.assert_allclose(train(other, other_loss, 3), train(optimizer, loss, 3), rtol=1e-7)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda o, w: o.Adam([]), ValueError, "empty parameter list"),
        (lambda o, w: o.Adam(w), TypeError, "iterable"),
        (lambda o, w: o.Adam([1.0]), TypeError, "can only optimize Tensors"),
        (lambda o, w: o.Adam([w * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda o, w: o.Adam([w], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda o, w: o.Adam([w], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda o, w: o.Adam([w], betas=(0.9, -1)), ValueError, "Invalid beta parameter at index 1: -1"),
        (lambda o, w: o.Adam([w], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda o, w: o.Adam([w], weight_decay=-1), ValueError, "Invalid weight_decay value: -1"),
        (lambda o, w: o.SGD([w], nesterov=True), ValueError, "Nesterov momentum requires a momentum"),
        (lambda o, w: o.SGD([{"params": [w]}, {"params": [w]}]), ValueError, "more than one parameter group"),
        (lambda o, w: o.SGD([w]).add_param_group([w]), TypeError, "must be a dict"),
        (lambda o, w: o.SGD([{"params": {w}}]), TypeError, "ordered collections"),
        (lambda o, w: o.Adadelta([w], rho=2), ValueError, "Invalid rho value"),
        (lambda o, w: o.LBFGS([{"params": [w]}, {"params": []}]), ValueError, "per-parameter options"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t.optim, t.ones(2, requires_grad=True))


def test_a_line_search_is_refused_with_what_to_do():
    optimizer = gs.optim.LBFGS([gs.ones(2, requires_grad=True)], line_search_fn="strong_wolfe")
    with pytest.raises(RuntimeError, match=r"line_search_fn is 'strong_wolfe': leave it out, or run .* with PyTorch"):
        optimizer.step(lambda: 0.0)


def test_state_of_other_groups_is_refused():
    for t in (gs, torch):
        one = t.optim.SGD([t.ones(2, requires_grad=True)], lr=1)
        two = t.optim.SGD([{"params": [t.ones(2, requires_grad=True)]}, {"params": [t.ones(1, requires_grad=True)]}])
        with pytest.raises(ValueError, match="different number of parameter groups"):
            one.load_state_dict(two.state_dict())
        with pytest.raises(ValueError, match="doesn't match the size"):
            one.load_state_dict(t.optim.SGD([t.ones(1, requires_grad=True) for _ in range(2)]).state_dict())


def test_an_optimizer_of_ones_own_is_counted_and_hooked(tmp_path):
    class Halving(gs.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.5})

        @gs.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.mul_(group["lr"])

    w = gs.ones(2, requires_grad=True)
    optimizer = Halving([w])
    seen = []
    handle = optimizer.register_step_post_hook(lambda *given: seen.append(given[0]))
    optimizer.register_step_pre_hook(lambda *given: seen.append("before"))
    with gs.record(tmp_path / "run.gscope"):
        optimizer.step()
        handle.remove()
        optimizer.step()
    assert w.tolist() == [0.25, 0.25]
    assert seen == ["before", optimizer, "before"]
    log = gs.load(tmp_path / "run.gscope")
    assert [log.event(row).kind.name for row in range(log.first, log.end)].count("STEP") == 2


def test_names_go_with_the_parameters():
    layer = gs.nn.Linear(2, 3)
    optimizer = gs.optim.SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.state_dict()["param_groups"][0]["params"] == [0, 1]


@pytest.mark.parametrize(("name", "settings"), [case for case in CASES if case[0] != "LBFGS"], ids=str)
def test_complex_parameters_are_pairs_of_real_ones(name, settings):
    found = []
    for t in (gs, torch):
        start = (START[0] + 1j * START[0][::-1], START[2] - 0.5j)
        parameters = [t.tensor(value, requires_grad=True) for value in start]
        optimizer = getattr(t.optim, name)(parameters, **settings)
        for _ in range(5):
            optimizer.zero_grad()
            w, c = parameters
            ((w @ t.tensor(DATA.T + 0j) - c).abs() ** 2).sum().backward()
            optimizer.step()
        state = [value for kept in optimizer.state_dict()["state"].values() for value in kept.values()]
        arrays = [value.detach().numpy() for value in (*parameters, *state) if isinstance(value, t.Tensor)]
        found.append([value for value in arrays if value.ndim])
    for mine, theirs in zip(*found, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11)
