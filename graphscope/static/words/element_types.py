"""Dtypes as TensorFlow tells of them: `tf.float32.as_numpy_dtype`, `x.dtype.base_dtype`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = [
    "DType", "as_dtype", "bool_", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32",
    "int64", "uint8",
]  # fmt: skip


class DType:
    """The type of a tensor's elements: equal to NumPy's, and taken by NumPy for it.

    Args:
        dtype: NumPy's.
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype: np.dtype = np.dtype(dtype)

    @property
    def name(self) -> str:
        """`float32`."""
        return self.dtype.name

    @property
    def as_numpy_dtype(self) -> type:
        """NumPy's class of such elements."""
        return self.dtype.type

    @property
    def base_dtype(self) -> DType:
        """Itself: a variable's tensor is of no other type than its value."""
        return self

    @property
    def real_dtype(self) -> DType:
        """That of the real part."""
        return DType(np.zeros(0, self.dtype).real.dtype)

    @property
    def size(self) -> int:
        """How many bytes an element has."""
        return self.dtype.itemsize

    itemsize = size

    @property
    def kind(self) -> str:
        """NumPy's letter for what numbers they are."""
        return self.dtype.kind

    @property
    def is_floating(self) -> bool:
        """Whether they are floating numbers."""
        return self.dtype.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether they are whole numbers."""
        return self.dtype.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether they are whole numbers without a sign."""
        return self.dtype.kind == "u"

    @property
    def is_complex(self) -> bool:
        """Whether they are complex."""
        return self.dtype.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether they are truth values."""
        return self.dtype.kind == "b"

    @property
    def max(self) -> Any:
        """The largest element there is."""
        return np.finfo(self.dtype).max if self.dtype.kind in "fc" else np.iinfo(self.dtype).max

    @property
    def min(self) -> Any:
        """The smallest element there is."""
        return np.finfo(self.dtype).min if self.dtype.kind in "fc" else np.iinfo(self.dtype).min

    def __eq__(self, other: object) -> bool:
        try:
            return self.dtype == as_numpy(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"


_PYTHONS: Final = {float: "float32", int: "int32", bool: "bool", "float": "float32", "double": "float64",
                   "half": "float16", "int": "int32"}  # fmt: skip


def as_numpy(dtype: Any) -> np.dtype:
    """NumPy's dtype for one as people give it.

    Raises:
        TypeError: It is none.
    """
    if isinstance(dtype, DType):
        return dtype.dtype
    if dtype is None:
        raise TypeError("None is no dtype")
    known = _PYTHONS.get(dtype) if isinstance(dtype, str | type) else None
    return np.dtype(known or dtype)


def as_dtype(type_value: Any) -> DType:
    """A dtype by its name, or as NumPy has it."""
    return DType(as_numpy(type_value))


float16: Final = DType("float16")
float32: Final = DType("float32")
float64: Final = DType("float64")
int8: Final = DType("int8")
int16: Final = DType("int16")
int32: Final = DType("int32")
int64: Final = DType("int64")
uint8: Final = DType("uint8")
complex64: Final = DType("complex64")
complex128: Final = DType("complex128")
bool_: Final = DType("bool")
