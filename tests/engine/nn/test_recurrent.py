"""Recurrent layers and cells against PyTorch, of the same state dict: outputs, states, gradients, text."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.gradcheck import gradgradcheck
from graphscope.engine.ops.recurrent import lstm_layer
from tests.engine.nn.twins import both, compare

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SETTINGS = [
    {},
    {"num_layers": 2},
    {"bidirectional": True},
    {"num_layers": 2, "bidirectional": True, "batch_first": True},
    {"bias": False},
]
KINDS = [("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("LSTM", {}), ("GRU", {})]
NUMBERS = np.random.default_rng(0)
X = NUMBERS.standard_normal((5, 4, 3))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("kind", "own"), KINDS, ids=str)
def test_layers_are_those_of_torch(kind, own, settings):
    modules = both(lambda t: getattr(t.nn, kind)(3, 2, **own, **settings))
    compare(modules, lambda t, m, x: m(x), X)
    assert repr(modules[0]) == repr(modules[1])
    assert list(modules[0].state_dict()) == list(modules[1].state_dict())


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_first_state_is_taken(kind):
    modules = both(lambda t: getattr(t.nn, kind)(3, 2, num_layers=2))
    h, c = NUMBERS.standard_normal((2, 2, 4, 2))
    if kind == "LSTM":
        compare(modules, lambda t, m, x, h, c: m(x, (h, c)), X, h, c)
    else:
        compare(modules, lambda t, m, x, h: m(x, h), X, h)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_without_a_batch(kind):
    modules = both(lambda t: getattr(t.nn, kind)(3, 2))
    compare(modules, lambda t, m, x: m(x), X[:, 0])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_sequences(kind, sort, settings):
    modules = both(lambda t: getattr(t.nn, kind)(3, 2, **settings))
    lengths = [5, 3, 3, 1] if sort else [2, 5, 1, 3]
    first = settings.get("batch_first", False)

    def program(t, module, x):
        rnn = t.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, t.tensor(lengths), batch_first=first, enforce_sorted=sort)
        out, state = module(packed)
        padded, found = rnn.pad_packed_sequence(out, batch_first=first, total_length=6)
        assert found.tolist() == lengths
        return padded, state

    compare(modules, program, X.swapaxes(0, 1) if first else X)


def test_padding_and_its_way_back():
    def program(t, module, *given):
        rnn = t.nn.utils.rnn
        packed = rnn.pack_sequence(given, enforce_sorted=False)
        assert packed.batch_sizes.tolist() == [3, 2, 1]
        back = rnn.unpack_sequence(packed)
        assert [len(sequence) for sequence in back] == [1, 3, 2]
        return rnn.pad_sequence(given, padding_value=7.0), rnn.pad_sequence(given, batch_first=True), back

    compare((gs.nn.Identity(), torch.nn.Identity()), program, X[:1, 0], X[:3, 1], X[:2, 2])


@pytest.mark.parametrize(
    ("kind", "own"),
    [("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu"}), ("LSTMCell", {}), ("GRUCell", {})],
    ids=str,
)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batched", [True, False])
def test_cells(kind, own, bias, batched):
    modules = both(lambda t: getattr(t.nn, kind)(3, 2, bias=bias, **own))
    place = () if batched else (0,)
    x, h, c = X[0][place], NUMBERS.standard_normal((4, 2))[place], NUMBERS.standard_normal((4, 2))[place]
    if kind == "LSTMCell":
        compare(modules, lambda t, m, x, h, c: m(x, (h, c)), x, h, c)
    else:
        compare(modules, lambda t, m, x, h: m(x, h), x, h)
    compare(modules, lambda t, m, x: m(x), x) if bias else None
    assert repr(modules[0]) == repr(modules[1])


def test_a_layer_in_one_node_and_step_by_step_agree(tmp_path):
    mine, _ = both(lambda t: t.nn.LSTM(3, 2, num_layers=2, bidirectional=True), "float32")
    found = []
    for recorded in (False, True):
        x = gs.tensor(X, dtype=gs.float32, requires_grad=True)
        mine.zero_grad()
        if recorded:
            with gs.record(tmp_path / "run.gscope"):
                out, (h, c) = mine(x)
                ((out * out).sum() + h.sum() + c.sum()).backward()
        else:
            out, (h, c) = mine(x)
            ((out * out).sum() + h.sum() + c.sum()).backward()
        found.append([out.array, h.array, c.array, x.grad.array, *(p.grad.array for p in mine.parameters())])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
    log = gs.load(tmp_path / "run.gscope")
    names = [log.op(log.event(row).op).name for row in range(log.first, log.end) if log.event(row).kind.name == "OP"]
    assert names.count("lstm_cell") == 2 * 2 * 5
    assert "lstm_layer" not in names


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
def test_second_derivatives_of_a_whole_layer(reverse):
    shapes = [(3, 2, 2), (2, 3), (2, 3), (12, 2), (12, 3), (12,), (12,)]
    given = [gs.tensor(NUMBERS.standard_normal(shape), requires_grad=True) for shape in shapes]
    gradgradcheck(lambda *tensors: lstm_layer(*tensors, reverse=reverse)[0], given)
    gradgradcheck(lambda *tensors: lstm_layer(*tensors, reverse=reverse)[1], given)


def test_dropout_between_layers_only_while_training():
    gs.manual_seed(0)
    layer = gs.nn.LSTM(3, 50, num_layers=2, dropout=0.5)
    x = gs.tensor(X, dtype=gs.float32)
    assert not layer(x)[0].equal(layer(x)[0])
    layer.eval()
    assert layer(x)[0].equal(layer(x)[0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t: t.nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero"),
        (lambda t: t.nn.LSTM(3, 2, num_layers=0), ValueError, "num_layers must be greater than zero"),
        (lambda t: t.nn.LSTM(3, 2, 2, dropout=2), ValueError, "dropout should be a number"),
        (lambda t: t.nn.RNN(3, 2, nonlinearity="x"), ValueError, "Unknown nonlinearity 'x'"),
        (lambda t: t.nn.LSTM(3, 2)(t.ones(5)), ValueError, "2D or 3D"),
        (lambda t: t.nn.LSTM(3, 2)(t.ones(5, 1, 4)), RuntimeError, "Expected 3, got 4"),
        (lambda t: t.nn.LSTM(3, 2)(t.ones(5, 1, 3, dtype=t.float64)), ValueError, "does not match weight dtype"),
        (lambda t: t.nn.GRU(3, 2)(t.ones(5, 1, 3), t.ones(1, 2, 2)), RuntimeError, "Expected hidden size"),
        (lambda t: t.nn.GRU(3, 2)(t.ones(5, 1, 3), t.ones(1, 2)), RuntimeError, "hx should also be 3-D"),
        (lambda t: t.nn.LSTM(3, 2)(t.ones(0, 1, 3)), RuntimeError, "larger than 0"),
        (lambda t: t.nn.LSTMCell(3, 2)(t.ones(1, 1, 3)), ValueError, "1D or 2D"),
        (lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [1, 3]), RuntimeError, "decreasing order"),
        (lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [1, 0]), RuntimeError, "greater than 0"),
        (lambda t: t.nn.utils.rnn.pack_padded_sequence(t.ones(3, 2, 1), [1]), RuntimeError, "batch_size"),
    ],
)
def test_both_refuse_what_makes_no_sense(make, error, message):
    for t in (gs, torch):
        with pytest.raises(error, match=message):
            make(t)
