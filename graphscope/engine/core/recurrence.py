"""A whole LSTM layer on bare arrays, forward and back: the loop over time with nothing in it that can be outside.

One matrix product projects the inputs of all steps, and one each gives the gradients of the weights. Inside the loop
the gates lie in blocks (i, f, o, n), so that each is contiguous. A sigmoid is half a hyperbolic tangent of half its
argument: with the halves in the weights (which is exact) one tanh serves all four gates.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from graphscope.engine.core import layer_loops as layers

BLOCKS = (0, 1, 3, 2)
"""Where PyTorch's rows i, f, n, o stand in ours; the permutation is its own inverse."""


_COMPILED: Final = frozenset({np.dtype("float32"), np.dtype("float64")})
"""Dtypes of which a step runs in the compiled part, in one pass over memory, where there is one."""


class Kept(NamedTuple):
    """What the way back needs."""

    inputs: np.ndarray
    """Those of all steps, with a column of ones for the bias."""
    gates: np.ndarray
    """For each step i, f, o, n and tanh c: (steps, 5, batch, hidden)."""
    cells: np.ndarray
    hidden: np.ndarray
    order: range
    """The steps, in the order in which they ran."""


def _room(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Memory that begins with a line of the cache: matrix products are a tenth faster there."""
    count = math.prod(shape) * dtype.itemsize
    memory = np.empty(count + 64, np.uint8)
    start = -memory.ctypes.data % 64
    room: np.ndarray = memory[start : start + count].view(dtype)
    return room.reshape(shape)


def _blocks(rows: np.ndarray) -> np.ndarray:
    """The rows of a weight or bias in our order (a copy)."""
    blocks: np.ndarray = rows.reshape(4, -1, *rows.shape[1:])[list(BLOCKS)]
    return np.reshape(blocks, rows.shape)


def forward(
    x: Any, h0: Any, c0: Any, weight: Any, recurrent: Any, biases: tuple[Any, ...], reverse: bool
) -> tuple[np.ndarray, np.ndarray, Kept]:
    """Run a layer.

    Args:
        x: The inputs, (steps, batch, features).
        h0: The first hidden state, (batch, hidden).
        c0: The first cell state, (batch, hidden).
        weight: What the inputs are multiplied by, (4 · hidden, features).
        recurrent: What the hidden state is multiplied by, (4 · hidden, hidden).
        biases: Two, or none.
        reverse: Whether the last step comes first.

    Returns:
        The hidden states of all steps, the last cell state, and what the way back needs.
    """
    (steps, batch, features), size, dtype = x.shape, h0.shape[1], x.dtype
    order = range(steps - 1, -1, -1) if reverse else range(steps)
    halves = np.ones((4 * size, 1), dtype)
    halves[: 3 * size] = 0.5
    bias = biases[0] + biases[1] if biases else np.zeros(4 * size, dtype)
    outer = _blocks(np.concatenate([weight, bias[:, None]], 1)) * halves
    inputs = np.concatenate([x.reshape(steps * batch, features), np.ones((steps * batch, 1), dtype)], 1)
    projected = _room((steps, batch, 4 * size), dtype)
    np.matmul(inputs, outer.T, out=projected.reshape(-1, 4 * size))
    inner = _room((size, 4 * size), dtype)
    inner[:] = (_blocks(recurrent) * halves).T
    hidden, cells = _room((2, steps, batch, size), dtype)
    gates = _room((steps, 5, batch, size), dtype)
    sums, product = _room((batch, 4 * size), dtype), _room((batch, size), dtype)
    parts = sums.reshape(batch, 4, size).transpose(1, 0, 2)
    multiply, add, tanh, matmul = np.multiply, np.add, np.tanh, np.matmul
    sigmoids, rest = parts[:3], parts[3]
    in_one_pass = layers.lstm_step if dtype in _COMPILED else None
    h, c = h0, np.ascontiguousarray(c0)
    for step in order:
        matmul(h, inner, out=sums)
        if in_one_pass is not None:
            before, c, h = c, cells[step], hidden[step]
            in_one_pass(gates[step], c, h, sums, projected[step], before)
            continue
        add(sums, projected[step], out=sums)
        tanh(sums, out=sums)
        of_step = gates[step]
        opened = of_step[:3]
        multiply(sigmoids, 0.5, out=opened)
        add(opened, 0.5, out=opened)
        i, f, o, n, squashed = of_step
        np.copyto(n, rest)
        before, c, h = c, cells[step], hidden[step]
        multiply(f, before, out=c)
        multiply(i, n, out=product)
        add(c, product, out=c)
        tanh(c, out=squashed)
        multiply(o, squashed, out=h)
    return hidden, c.copy(), Kept(inputs, gates, cells, hidden, order)


def backward(
    g_hidden: np.ndarray,
    g_cell: np.ndarray,
    kept: Kept,
    x: Any,
    h0: Any,
    c0: Any,
    weight: Any,
    recurrent: Any,
    needs_x: bool = True,
) -> tuple[Any, ...]:
    """The gradients of the inputs, both first states, both weights, and of each bias.

    Args:
        g_hidden: The cotangent of the hidden states.
        g_cell: The cotangent of the last cell state.
        kept: What `forward` kept.
        x: As `forward` took it; so are the next.
        h0: The first hidden state.
        c0: The first cell state.
        weight: That of the inputs.
        recurrent: That of the hidden state.
        needs_x: Whether anybody asks for the gradient of the inputs.
    """
    inputs, gates, cells, hidden, order = kept
    (steps, batch, _), size, dtype = x.shape, h0.shape[1], x.dtype
    inner = _room(recurrent.shape, dtype)
    inner[:] = _blocks(recurrent)
    g_sums = _room((steps, batch, 4 * size), dtype)
    g_gates, slopes = _room((2, 4, batch, size), dtype)
    part, g_h, g_c = _room((3, batch, size), dtype)
    g_h[:] = 0
    g_c[:] = g_cell
    multiply, add, subtract, matmul = np.multiply, np.add, np.subtract, np.matmul
    in_one_pass = layers.lstm_step_back if dtype in _COMPILED else None
    first_cell, towards = np.ascontiguousarray(c0), np.ascontiguousarray(g_hidden)
    for place in range(steps - 1, -1, -1):
        step = order[place]
        of_step = gates[step]
        if in_one_pass is not None:
            before = cells[order[place - 1]] if place else first_cell
            in_one_pass(g_sums[step], g_c, g_h, towards[step], of_step, before)
            matmul(g_sums[step], inner, out=g_h)
            continue
        i, f, o, n, squashed = of_step
        add(g_h, g_hidden[step], out=g_h)
        multiply(g_h, squashed, out=g_gates[2])
        multiply(g_h, o, out=part)  # (1 - tanh² c) · o · g, with o · tanh c the hidden state
        add(g_c, part, out=g_c)
        multiply(g_gates[2], hidden[step], out=part)
        subtract(g_c, part, out=g_c)
        multiply(g_c, n, out=g_gates[0])
        multiply(g_c, cells[order[place - 1]] if place else c0, out=g_gates[1])
        multiply(g_c, i, out=g_gates[3])
        four = of_step[:4]
        multiply(four, four, out=slopes)
        subtract(of_step[:3], slopes[:3], out=slopes[:3])
        subtract(1, slopes[3], out=slopes[3])
        out = g_sums[step]
        multiply(g_gates, slopes, out=out.reshape(batch, 4, size).transpose(1, 0, 2))
        multiply(g_c, f, out=g_c)
        matmul(out, inner, out=g_h)
    flat = g_sums.reshape(steps * batch, 4 * size)
    g_x = np.matmul(flat, _blocks(weight)).reshape(x.shape) if needs_x else None
    g_outer = _blocks(np.matmul(flat.T, inputs))
    later, earlier = (slice(None, -1), slice(1, None)) if order.step < 0 else (slice(1, None), slice(None, -1))
    g_recurrent = np.matmul(g_sums[order[0]].T, h0)
    if steps > 1:
        g_recurrent += np.matmul(g_sums[later].reshape(-1, 4 * size).T, hidden[earlier].reshape(-1, size))
    g_bias = g_outer[:, -1]
    return g_x, g_h, g_c, g_outer[:, :-1], _blocks(g_recurrent), g_bias, g_bias
