"""Windows of signal processing, as tensors of one dim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.create import made

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def _window(
    name: str, values: Callable[..., Any], length: int, periodic: bool, requires_grad: bool, dtype: Any, device: Any
) -> Tensor:
    """A window of a length; of a periodic one, the last element is the first of the next."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    array = np.ones(length) if length < 2 else values(length + periodic)[:length]
    return made(array.astype(dtype or dtypes.get_default_dtype()), requires_grad, name, device)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Hann's window: a raised cosine."""
    return _window("hann_window", np.hanning, window_length, periodic, requires_grad, dtype, device)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's window: a raised cosine that does not begin at 0."""

    def values(length: int) -> Any:
        return alpha - beta * np.cos(2 * np.pi * np.arange(length) / (length - 1))

    return _window("hamming_window", values, window_length, periodic, requires_grad, dtype, device)


def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Bartlett's window: a triangle."""
    return _window("bartlett_window", np.bartlett, window_length, periodic, requires_grad, dtype, device)


def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Blackman's window: three terms of cosines."""
    return _window("blackman_window", np.blackman, window_length, periodic, requires_grad, dtype, device)


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window, of the shape parameter `beta`."""
    return _window("kaiser_window", lambda n: np.kaiser(n, beta), window_length, periodic, requires_grad, dtype, device)
