"""What there is to know about dtypes: their limits, and what becomes of two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.element_types import dtype


@dataclass(frozen=True, slots=True, init=False)
class finfo:  # noqa: N801 - PyTorch's spelling
    """The limits of a floating dtype, by default of the one that tensors have.

    Raises:
        TypeError: It is not floating.
    """

    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float
    dtype: str

    def __init__(self, type: Any = None) -> None:
        plain = np.dtype(type or dtypes.get_default_dtype())
        if plain.kind != "f":
            raise TypeError(f"finfo is of floating dtypes, not of {plain}; use iinfo")
        known = np.finfo(plain)
        values = {name: float(getattr(known, name)) for name in ("eps", "max", "min", "tiny", "smallest_normal")}
        for name, value in {**values, "bits": known.bits, "resolution": 10.0**-known.precision}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "dtype", plain.name)


@dataclass(frozen=True, slots=True, init=False)
class iinfo:  # noqa: N801 - PyTorch's spelling
    """The limits of an integer dtype.

    Raises:
        TypeError: It is no dtype of integers.
    """

    bits: int
    max: int
    min: int
    dtype: str

    def __init__(self, type: Any) -> None:
        plain = np.dtype(type)
        if plain.kind not in "iu":
            raise TypeError(f"iinfo is of integer dtypes, not of {plain}; use finfo")
        known = np.iinfo(plain)
        for name in ("bits", "max", "min"):
            object.__setattr__(self, name, int(getattr(known, name)))
        object.__setattr__(self, "dtype", plain.name)


def promote_types(type1: Any, type2: Any) -> dtype:
    """The dtype of what an op makes of tensors of these two."""
    return dtype(dtypes.wider(np.dtype(type1), np.dtype(type2)))


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a result of one dtype may be written into a tensor of another: never to a lower kind."""
    low, high = np.dtype(from_), np.dtype(to)
    return dtypes.CATEGORY[low.kind] <= dtypes.CATEGORY[high.kind]


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of what an op makes of two operands, tensors or numbers."""
    return dtype(dtypes.result_type([getattr(value, "array", value) for value in (tensor1, tensor2)]))
