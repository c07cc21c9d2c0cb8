"""Parameters in a list or under keys, so that a module knows them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, Self

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.container import Keyed
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import Parameter


def _held(value: Any) -> Any:
    """Tensors become parameters; anything else is held as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not value.is_parameter else value


def _line(key: Any, value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if value.is_parameter else "Tensor"
    size = "x".join(map(str, value.shape))
    return f"({key}): {kind} containing: [torch.{value.dtype.name} of size {size}]"


class ParameterList(Module):
    """A list of parameters; a tensor that is put in becomes one."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def _key(self, index: int) -> str:
        place = operator.index(index)
        if not -self._size <= place < self._size:
            raise IndexError(f"index {index} is out of range: ParameterList holds {self._size} parameters")
        return str(place % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._key(index), _held(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, str(number)) for number in range(self._size))

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add parameters at the end.

        Raises:
            TypeError: They are no iterable, or a single tensor.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join("  " + _line(number, value) for number, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Keyed):
    """Parameters under keys; a tensor that is put in becomes one."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')"
            )
        self._keys[key] = None
        setattr(self, key, _held(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def keys(self) -> Any:
        """The keys."""
        return self._keys.keys()

    def extra_repr(self) -> str:
        return "\n".join("  " + _line(key, value) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
