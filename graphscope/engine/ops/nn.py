"""Ops of networks: softmax and the losses over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.ops.elementwise import exp
from graphscope.engine.ops.reduce import sum
from graphscope.engine.tensor import define


def _softmax(x: Any, *, dim: int) -> Any:
    powers = np.exp(x - np.max(x, axis=dim, keepdims=True))
    return powers / np.add.reduce(powers, axis=dim, keepdims=True)


def _log_softmax(x: Any, *, dim: int) -> Any:
    shifted = x - np.max(x, axis=dim, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), axis=dim, keepdims=True))


def _to_softmax(x: Any, dim: int = -1) -> Any:
    return (x,), {"dim": dim}


softmax = define(
    "softmax", "Exponentials, scaled so that they sum to 1 along a dim.", formula="out = e^x / Σ e^x",
    prepare=_to_softmax,
    forward=_softmax,
    vjp=[lambda g, out, *, dim: out * (g - sum(g * out, dim, True))],
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0})],
)  # fmt: skip

log_softmax = define(
    "log_softmax", "Logarithm of softmax, computed without overflow.", formula="out = x - ln Σ e^x",
    prepare=_to_softmax,
    forward=_log_softmax,
    vjp=[lambda g, out, *, dim: g - exp(out) * sum(g, dim, True)],
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0})],
)  # fmt: skip
