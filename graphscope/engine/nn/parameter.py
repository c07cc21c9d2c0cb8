"""Parameters and buffers: the tensors that a module holds, those that training changes and those that it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core import dtypes, writes
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor


class _IsParameter(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and value.is_parameter


class Parameter(Tensor, metaclass=_IsParameter):
    """A tensor that a module counts among its parameters: `Parameter(torch.zeros(3))`.

    The result is an ordinary Tensor that is marked as a parameter: ops take the same fast way with it.

    Raises:
        RuntimeError: It is to require grad, but its dtype is not floating.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        array = _array(data)
        if requires_grad and array.dtype.kind not in "fcV":  # V: bfloat16, as an extension of NumPy
            raise RuntimeError(f"only Tensors of floating point dtype can require gradients, not {array.dtype}")
        made = Tensor(array, requires_grad=requires_grad)
        made.is_parameter = True
        return made


class _IsBuffer(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor) and "is_buffer" in value.__dict__


class Buffer(Tensor, metaclass=_IsBuffer):
    """A tensor that a module keeps but does not train: `self.mean = Buffer(torch.zeros(3))`.

    Args:
        data: Its elements.
        persistent: Whether it is part of the module's state dict.
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = Tensor(_array(data))
        made.__dict__.update(is_buffer=True, persistent=persistent)
        return made


def _array(data: Any) -> Any:
    if data is None:
        return np.zeros(0, dtypes.get_default_dtype())
    return data.array if isinstance(data, Tensor) else data


def blank(*size: int, dtype: Any = None) -> Any:
    """A parameter that is yet to be initialised."""
    return Parameter(np.zeros(size, dtype or dtypes.get_default_dtype())[()])


def overwrite(tensor: Tensor, values: Any) -> None:
    """Give a tensor other elements, outside the graph. A row tells the log if it has seen the tensor already.

    Args:
        tensor: Where they go; its shape and dtype stay.
        values: A tensor or an array that broadcasts to its shape.
    """
    if tensor.row >= 0:
        with no_grad():
            tensor.copy_(values if isinstance(values, Tensor) else Tensor(np.asarray(values)[()]))
        return
    values = values.array if isinstance(values, Tensor) else values
    if isinstance(tensor.array, np.ndarray):
        np.copyto(tensor.array, values, casting="unsafe")
        writes.note(tensor.array, "an initialisation")
    else:
        tensor.array = tensor.array.dtype.type(np.asarray(values).item())
    (tensor if tensor.base is None else tensor.base).version_count += 1


_answer_for(__name__)
