"""Tensors from nothing: from Python data, of constants, of evenly spaced numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from sys import _getframe
from typing import Any, Final, cast

import numpy as np

from graphscope.engine.core import device as devices
from graphscope.engine.core import dtypes, tracing
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.shape import sizes
from graphscope.eventlog import record as recording

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "eye", "from_numpy", "frombuffer", "full", "linspace", "ones",
    "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros",
]  # fmt: skip


NOTHING_HERE: Final = frozenset({"layout", "memory_format", "pin_memory"})
"""Arguments that programs give, and that say nothing where there is one device and one layout."""


def made(
    array: Any, requires_grad: bool, function: str, device: Any = None, how: Mapping[str, Any] | None = None
) -> Tensor:
    """A leaf around an array, or the tensor `out` with its elements; told to the log at the line that asked for it.

    Args:
        array: The elements.
        requires_grad: Whether gradients are to flow to it.
        function: What people called.
        device: Where it is to be.
        how: Other arguments that they gave: `out`, and those that say nothing here.

    Raises:
        RuntimeError: Gradients were asked for, but the dtype is not floating; or the device is not there.
        TypeError: There is no such argument.
    """
    if how:
        unknown = how.keys() - NOTHING_HERE - {"out"}
        if unknown:
            raise TypeError(f"{function}() got an unexpected keyword argument {min(unknown)!r}")
        if how.get("out") is not None:
            return _filled(how["out"], array, function)
    if requires_grad and array.dtype.kind not in "fc":
        raise RuntimeError(f"{function}: only floating tensors can require gradients, not {array.dtype}")
    if device is not None:
        devices.check(device)
    tensor = Tensor(array if array.ndim else array[()], requires_grad=requires_grad)
    writer = recording.writer
    if writer is not None:
        tracing.leaf(writer, tensor, _getframe(2), function=function)
    return tensor


def _filled(out: Tensor, array: Any, function: str) -> Tensor:
    """The tensor that was to take the elements; one that is still empty takes their shape, too."""
    if out.array.shape != array.shape and not out.array.size:
        out.array = np.empty(array.shape, out.array.dtype)
    elif out.array.shape != array.shape:
        raise RuntimeError(
            f"{function}: `out` has shape {out.array.shape}, what goes there {array.shape}: leave `out` away"
        )
    return cast(Tensor, out.copy_(Tensor(array)))


def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested lists, an array, another tensor.

    Raises:
        ValueError: Nested lists of different lengths.
        RuntimeError: `requires_grad` with a dtype that is not floating.
    """
    return made(numbers_of(data, dtype), requires_grad, "tensor", device, how)


def numbers_of(data: Any, dtype: Any = None) -> np.ndarray:
    """A copy of what people write, in a dtype; None: in PyTorch's for it."""
    if isinstance(data, Tensor):
        return np.array(data.array, dtype)
    if isinstance(data, list | tuple | range):
        data = _unwrapped(data)
    try:
        array = np.array(data)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "biufc":
        raise ValueError("tensor: data must be numbers, or nested lists of one length at each depth")
    if dtype is None and array.dtype.kind == "f" and not isinstance(_first(data), np.ndarray | np.generic):
        dtype = dtypes.get_default_dtype()
    if dtype is None and array.dtype.kind == "c" and not isinstance(_first(data), np.ndarray | np.generic):
        dtype = np.result_type(dtypes.get_default_dtype(), np.complex64)
    if dtype is not None and np.dtype(dtype).kind in "iu" and not isinstance(data, np.ndarray) and array.size:
        for number in (array.min(), array.max()):
            dtypes.element(number.item(), np.dtype(dtype))
    return array if dtype is None else array.astype(dtype, copy=False)


def _first(data: Any) -> Any:
    """The first of nested lists' numbers: whether it has a dtype of its own tells whether they do."""
    while isinstance(data, list) and data:
        data = data[0]
    return data


def _unwrapped(data: Any) -> Any:
    if isinstance(data, list | tuple | range):
        return [_unwrapped(part) for part in data]
    return data.array if isinstance(data, Tensor) else data


