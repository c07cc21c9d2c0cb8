"""Tensors like another: of its shape and dtype (`zeros_like`), or of its dtype alone (`new_zeros`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.generator import Generator, generator
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.create import made
from graphscope.engine.ops.shape import sizes

__all__ = [
    "empty_like",
    "full_like",
    "ones_like",
    "rand_like",
    "randint_like",
    "randn_like",
    "zeros_like",
]


def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """Zeros of the shape and dtype of another tensor."""
    return made(np.zeros(input.array.shape, dtype or input.array.dtype), requires_grad, "zeros_like", device, how)


def ones_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """Ones of the shape and dtype of another tensor."""
    return made(np.ones(input.array.shape, dtype or input.array.dtype), requires_grad, "ones_like", device, how)


def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A tensor of the shape and dtype of another, whose elements are yet to be set; here they are zeros."""
    return made(np.zeros(input.array.shape, dtype or input.array.dtype), requires_grad, "empty_like", device, how)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """One number, in the shape and dtype of another tensor."""
    dtype = np.dtype(dtype or input.array.dtype)
    fill_value = dtypes.element(getattr(fill_value, "array", fill_value), dtype)
    array = np.full(input.array.shape, fill_value, dtype)
    return made(array, requires_grad, "full_like", device, how)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Uniform random numbers of the shape and dtype of another tensor."""
    array = np.asarray(_numbers(generator).random(input.array.shape)).astype(dtype or input.array.dtype)
    return made(array, requires_grad, "rand_like", device, how)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Standard normal random numbers of the shape and dtype of another tensor."""
    array = np.asarray(_numbers(generator).standard_normal(input.array.shape)).astype(dtype or input.array.dtype)
    return made(array, requires_grad, "randn_like", device, how)


def randint_like(
    input: Tensor,
    low: int,
    high: int | None = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Random integers from `low` (0 when left out) up to `high`, in the shape and dtype of another tensor."""
    low, high = (0, low) if high is None else (low, high)
    array = np.asarray(_numbers(generator).integers(low, high, input.array.shape)).astype(dtype or input.array.dtype)
    return made(array, requires_grad, "randint_like", device, how)


_numbers = generator  # `generator` is the name of a parameter here


@method
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A tensor with a copy of `data`, in this one's dtype."""
    array = np.array(getattr(data, "array", data)).astype(dtype or self.array.dtype)
    return made(array, requires_grad, "new_tensor", device, how)


@method
def new_zeros(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """Zeros in this tensor's dtype."""
    return made(np.zeros(sizes(size), dtype or self.array.dtype), requires_grad, "new_zeros", device, how)


@method
def new_ones(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """Ones in this tensor's dtype."""
    return made(np.ones(sizes(size), dtype or self.array.dtype), requires_grad, "new_ones", device, how)


@method
def new_empty(
    self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A tensor of this one's dtype whose elements are yet to be set; here they are zeros."""
    return made(np.zeros(sizes(size), dtype or self.array.dtype), requires_grad, "new_empty", device, how)


@method
def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """One number, in this tensor's dtype."""
    dtype = np.dtype(dtype or self.array.dtype)
    array = np.full(sizes((size,)), dtypes.element(fill_value, dtype), dtype)
    return made(array, requires_grad, "new_full", device, how)
