"""Tensors from nothing: from Python data, of constants, of random numbers."""

from __future__ import annotations

from sys import _getframe
from typing import Any

import numpy as np

from graphscope.engine import dtypes, tracing
from graphscope.engine.ops.shape import sizes
from graphscope.engine.random import generator
from graphscope.engine.tensor import Tensor
from graphscope.eventlog import record as recording

__all__ = [
    "arange",
    "as_tensor",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "tensor",
    "zeros",
    "zeros_like",
]


def made(array: Any, requires_grad: bool, function: str) -> Tensor:
    """A leaf around an array; told to the log at the line that asked for it.

    Raises:
        RuntimeError: Gradients were asked for, but the dtype is not floating.
    """
    if requires_grad and array.dtype.kind not in "fc":
        raise RuntimeError(f"{function}: only floating tensors can require gradients, not {array.dtype}")
    tensor = Tensor(array if array.ndim else array[()], requires_grad)
    writer = recording.writer
    if writer is not None:
        tracing.leaf(writer, tensor, _getframe(2), function=function)
    return tensor


def tensor(data: Any, *, dtype: np.dtype | None = None, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested lists, an array, another tensor.

    Raises:
        ValueError: Nested lists of different lengths.
        RuntimeError: `requires_grad` with a dtype that is not floating.
    """
    if isinstance(data, Tensor):
        data = data.data
    if isinstance(data, list | tuple):
        data = _unwrapped(data)
    try:
        array = np.array(data)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "biufc":
        raise ValueError("tensor: data must be numbers, or nested lists of one length at each depth")
    if dtype is None and array.dtype.kind == "f" and not isinstance(data, np.ndarray | np.generic):
        dtype = dtypes.get_default_dtype()
    return made(array if dtype is None else array.astype(dtype), requires_grad, "tensor")


def _unwrapped(data: Any) -> Any:
    if isinstance(data, list | tuple):
        return [_unwrapped(part) for part in data]
    return data.data if isinstance(data, Tensor) else data


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares memory with an array.

    Raises:
        TypeError: It is no array.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy takes an array, not {type(array).__name__}; use tensor(...)")
    return made(array, False, "from_numpy")


def as_tensor(data: Any, dtype: np.dtype | None = None) -> Tensor:
    """`data` itself when it is a tensor of the dtype, else a tensor made of it."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.data.dtype == dtype else data.to(dtype)
    array = np.asarray(data)
    if dtype is None and array.dtype == dtypes.float64 and not isinstance(data, np.ndarray):
        dtype = dtypes.get_default_dtype()
    return made(array if dtype is None else array.astype(dtype), False, "as_tensor")


def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    return made(np.zeros(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "zeros")


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    return made(np.ones(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "ones")


def full(size: Any, fill_value: float, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of one number."""
    if dtype is None:
        dtype = dtypes.result_type([fill_value])
    return made(np.full(sizes((size,)), fill_value, dtype), requires_grad, "full")


def empty(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor whose elements are yet to be set; here they are zeros."""
    return made(np.zeros(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "empty")


def arange(start: float, end: float | None = None, step: float = 1, *, dtype: Any = None) -> Tensor:
    """Numbers from `start` (0 when it stands alone) up to `end`, without it."""
    if end is None:
        start, end = 0, start
    array = np.arange(start, end, step)
    if dtype is None and array.dtype.kind == "f":
        dtype = dtypes.get_default_dtype()
    return made(array if dtype is None else array.astype(dtype), False, "arange")


def linspace(start: float, end: float, steps: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    array = np.linspace(start, end, steps).astype(dtype or dtypes.get_default_dtype())
    return made(array, requires_grad, "linspace")


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A matrix with ones on its diagonal."""
    return made(np.eye(n, m, dtype=dtype or dtypes.get_default_dtype()), requires_grad, "eye")


def rand(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers from 0 to 1."""
    array = generator().random(sizes(size)).astype(dtype or dtypes.get_default_dtype())
    return made(np.asarray(array), requires_grad, "rand")


def randn(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Random numbers of the standard normal distribution."""
    array = np.asarray(generator().standard_normal(sizes(size))).astype(dtype or dtypes.get_default_dtype())
    return made(array, requires_grad, "randn")


def randint(low: int, high: Any = None, size: Any = None, *, dtype: Any = None) -> Tensor:
    """Random integers from `low` (0 when left out) up to `high`, without it."""
    if size is None:
        low, high, size = 0, low, high
    array = generator().integers(low, high, sizes((size,)))
    return made(np.asarray(array, dtype or dtypes.int64), False, "randint")


def randperm(n: int) -> Tensor:
    """The integers below `n` in random order."""
    return made(generator().permutation(n), False, "randperm")


def zeros_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the shape and dtype of another tensor."""
    return made(np.zeros(input.data.shape, dtype or input.data.dtype), requires_grad, "zeros_like")


def ones_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of the shape and dtype of another tensor."""
    return made(np.ones(input.data.shape, dtype or input.data.dtype), requires_grad, "ones_like")


def rand_like(input: Tensor) -> Tensor:
    """Uniform random numbers of the shape and dtype of another tensor."""
    return made(np.asarray(generator().random(input.data.shape)).astype(input.data.dtype), False, "rand_like")


def randn_like(input: Tensor) -> Tensor:
    """Standard normal random numbers of the shape and dtype of another tensor."""
    array = np.asarray(generator().standard_normal(input.data.shape)).astype(input.data.dtype)
    return made(array, False, "randn_like")
