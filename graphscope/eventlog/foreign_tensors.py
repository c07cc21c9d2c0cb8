"""Tensors of other libraries: an adapter registers what finds the row that one comes from, and reads its elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np


@dataclass(frozen=True)
class TensorReader:
    """What an adapter knows of a tensor that the program still holds, also when the recording has ended."""

    row: Callable[[Any], int]
    """The row of its newest version as producers count them; -1 where no recording has met it."""
    array: Callable[[Any], np.ndarray | None]
    """Its elements, bfloat16 and the like as float32; None where they can't be had. Nothing of this is recorded."""


TENSOR_READERS: Final[dict[str, TensorReader]] = {}
"""By the name of the library whose tensors they read."""


def reader_of(tensor: Any) -> TensorReader | None:
    """The reader of a tensor, if there is one for its library."""
    libraries = (each.__module__.partition(".")[0] for each in type(tensor).__mro__)
    return next((TENSOR_READERS[library] for library in libraries if library in TENSOR_READERS), None)


def row_of(tensor: Any) -> int | None:
    """The row of the newest version of a tensor, ours or another library's, as producers count them; None without."""
    reader = reader_of(tensor)
    row = getattr(tensor, "row", None) if reader is None else reader.row(tensor)
    return row if isinstance(row, int) and row >= 0 else None
