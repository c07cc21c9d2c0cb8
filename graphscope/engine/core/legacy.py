"""What older programs write: `torch.Tensor(2, 3)`, `torch.FloatTensor([1, 2])`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.element_types import Size
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops import create

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor", "set_default_tensor_type",
]  # fmt: skip


def _read(data: tuple[Any, ...], dtype: Any = None) -> tuple[Any]:
    """The elements of `Tensor(*data)`: those of a list or a tensor; of sizes, zeros.

    Raises:
        TypeError: It is neither.
    """
    (first, *more) = data or (0,)
    if isinstance(first, Size) and not more:
        first, *more = first or (1,)
    if isinstance(first, Tensor) and not more:
        array = first.array
        return (array if dtype is None else array.astype(dtype, copy=False),)
    dtype = dtype or dtypes.get_default_dtype()
    if isinstance(first, list | tuple | np.ndarray) and not more:
        array = create.numbers_of(first, dtype)
        return (array if array.ndim else array[()],)
    if all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in (first, *more)):
        return (np.zeros((first, *more), dtype),)
    raise TypeError(
        f"new(): data must be a sequence (got {type(first).__name__}): write torch.tensor(...) for a number"
    )


setattr(Tensor, "_given", staticmethod(_read))  # noqa: B010


@method
def new(self: Tensor, *data: Any) -> Tensor:
    """Elements or sizes in this tensor's dtype, as `Tensor(*data)` takes them; `new_zeros` and `new_tensor` say which.

    Raises:
        TypeError: It is neither.
    """
    (array,) = _read(data, self.array.dtype)
    return Tensor(array)


class TensorType:
    """A tensor type of old, which is a dtype under another name: `torch.FloatTensor([1, 2])`.

    Attributes:
        name: PyTorch's name of it, `torch.FloatTensor`.
        dtype: NumPy's dtype.
    """

    def __init__(self, word: str, dtype: np.dtype) -> None:
        self.name = f"torch.{word}Tensor"
        self.dtype = dtype

    def __call__(self, *data: Any) -> Tensor:
        (array,) = _read(data, self.dtype)
        return Tensor(array)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Tensor) and value.array.dtype == self.dtype

    def __repr__(self) -> str:
        return f"<class '{self.name}'>"


FloatTensor: Final = TensorType("Float", dtypes.float32)
DoubleTensor: Final = TensorType("Double", dtypes.float64)
HalfTensor: Final = TensorType("Half", dtypes.float16)
ByteTensor: Final = TensorType("Byte", dtypes.uint8)
CharTensor: Final = TensorType("Char", dtypes.int8)
ShortTensor: Final = TensorType("Short", dtypes.int16)
IntTensor: Final = TensorType("Int", dtypes.int32)
LongTensor: Final = TensorType("Long", dtypes.int64)
BoolTensor: Final = TensorType("Bool", dtypes.bool_)

TYPES: Final = (
    FloatTensor, DoubleTensor, HalfTensor, ByteTensor, CharTensor, ShortTensor, IntTensor, LongTensor, BoolTensor,
    *([] if dtypes.bfloat16 is None else [TensorType("BFloat16", dtypes.bfloat16)]),
)  # fmt: skip


def set_default_tensor_type(t: Any) -> None:
    """Set the dtype of tensors made from Python floats, by a type or its name: `torch.DoubleTensor`.

    Raises:
        TypeError: It is no such type, or none of floating numbers.
    """
    found = next((kind for kind in TYPES if t in (kind, kind.name)), None)
    if found is None:
        raise TypeError(f"invalid type object: {t!r}; choose torch.FloatTensor or torch.DoubleTensor")
    dtypes.set_default_dtype(found.dtype)
