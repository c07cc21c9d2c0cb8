"""Dropout: elements or whole channels set to 0 at random, the rest scaled so that means stay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.generator import generator
from graphscope.engine.core.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "feature_dropout"]

_LEVEL = -1.7580993408473766
"""What selu tends to far below 0: the value that alpha dropout sets."""


def _checked(name: str, p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{name}: dropout probability has to be between 0 and 1, but got {p}")
    return float(p)


def _kept(shape: tuple[int, ...], p: float, dtype: Any) -> np.ndarray:
    """1 for what stays, 0 for what goes."""
    draws = generator().random(shape, np.float32)
    return (
        np.greater_equal(draws, p, out=np.empty(shape, dtype), casting="unsafe")
        if shape
        else np.asarray(draws >= p, dtype)
    )


def _masked(input: Tensor, shape: tuple[int, ...], p: float) -> Any:
    if p == 1.0:
        return input * Tensor(np.zeros(shape, input.dtype)[()])
    mask = _kept(shape, p, input.dtype)
    mask *= input.dtype.type(1 / (1 - p))
    return input * Tensor(mask[()])


@composite(
    "Elements set to 0 with probability p, the rest divided by 1 - p.",
    samples=[((2, 3), {"p": 0.0}), ((2, 3), {"p": 1.0}), ((2, 3), {"training": False})],
    shape=lambda x, **_: x, torch="nn.functional.dropout",
)  # fmt: skip
def dropout(input: Any, p: float = 0.5, training: bool = True) -> Any:
    """Elements set to 0 with probability `p`, the rest divided by 1 - p; when not training, the input itself.

    Raises:
        ValueError: `p` is no probability.
    """
    p = _checked("dropout", p)
    return _masked(input, tuple(input.shape), p) if training and p > 0 else input


def _channels(name: str, input: Any, rank: int) -> tuple[int, ...]:
    """One place for each channel; without samples the channels are dim 0."""
    shape = tuple(input.shape)
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: the input must have {rank + 1} or {rank + 2} dims, not shape {shape}")
    count = len(shape) - rank
    return shape[:count] + (1,) * rank


def _by_channel(name: str, rank: int) -> Any:
    def drop(input: Any, p: float = 0.5, training: bool = True) -> Any:
        p = _checked(name, p)
        shape = _channels(name, input, rank)
        return _masked(input, shape, p) if training and p > 0 else input

    drop.__name__ = drop.__qualname__ = name
    drop.__doc__ = "Whole channels set to 0 with probability `p`, the rest divided by 1 - p."
    return drop


dropout1d, dropout2d, dropout3d = _by_channel("dropout1d", 1), _by_channel("dropout2d", 2), _by_channel("dropout3d", 3)


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """Whole channels (dim 1) set to 0 with probability `p`, the rest divided by 1 - p."""
    p = _checked("feature_dropout", p)
    shape = tuple(input.shape[:2]) + (1,) * (len(input.shape) - 2)
    return _masked(input, shape, p) if train and p > 0 else input


def _alpha(name: str, input: Any, shape: tuple[int, ...], p: float, training: bool) -> Any:
    p = _checked(name, p)
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0.0
    scale = 1 / math.sqrt((1 - p) * (1 + p * _LEVEL * _LEVEL))
    mask = _kept(shape, p, input.dtype)
    level = (1 - mask) * (_LEVEL * scale) - _LEVEL * scale * p
    return input * Tensor((mask * scale)[()]) + Tensor(level.astype(input.dtype)[()])


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False) -> Any:
    """Dropout for networks of selu: mean and variance stay.

    Source: Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks, 2017.
    """
    return _alpha("alpha_dropout", input, tuple(input.shape), p, training)