def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares memory with an array.

    Raises:
        TypeError: It is no array.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy takes an array, not {type(ndarray).__name__}; use tensor(...)")
    return made(ndarray, False, "from_numpy")


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` itself when it is a tensor of the dtype, else a tensor made of it; of an array it shares the memory."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.array.dtype == dtype else data.to(dtype)
    array = data if isinstance(data, np.ndarray) else numbers_of(data, dtype)
    return made(array if dtype is None else array.astype(dtype, copy=False), False, "as_tensor", device)


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """As `as_tensor`; a tensor that is to require gradients is detached first."""
    out = as_tensor(obj.detach() if isinstance(obj, Tensor) and requires_grad else obj, dtype, device)
    out.requires_grad = requires_grad
    return out


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor of one dim that shares memory with a buffer."""
    return made(np.frombuffer(buffer, dtype, count, offset), requires_grad, "frombuffer")


def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any) -> Tensor:
    """A tensor of no dims; floating unless `dtype` says otherwise."""
    dtype = np.dtype(dtype or dtypes.get_default_dtype())
    return made(np.asarray(dtypes.wide_element(s, dtype), dtype), requires_grad, "scalar_tensor", device, how)


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any) -> Tensor:
    """A tensor of zeros."""
    return made(np.zeros(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "zeros", device, how)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any) -> Tensor:
    """A tensor of ones."""
    return made(np.ones(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "ones", device, how)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any) -> Tensor:
    """A tensor whose elements are yet to be set; here they are zeros."""
    return made(np.zeros(sizes(size), dtype or dtypes.get_default_dtype()), requires_grad, "empty", device, how)


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A tensor of one number."""
    fill_value = getattr(fill_value, "array", fill_value)
    if dtype is None:
        dtype = dtypes.result_type([fill_value])
    return made(
        np.full(sizes((size,)), dtypes.element(fill_value, np.dtype(dtype)), dtype), requires_grad, "full", device, how
    )


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Numbers from `start` (0 when it stands alone) up to `end`, without it.

    Raises:
        RuntimeError: `step` is 0, or leads away from `end`.
    """
    if end is None:
        start, end = 0, start
    start, end, step = (
        value.item() if isinstance(value, Tensor | np.generic) else value for value in (start, end, step)
    )
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: from {start} steps of {step} lead away from {end}; turn the sign of step")
    if dtype is None and any(isinstance(value, float) for value in (start, end, step)):
        dtype = dtypes.get_default_dtype()
    kind = "i" if dtype is None else np.dtype(dtype).kind
    if kind not in "iu":
        array = np.arange(start, end, step)
    elif dtype is None or np.dtype(dtype) == dtypes.int64:
        array = np.arange(int(start), int(end), int(step))
    else:  # so many as there are of the numbers given, of which the integers are taken
        array = np.arange(math.ceil((end - start) / step)) * int(step) + int(start)
    return made(array if dtype is None else array.astype(dtype), requires_grad, "arange", device, how)


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances.

    Raises:
        RuntimeError: `steps` is negative.
    """
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, not {steps}")
    wanted = np.dtype(dtype or dtypes.get_default_dtype())
    cut = int if wanted.kind in "iu" else complex if wanted.kind == "c" else float
    array = np.linspace(cut(start), cut(end), steps).astype(wanted)
    return made(array, requires_grad, "linspace", device, how)


def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **how: Any
) -> Tensor:
    """A matrix with ones on its diagonal."""
    return made(np.eye(n, m, dtype=dtype or dtypes.get_default_dtype()), requires_grad, "eye", device, how)


def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None, **how: Any
) -> Tensor:
    """Rows and columns of the lower triangle of a matrix, as two rows."""
    return made(np.stack(np.tril_indices(row, offset, col)).astype(dtype), False, "tril_indices", device, how)


def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None, **how: Any
) -> Tensor:
    """Rows and columns of the upper triangle of a matrix, as two rows."""
    return made(np.stack(np.triu_indices(row, offset, col)).astype(dtype), False, "triu_indices", device, how)
