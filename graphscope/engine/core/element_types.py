"""Dtypes as people know them: `torch.float32`. They stand for NumPy's, which is what arrays have and ops work with."""

from __future__ import annotations

from typing import Any, Final, Self, cast

import numpy as np

from graphscope.engine.core import dtypes

KNOWN: Final[dict[np.dtype, Any]] = {}
"""The one of each of NumPy's."""
_set = object.__setattr__


class dtype:  # noqa: N801 - PyTorch's spelling
    """The type of a tensor's elements, such as `torch.float32`.

    It equals NumPy's dtype and scalar type of the same kind, NumPy takes it wherever it takes a dtype, and what NumPy
    knows of its own (`name`, `type`) it tells too: a rule of an op asks tensors and arrays alike.

    Attributes:
        dtype: NumPy's dtype.
        itemsize: How many bytes an element takes.
        kind: NumPy's letter for it: b, i, u, f, c, or V of bfloat16.
        is_floating_point: Whether its numbers are floating; `is_complex` and `is_signed` likewise.
    """

    __slots__ = ("_name", "dtype", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind")

    dtype: np.dtype
    itemsize: int
    kind: str
    is_floating_point: bool
    is_complex: bool
    is_signed: bool
    _name: str

    def __new__(cls, of: Any) -> Self:
        plain = np.dtype(of)
        known = KNOWN.get(plain)
        if known is None:
            known = KNOWN[plain] = object.__new__(cls)
            _set(known, "dtype", plain)
            _set(known, "itemsize", plain.itemsize)
            _set(known, "kind", plain.kind)  # asked for often, so at hand
            _set(known, "is_floating_point", plain.kind in "fV")  # V: bfloat16, as an extension of NumPy
            _set(known, "is_complex", plain.kind == "c")
            _set(known, "is_signed", plain.kind in "ifcV")
            _set(known, "_name", plain.name)
        return cast(Self, known)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a dtype is what it is: {name} can't be set")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dtype | np.dtype):
            return self is other or self.dtype == other
        return isinstance(other, type) and issubclass(other, np.generic) and self.dtype == other

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> Any:
        return dtype, (self._name,)


float16: Final = dtype(dtypes.float16)
float32: Final = dtype(dtypes.float32)
float64: Final = dtype(dtypes.float64)
int8: Final = dtype(dtypes.int8)
int16: Final = dtype(dtypes.int16)
int32: Final = dtype(dtypes.int32)
int64: Final = dtype(dtypes.int64)
uint8: Final = dtype(dtypes.uint8)
bool_: Final = dtype(dtypes.bool_)
complex64: Final = dtype(np.complex64)
complex128: Final = dtype(np.complex128)


class _Absent(dtype):
    """A dtype that can be named, and compared with others, but not used here.

    Raises:
        TypeError: NumPy asks what it is.
    """

    __slots__ = ("_needs",)

    def __new__(cls, name: str, itemsize: int, needs: str) -> Self:
        made = object.__new__(cls)
        told = {"itemsize": itemsize, "kind": "V", "is_floating_point": True, "is_complex": False, "is_signed": True}
        for attribute, value in {**told, "_name": name, "_needs": needs}.items():
            _set(made, attribute, value)
        return made

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        raise TypeError(f"{self._name} needs the package {self._needs}: pip install {self._needs}")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


bfloat16: Final = dtype(dtypes.bfloat16) if dtypes.bfloat16 is not None else _Absent("bfloat16", 2, "ml_dtypes")


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats."""
    return dtype(dtypes.get_default_dtype())


class Size(tuple[int, ...]):
    """A shape: a tuple that prints as PyTorch's, `torch.Size([2, 3])`."""

    __slots__ = ()

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        count = 1
        for size in self:
            count *= size
        return count

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if index.__class__ is slice else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return Size(tuple.__mul__(self, times))

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"
