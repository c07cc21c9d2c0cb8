"""How parameters begin: values where they are certain, distributions against PyTorch's where they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CERTAIN = {
    "constant_": lambda t: t.nn.init.constant_(t.empty(2, 3), 4.5),
    "ones_": lambda t: t.nn.init.ones_(t.empty(2)),
    "zeros_": lambda t: t.nn.init.zeros_(t.ones(2)),
    "eye_": lambda t: t.nn.init.eye_(t.empty(2, 3)),
    "0-d": lambda t: t.nn.init.constant_(t.empty(()), 2.0),
}
DRAWN = {
    "uniform_": lambda t, x: t.nn.init.uniform_(x, -0.5, 2.0),
    "normal_": lambda t, x: t.nn.init.normal_(x, 0.3, 0.7),
    "trunc_normal_": lambda t, x: t.nn.init.trunc_normal_(x, 0.1, 0.5, -0.4, 0.8),
    "xavier_uniform_": lambda t, x: t.nn.init.xavier_uniform_(x, gain=2.0),
    "xavier_normal_": lambda t, x: t.nn.init.xavier_normal_(x),
    "kaiming_uniform_": lambda t, x: t.nn.init.kaiming_uniform_(x, a=0.3),
    "kaiming_uniform_ out": lambda t, x: t.nn.init.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda t, x: t.nn.init.kaiming_normal_(x, nonlinearity="tanh"),
    "orthogonal_": lambda t, x: t.nn.init.orthogonal_(x, gain=3.0),
}
SHARES = np.linspace(0.02, 0.98, 21)


@pytest.mark.parametrize("fill", CERTAIN.values(), ids=CERTAIN.keys())
def test_values(fill):
    assert fill(gs).tolist() == fill(torch).tolist()


def close(mine, other):
    """Whether two samples are of one distribution, by their quantiles."""
    np.testing.assert_allclose(
        np.quantile(mine, SHARES), np.quantile(other, SHARES), atol=max(0.06, 8 / other.size**0.5) * other.std()
    )


@pytest.mark.parametrize("shape", [(120, 200), (40, 20, 5, 7)])
@pytest.mark.parametrize("fill", DRAWN.values(), ids=DRAWN.keys())
def test_distributions(fill, shape):
    gs.manual_seed(0)
    torch.manual_seed(0)
    x = gs.zeros(*shape, requires_grad=True)
    assert fill(gs, x) is x
    assert (x.dtype, x.requires_grad, x.is_leaf) == (gs.float32, True, True)
    close(x.detach().numpy(), fill(torch, torch.zeros(*shape)).numpy())


LAYERS = [
    "Linear(200, 100)", "Bilinear(20, 30, 40)", "Conv1d(30, 40, 7)", "Conv2d(20, 30, 5, groups=2)", "Conv3d(8, 9, 5)",
    "ConvTranspose2d(20, 30, 5)", "Embedding(100, 100)", "LSTM(60, 50)", "GRU(60, 50)", "RNN(100, 100)",
    "LSTMCell(60, 50)", "MultiheadAttention(64, 4)", "TransformerEncoderLayer(32, 4, 400)", "PReLU(3)",
    "BatchNorm2d(5)", "LayerNorm(7)", "GroupNorm(2, 4)", "RMSNorm(4)",
]  # fmt: skip


@pytest.mark.parametrize("code", LAYERS)
def test_layers_begin_as_in_torch(code):
    gs.manual_seed(0)
    torch.manual_seed(0)
    mine, theirs = (eval("n." + code, {"n": t.nn}).state_dict() for t in (gs, torch))
    for name, other in theirs.items():
        value, other = np.asarray(mine[name].array, float), other.numpy().astype(float)
        if other.size > 1000:
            close(value, other)
        else:
            assert np.abs(value).max() <= max(1.3 * np.abs(other).max(), 1e-12)
            assert (np.ptp(value) == 0) == (np.ptp(other) == 0)


def test_rows_are_orthogonal():
    q = gs.nn.init.orthogonal_(gs.empty(3, 2, 4))
    np.testing.assert_allclose(q.reshape(3, 8).numpy() @ q.reshape(3, 8).numpy().T, np.eye(3), atol=1e-6)


def test_gains():
    names = ["linear", "conv2d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]
    for name in names:
        assert gs.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    assert gs.nn.init.calculate_gain("leaky_relu", 0.3) == torch.nn.init.calculate_gain("leaky_relu", 0.3)


def test_a_seed_and_a_generator_repeat():
    def drawn():
        return gs.nn.init.normal_(gs.empty(4), generator=gs.Generator().manual_seed(3)).tolist()

    assert drawn() == drawn()
    gs.manual_seed(1)
    first = gs.nn.Linear(2, 2).weight.tolist()
    gs.manual_seed(1)
    assert gs.nn.Linear(2, 2).weight.tolist() == first


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t: t.nn.init.calculate_gain("x"), ValueError, "Unsupported nonlinearity x"),
        (lambda t: t.nn.init.calculate_gain("leaky_relu", True), ValueError, "not a valid number"),
        (lambda t: t.nn.init.eye_(t.empty(2)), ValueError, "2 dimensions"),
        (lambda t: t.nn.init.xavier_uniform_(t.empty(2)), ValueError, "fewer than 2 dimensions"),
        (lambda t: t.nn.init.kaiming_normal_(t.empty(2, 2), mode="x"), ValueError, "Mode x not supported"),
        (lambda t: t.nn.init.orthogonal_(t.empty(2)), ValueError, "2 or more dimensions"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t)


def test_a_log_sees_a_tensor_that_is_filled_again(tmp_path):
    x = gs.ones(2)
    with gs.record(tmp_path / "run.gscope"):
        x + 1
        gs.nn.init.constant_(x, 5.0)
        y = x + 1
    log = gs.load(tmp_path / "run.gscope")
    names = [log.op(log.event(row).op).name for row in range(log.first, log.end) if log.event(row).kind.name == "OP"]
    assert names == ["add", "copy_", "add"]
    assert y.tolist() == [6.0, 6.0]


OLDER = ("constant", "eye", "normal", "orthogonal", "uniform", "kaiming_normal", "xavier_uniform")


@pytest.mark.parametrize("name", OLDER)
def test_older_names_say_so(name):
    weight = gs.zeros(3, 3)
    given = (2.0,) if name == "constant" else ()
    with pytest.warns(FutureWarning, match=f"in favor of `nn.init.{name}_`"):
        assert getattr(gs.nn.init, name)(weight, *given) is weight
    assert weight.abs().sum() > 0
