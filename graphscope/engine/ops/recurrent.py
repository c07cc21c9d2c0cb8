"""Ops of recurrent layers: one step of an LSTM or a GRU, and a whole LSTM layer in one node."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import recurrence
from graphscope.engine.core.calls import define
from graphscope.engine.core.op import joint
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.elementwise import sigmoid, tanh
from graphscope.engine.ops.joining import cat, stack

__all__: list[str] = []


def _quarters(gates: Any) -> tuple[Any, ...]:
    size = gates.shape[-1] // 4
    return tuple(gates[:, size * part : size * (part + 1)] for part in range(4))


def _lstm_cell(x: Any, y: Any) -> tuple[Any, ...]:
    size = y.shape[-1]
    if x.ndim != 2 or y.ndim != 2 or x.shape != (y.shape[0], 4 * size):
        raise ValueError(f"lstm_cell: four gates for a cell state of shape {y.shape} have shape {x.shape}")
    gates = np.multiply(x, 0.5)
    gates[:, 2 * size : 3 * size] = x[:, 2 * size : 3 * size]
    np.tanh(gates, out=gates)
    for part in (slice(2 * size), slice(3 * size, None)):  # a sigmoid is half a tanh of half its argument
        gates[:, part] *= 0.5
        gates[:, part] += 0.5
    i, f, n, o = _quarters(gates)
    cell = f * y + i * n
    return o * np.tanh(cell), cell, gates


def _lstm_cell_rule(g: Any, y: Any, out: Any) -> tuple[Any, Any]:
    g_hidden, g_cell, g_gates = g
    _, cell, gates = out
    i, f, n, o = _quarters(gates)
    squashed = tanh(cell)
    g_cell = g_cell + g_hidden * o * (1 - squashed * squashed)
    arrived = cat([g_cell * n, g_cell * y, g_cell * i, g_hidden * squashed], 1) + g_gates
    slopes = cat([i * (1 - i), f * (1 - f), 1 - n * n, o * (1 - o)], 1)
    return arrived * slopes, g_cell * f


lstm_cell: Any = define(
    "lstm_cell", "One step of an LSTM, from the sums before its gates, x, and its cell state y.",
    formula="i, f, n, o = σ x₁, σ x₂, tanh x₃, σ x₄; cell = f · y + i · n; hidden = o · tanh cell",
    outputs=("hidden", "cell", "gates"), tensor_method=False, torch=None,
    forward=_lstm_cell, accumulates=True,
    vjp=[joint(_lstm_cell_rule), joint(_lstm_cell_rule)],
    shape=lambda x, y: [y, y, x],
    samples=[((2, 12), (2, 3)), ((1, 4), (1, 1))],
)  # fmt: skip


def _gates_of_gru(x: Any, y: Any) -> tuple[Any, ...]:
    size = x.shape[-1] // 3
    reset = sigmoid(x[:, :size] + y[:, :size])
    update = sigmoid(x[:, size : 2 * size] + y[:, size : 2 * size])
    return reset, update, tanh(x[:, 2 * size :] + reset * y[:, 2 * size :])


def _gru_cell(x: Any, y: Any, z: Any) -> Any:
    if x.ndim != 2 or x.shape != y.shape or x.shape != (z.shape[0], 3 * z.shape[-1]):
        raise ValueError(f"gru_cell: three gates for a state of shape {z.shape} have shapes {x.shape} and {y.shape}")
    _, update, new = _gates_of_gru(x, y)
    return new + update * (z - new)


def _gru_cell_rule(g: Any, x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    reset, update, new = _gates_of_gru(x, y)
    g_update = g * (z - new) * update * (1 - update)
    g_new = g * (1 - update) * (1 - new * new)
    g_reset = g_new * y[:, 2 * z.shape[-1] :] * reset * (1 - reset)
    return cat([g_reset, g_update, g_new], 1), cat([g_reset, g_update, g_new * reset], 1), g * update


gru_cell: Any = define(
    "gru_cell", "One step of a GRU: the shares of its input x and of its state y in the gates, and its state z.",
    formula="r, u = σ(x₁ + y₁), σ(x₂ + y₂); n = tanh(x₃ + r · y₃); out = (1 - u) · n + u · z",
    tensor_method=False, torch=None,
    forward=_gru_cell, accumulates=True,
    vjp=[joint(_gru_cell_rule)] * 3,
    shape=lambda x, y, z: z,
    samples=[((2, 9), (2, 9), (2, 3)), ((1, 3), (1, 3), (1, 1))],
)  # fmt: skip


def _lstm_layer(x: Any, h: Any, c: Any, weight: Any, recurrent: Any, *biases: Any, reverse: bool, needs_x: bool) -> Any:
    hidden, cell, kept = recurrence.forward(x, h, c, weight, recurrent, biases, reverse)
    return (hidden, cell), kept


def _lstm_layer_rule(g: Any, inputs: Any, residuals: Any, *, reverse: bool, needs_x: bool) -> tuple[Any, ...]:
    if any(isinstance(value, Tensor) for value in g):
        return _lstm_layer_rule_by_steps(g, inputs, reverse)
    x, h, c, weight, recurrent = inputs[:5]
    return recurrence.backward(g[0], g[1], residuals, x, h, c, weight, recurrent, needs_x)


def _lstm_layer_rule_by_steps(g: Any, inputs: Any, reverse: bool) -> tuple[Any, ...]:
    """The rule in the engine's own ops, for gradients of gradients: every step again, then back through them."""
    x, h, c, weight, recurrent, *biases = inputs
    order = range(x.shape[0])[:: -1 if reverse else 1]
    bias = biases[0] + biases[1] if biases else 0
    steps = []
    for step in order:
        out = lstm_cell(x[step] @ weight.T + bias + h @ recurrent.T, c)
        steps.append((step, h, c, out))
        h, c = out[0], out[1]
    g_hidden, g_c = g
    g_h: Any = 0
    g_weight: Any = 0
    g_recurrent: Any = 0
    g_bias: Any = 0
    g_x: dict[int, Any] = {}
    for step, h, c, out in reversed(steps):
        g_sums, g_c = _lstm_cell_rule((g_hidden[step] + g_h, g_c, 0), c, out)
        g_x[step], g_h = g_sums @ weight, g_sums @ recurrent
        g_weight = g_sums.T @ x[step] + g_weight
        g_recurrent = g_sums.T @ h + g_recurrent
        g_bias = g_sums.sum(0) + g_bias
    return stack([g_x[step] for step in range(len(g_x))], 0), g_h, g_c, g_weight, g_recurrent, g_bias, g_bias


lstm_layer: Any = define(
    "lstm_layer", "An LSTM layer over all steps of x, from a first hidden state y and a first cell state z.",
    formula="out[t], cell = lstm_cell(W · x[t] + U · out[t-1] + b, cell)",
    outputs=("output", "cell"), residuals=True, tensor_method=False, torch=None,
    prepare=lambda *inputs, reverse=False: (
        inputs, {"reverse": reverse, "needs_x": getattr(inputs[0], "requires_grad", True)}),
    forward=_lstm_layer, accumulates=True,
    vjp=[joint(_lstm_layer_rule)] * 7,
    shape=lambda x, h, c, *rest, **attrs: [(x[0], *h), c],
    samples=[((3, 2, 2), (2, 3), (2, 3), (12, 2), (12, 3), (12,), (12,)),
             ((3, 2, 2), (2, 3), (2, 3), (12, 2), (12, 3), {"reverse": True}),
             ((1, 1, 2), (1, 1), (1, 1), (4, 2), (4, 1))],
)  # fmt: skip
