"""What is not there yet: an array of which only shape and dtype are known, and the error of code that needs numbers."""

from __future__ import annotations

import math
from typing import Any

from graphscope.errors import StaticError


class NeedsValueError(StaticError, TypeError):
    """Something looked at the numbers of a tensor that has none yet."""


class Abstract:
    """What is known of an array that is not there yet."""

    __slots__ = ("dtype", "shape")
    __array_ufunc__ = None

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __getattr__(self, name: str) -> Any:
        raise NeedsValueError(f"`.{name}` of an array that is not there yet")
