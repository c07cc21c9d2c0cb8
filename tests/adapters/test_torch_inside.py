"""What fused ops of PyTorch compute inside, recomputed from a log: what PyTorch gives where it can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger.node_inside import parts_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def parts(op: str, call: Any) -> dict[str, np.ndarray]:
    """The parts of the only call of an op that a program makes."""
    with gs.record() as log:
        call()
    log.refresh()
    (node,) = (each for each in log.graph.nodes if each.op == op and each.kind == "op")
    return {label: value for label, (value, _) in parts_of(node, op).items()}


def close(found: np.ndarray, expected: Any) -> None:
    np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("options", [
    {}, {"is_causal": True}, {"scale": 0.3},
    {"attn_mask": torch.ones(5, 5).tril().bool()}, {"attn_mask": torch.linspace(-1, 1, 25).reshape(5, 5)},
], ids=["plain", "causal", "scaled", "mask of bools", "mask of numbers"])  # fmt: skip
def test_weights_of_attention(options: dict[str, Any]) -> None:
    query, key, value = (torch.randn(2, 3, 5, 4) for _ in range(3))
    found = parts(
        "scaled_dot_product_attention",
        lambda: torch.nn.functional.scaled_dot_product_attention(query, key, value, **options),
    )
    # With the identity as the values, attention gives its weights.
    weights = torch.nn.functional.scaled_dot_product_attention(query, key, torch.eye(5).expand(2, 3, 5, 5), **options)
    close(found["weights"], weights)


def test_weights_of_multi_head_attention() -> None:
    model, x = torch.nn.MultiheadAttention(8, 2), torch.randn(5, 3, 8)
    found = parts("multi_head_attention_forward", lambda: model(x, x, x, need_weights=False))
    _, weights = model(x, x, x, need_weights=True, average_attn_weights=False)
    close(found["weights"], weights)


def test_gates_of_a_cell_in_turn() -> None:
    model, x = torch.nn.LSTM(4, 3), torch.randn(6, 2, 4)
    found = parts("lstm", lambda: model(x))
    hidden, cell = torch.zeros(2, 3), torch.zeros(2, 3)
    for turn in range(6):
        of_input = torch.nn.functional.linear(x[turn], model.weight_ih_l0, model.bias_ih_l0)
        gates = of_input + torch.nn.functional.linear(hidden, model.weight_hh_l0, model.bias_hh_l0)
        entry, forget, candidate, output = gates.chunk(4, 1)
        close(found["input gate"][turn], entry.sigmoid())
        close(found["forget gate"][turn], forget.sigmoid())
        close(found["candidate"][turn], candidate.tanh())
        close(found["output gate"][turn], output.sigmoid())
        cell = forget.sigmoid() * cell + entry.sigmoid() * candidate.tanh()
        hidden = output.sigmoid() * cell.tanh()
        close(found["cell"][turn], cell)
    close(found["output"][-1], hidden)


def test_gates_of_gated_units_of_two_layers() -> None:
    model, x = torch.nn.GRU(4, 3, num_layers=2, bidirectional=True), torch.randn(5, 2, 4)
    found = parts("gru", lambda: model(x))
    of_input = torch.nn.functional.linear(x[0], model.weight_ih_l0, model.bias_ih_l0)
    reset, update, _ = (of_input + model.bias_hh_l0).chunk(3, 1)
    close(found["reset"][0], reset.sigmoid())
    close(found["update"][0], update.sigmoid())
    assert found["reset"].shape == (2 * 2 * 5, 2, 3)
    close(found["output"], model(x)[0])


def test_statistics_of_norms() -> None:
    x = torch.randn(6, 4, 5) * 3 + 1
    layer, batch = torch.nn.LayerNorm(5), torch.nn.BatchNorm1d(4)
    found = parts("layer_norm", lambda: layer(x))
    close(found["mean"], x.mean(-1, keepdim=True))
    close(found["variance"], x.var(-1, keepdim=True, correction=0))
    found = parts("batch_norm", lambda: batch(x))
    close(found["mean"].squeeze(), x.mean((0, 2)))
    close(found["variance"].squeeze(), x.var((0, 2), correction=0))


def test_ahead_of_dropout_the_weights_are_known() -> None:
    query = torch.randn(2, 3, 5, 4)
    attend = torch.nn.functional.scaled_dot_product_attention
    found = parts("scaled_dot_product_attention", lambda: attend(query, query, query, dropout_p=0.5))
    assert [*found] == ["scores", "scaled", "weights"]
    close(found["weights"], attend(query, query, torch.eye(5).expand(2, 3, 5, 5)))
    model, x = torch.nn.MultiheadAttention(8, 2, dropout=0.5), torch.randn(5, 3, 8)
    found = parts("multi_head_attention_forward", lambda: model(x, x, x))
    _, weights = model.eval()(x, x, x, need_weights=True, average_attn_weights=False)
    close(found["weights"], weights)


def test_of_other_ops_that_drew_random_numbers_nothing_is_told() -> None:
    model, x = torch.nn.LSTM(4, 3, num_layers=2, dropout=0.5), torch.randn(6, 2, 4)
    with pytest.raises(gs.errors.CommandError, match="can't be recomputed"):
        parts("lstm", lambda: model(x))
