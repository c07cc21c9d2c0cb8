"""What a random program has at hand: its tensors as PyTorch sees them, and choices among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

_Any = TypeVar("_Any")

LARGEST = 64
"""Tensors of more elements, or more than MOST_DIMS dims, are used no further."""
MOST_DIMS = 4
SCALARS_ARE_MEMORY = True
"""Whether a tensor of no dims is written into as others are. This engine keeps its number as a value: a write makes
another, which a view that was taken before does not see, and no rule that had saved the old one goes wrong."""
TOO_LARGE = 1e4
"""Numbers beyond this are used no further: errors would grow with them until nothing can be compared."""


class Choice(Protocol):
    """Where choices come from: a seeded generator, or hypothesis."""

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class Pool:
    """The tensors of a program.

    Args:
        choice: Where choices come from.
        names: The names of the program as it runs on PyTorch.
        ours: Those as it runs on this engine.
    """

    def __init__(self, choice: Choice, names: dict[str, Any], ours: dict[str, Any]) -> None:
        self._choice = choice
        self.names = names
        self.ours = ours
        self.made = 0

    def new(self) -> str:
        """A name that the program has not used yet."""
        self.made += 1
        return f"x{self.made - 1}"

    # Choices ---------------------------------------------------------------------------------------------------------

    def one(self, things: Sequence[_Any]) -> _Any:
        """One of several."""
        return things[self._choice.integer(0, len(things) - 1)]

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self._choice.integer(low, high)

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self._choice.integer(1, 100) <= percent

    def number(self) -> float:
        """A number with few digits, different from 0."""
        return (self._choice.integer(0, 1) * 2 - 1) * (self._choice.integer(1, 40) / 16 + 0.03)

    # Tensors ---------------------------------------------------------------------------------------------------------

    def tensors(self, fits: Callable[[Any], bool] = lambda tensor: True) -> list[str]:
        """The names of tensors of floats that can be computed with."""
        return [
            name for name, value in self.names.items() if name[0] == "x" and name[1:].isdigit() and usable(value)
            and fits(value)
        ]  # fmt: skip

    def tensor(self, fits: Callable[[Any], bool] = lambda tensor: True) -> str | None:
        """One of them; the newer half is preferred. None when there is none."""
        found = self.tensors(fits)
        if not found:
            return None
        if self.chance(60):
            found = found[len(found) // 2 :]
        return self.one(found)

    def beside(self, name: str, *, apart: bool = False) -> str:
        """An operand that goes with a tensor: one that broadcasts with it mostly, else any, or a number.

        Args:
            name: The tensor.
            apart: Take none that shares memory with it.
        """
        tensor = self.names[name]
        shape, memory = tuple(tensor.shape), tensor.untyped_storage().data_ptr()
        if self.chance(15):
            return f"{self.number()}"
        anything = self.chance(4)
        found = self.tensor(
            lambda other: (
                (anything or fit_together(shape, tuple(other.shape)))
                and not (apart and other.untyped_storage().data_ptr() == memory)
            )
        )
        return found or f"{self.number()}"

    def sharing(self, tensor: Any) -> list[Any]:
        """The tensors that share a tensor's memory, itself included."""
        memory = tensor.untyped_storage().data_ptr()
        values = [value for name, value in self.names.items() if name[0] == "x" and hasattr(value, "untyped_storage")]
        return [value for value in values if value.untyped_storage().data_ptr() == memory]

    def writable(self, tensor: Any) -> bool:
        """Whether it can be written into as PyTorch wants it."""
        sharing = self.sharing(tensor)
        if not all(map(each_in_its_place, sharing)):
            return False
        if not tensor.requires_grad and any(each.requires_grad and each._is_view() for each in sharing):
            return False  # PyTorch would give that view another way back, from its base
        return SCALARS_ARE_MEMORY or all(each.ndim for each in sharing)

    def alone(self, tensor: Any) -> bool:
        """Whether it can be written into, and nobody else shares its memory."""
        return self.writable(tensor) and len(self.sharing(tensor)) == 1

    def lies_the_same(self, name: str) -> bool:
        """Whether a tensor has the same strides in both engines: else one may copy where the other makes a view."""
        tensor, array = self.names[name], np.asarray(self.ours[name].array)
        steps = zip(tensor.shape, tensor.stride(), array.strides, strict=True)
        return all(size <= 1 or step * array.itemsize == stride for size, step, stride in steps)

    def dim(self, name: str) -> int:
        """A dim of a tensor, counted from either end; sometimes one that it has not."""
        count = self.names[name].ndim
        if self.chance(2) and self.names[name].numel():
            return count + 1
        return self.integer(-count, count - 1) if count else self.integer(-1, 0)

    def shape_of_as_many(self, count: int) -> list[int]:
        """A shape with so many elements."""
        sizes: list[int] = []
        left = count
        for _ in range(self.integer(0, 2)):
            if left > 1:
                size = self.one([each for each in range(1, left + 1) if left % each == 0])
                sizes.append(size)
                left //= size
        return [*sizes, left]


def usable(value: Any) -> bool:
    """Whether a tensor is one to compute with: of floats, small, and with numbers of moderate size."""
    if not hasattr(value, "requires_grad") or not value.is_floating_point():
        return False
    if value.numel() > LARGEST or value.ndim > MOST_DIMS:
        return False
    numbers = value.numpy(force=True)
    return bool(np.isfinite(numbers).all() and (numbers.size == 0 or np.abs(numbers).max() < TOO_LARGE))


def each_in_its_place(value: Any) -> bool:
    """Whether each element has memory of its own: PyTorch refuses to write where some share theirs."""
    return all(step or size <= 1 for size, step in zip(value.shape, value.stride(), strict=True))


def fit_together(left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))
