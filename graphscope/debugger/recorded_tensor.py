"""A recorded tensor as a name in expressions: an array in arithmetic, with `grad` and the rest of its node beside."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import CommandError
from graphscope.eventlog.presenting import presented
from graphscope.eventlog.values import advice

if TYPE_CHECKING:
    from graphscope.graph import Node


class Recorded:
    """The newest version of a tensor at a position in time; operators and methods are those of its value."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._kept(self.node.value), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        arrays = [np.asarray(given) if isinstance(given, Recorded) else given for given in inputs]
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
        """Its array, or the tensor that it is in the program that recorded it.

        Raises:
            CommandError: The log did not keep it.
        """
        return self._kept(self.presented)

    @property
    def presented(self) -> Any:
        """The same; None where the log did not keep it."""
        return presented(self.node.graph.log.path, self.node.value, self.node.dtype)

    @property
    def grad(self) -> Any:
        """Its gradient at this position in time, as far as it has arrived; None where there is none."""
        return presented(self.node.graph.log.path, self.node.grad, self.node.dtype)

    def _kept(self, value: Any) -> Any:
        if value is None:
            raise CommandError(f"The value of #{self.node.row} was not kept", advice(self.node.dtype))
        return value


def _plain(value: object) -> Any:
    return value.value if isinstance(value, Recorded) else value


def _of_one(apply: Callable[[Any], Any]) -> Callable[[Recorded], Any]:
    return lambda self: apply(self.value)


def _of_two(apply: Callable[[Any, Any], Any]) -> Callable[[Recorded, object], Any]:
    return lambda self, other: apply(self.value, _plain(other))


def _reflected(apply: Callable[[Any, Any], Any]) -> Callable[[Recorded, object], Any]:
    return lambda self, other: apply(_plain(other), self.value)


_ARITHMETIC: Final = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
)  # fmt: skip

for _name in _ARITHMETIC:
    setattr(Recorded, f"__{_name.rstrip('_')}__", _of_two(getattr(operator, _name)))
    setattr(Recorded, f"__r{_name.rstrip('_')}__", _reflected(getattr(operator, _name)))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Recorded, f"__{_name}__", _of_two(getattr(operator, _name)))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Recorded, f"__{_name}__", _of_one(getattr(operator, _name)))
