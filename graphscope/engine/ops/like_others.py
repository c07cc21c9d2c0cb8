"""Tensors like another: of its shape and dtype (`zeros_like`), or of its dtype alone (`new_zeros`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.generator import Generator, generator
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.create import made, numbers_of
from graphscope.engine.ops.shape import sizes

__all__ = ["empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like"]


def _named(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _like(name: str, doc: str, filled: Any) -> Any:
    """A function that makes what `filled` does of a shape and a dtype, in those of another tensor."""

    def like(
        input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
    ) -> Tensor:
        return made(filled(input.array.shape, dtype or input.array.dtype), requires_grad, name, device, how)

    return _named(like, name, doc)


def _new(name: str, doc: str, filled: Any) -> Any:
    """A method that makes what `filled` does of a shape and a dtype, in the dtype of a tensor."""

    def new(
        self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
    ) -> Tensor:
        return made(filled(sizes(size), dtype or self.array.dtype), requires_grad, name, device, how)

    return method(_named(new, name, doc))


def _random_like(name: str, doc: str, drawn: Any) -> Any:
    """A function that draws numbers of a shape, in shape and dtype of another tensor."""

    def like(
        input: Tensor,
        *,
        generator: Generator | None = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **how: Any,
    ) -> Tensor:
        array = np.asarray(drawn(_numbers(generator), input.array.shape)).astype(dtype or input.array.dtype)
        return made(array, requires_grad, name, device, how)

    return _named(like, name, doc)


_numbers = generator  # `generator` is the name of a parameter here

zeros_like = _like("zeros_like", "Zeros of the shape and dtype of another tensor.", np.zeros)
ones_like = _like("ones_like", "Ones of the shape and dtype of another tensor.", np.ones)
empty_like = _like(
    "empty_like",
    "A tensor of the shape and dtype of another, whose elements are yet to be set; here they are zeros.",
    np.zeros,
)
rand_like = _random_like(
    "rand_like",
    "Uniform random numbers of the shape and dtype of another tensor.",
    lambda numbers, shape: numbers.random(shape),
)
randn_like = _random_like(
    "randn_like",
    "Standard normal random numbers of the shape and dtype of another tensor.",
    lambda numbers, shape: numbers.standard_normal(shape),
)
_new("new_zeros", "Zeros in this tensor's dtype.", np.zeros)
_new("new_ones", "Ones in this tensor's dtype.", np.ones)
_new(
    "new_empty",
    "A tensor of this one's dtype whose elements are yet to be set; here they are zeros.",
    np.zeros,
)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """One number, in the shape and dtype of another tensor."""
    dtype = np.dtype(dtype or input.array.dtype)
    fill_value = dtypes.element(getattr(fill_value, "array", fill_value), dtype)
    array = np.full(input.array.shape, fill_value, dtype)
    return made(array, requires_grad, "full_like", device, how)


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


@method
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A tensor with a copy of `data`, in this one's dtype."""
    array = numbers_of(data, dtype or self.array.dtype)
    return made(array, requires_grad, "new_tensor", device, how)


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
