"""A recorded tensor as a name in expressions: an array in arithmetic, with `grad` and the rest of its node beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from graphscope.errors import CommandError

if TYPE_CHECKING:
    from graphscope.graph import Node


class Recorded(NDArrayOperatorsMixin):
    """The newest version of a tensor at a position in time."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.value, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        arrays = [given.value if isinstance(given, Recorded) else given for given in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def __getitem__(self, key: object) -> Any:
        return self.value[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.node if hasattr(type(self.node), name) else self.value, name)

    def __len__(self) -> int:
        return len(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def value(self) -> Any:
        """Its array.

        Raises:
            CommandError: The log did not keep it.
        """
        value = self.node.value
        if value is None:
            raise CommandError(
                f"The value of #{self.node.row} was not kept", "record with values='full' and a larger cap or budget"
            )
        return value
