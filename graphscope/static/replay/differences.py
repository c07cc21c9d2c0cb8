"""Central differences of what a stretch computes, weighted by cotangents, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from graphscope.static.replay.stretches import Stretch

STEP: Final = 1e-6
"""In relation to a value; the next term of the series is so small then that float32 does not see it."""

_CLOSER: Final = 1 / 16
_DIRECTIONS: Final = 16

_KINK: Final = 1e-3
"""Slopes to both sides of a kink differ by so much of what they are sums of, at least."""

Element = tuple[int, ...]
"""The place of an element in an array."""


@dataclass(frozen=True)
class Differences:
    """A stretch at one point.

    Attributes:
        stretch: What is computed, in float64.
        values: Those of the inputs.
        cotangents: For each output, how much an element of it counts.
    """

    stretch: Stretch
    values: Sequence[np.ndarray]
    cotangents: Sequence[np.ndarray]

    @cached_property
    def outputs(self) -> list[np.ndarray]:
        """What comes of the values as they are."""
        return self.stretch.run(self.values)

    def gradient(self, number: int, element: Element) -> complex:
        """The gradient of one element of an input; of a complex one as PyTorch has it."""
        value = self.values[number]
        unit, step = _unit(value, element), self._step(number, element)
        real = self.slope(number, unit, step)
        return complex(real, self.slope(number, unit * 1j, step) if np.iscomplexobj(value) else 0.0)

    def weight(self, number: int, element: Element) -> float:
        """What the gradient of an element would be if nothing in its sum cancelled out."""
        unit, step = _unit(self.values[number], element), self._step(number, element)
        ahead = self._moved(number, step * unit)
        return self._way(ahead, self.outputs, np.abs) / step

    def off(self, number: int, gradient: np.ndarray) -> float:
        """By how much a gradient is off along random directions: these tell of all elements at once.

        Where the slopes to both sides of a direction are as far from each other, kinks lie on it: it tells nothing.
        """
        numbers = np.random.default_rng(0)
        step = STEP * max(1.0, float(np.abs(self.values[number]).max(initial=0)))
        found = 0.0
        for _ in range(_DIRECTIONS):
            direction = numbers.choice([-1.0, 1.0], gradient.shape)
            if np.iscomplexobj(gradient):
                direction = direction * numbers.choice([1.0, 1j], gradient.shape)
            expected = float(np.sum((np.conj(gradient) * direction).real))
            ahead = self._way(self._moved(number, step * direction), self.outputs) / step
            behind = self._way(self.outputs, self._moved(number, -step * direction)) / step
            gap = abs((ahead + behind) / 2 - expected)
            found = max(found, gap if gap > abs(ahead - behind) else 0.0)
        return found

    def slope(self, number: int, direction: np.ndarray, step: float) -> float:
        """How fast the weighted outputs grow along a direction."""
        ahead, behind = self._moved(number, step * direction), self._moved(number, -step * direction)
        return self._way(ahead, behind) / (2 * step)

    def is_kink(self, number: int, element: Element) -> bool:
        """Whether the slopes to both sides of an element differ, and no less so closer by."""
        least = _KINK * max(self.weight(number, element), 1e-30)
        parts = [1.0, 1j] if np.iscomplexobj(self.values[number]) else [1.0]
        bends = ([self._bend(number, element, part, share) for share in (1.0, _CLOSER)] for part in parts)
        return any(closer > max(0.5 * bend, least) for bend, closer in bends)

    def _bend(self, number: int, element: Element, part: complex, share: float) -> float:
        """By how much the slopes to both sides differ."""
        step = self._step(number, element) * share
        direction = _unit(self.values[number], element) * part
        ahead = self._way(self._moved(number, step * direction), self.outputs)
        behind = self._way(self.outputs, self._moved(number, -step * direction))
        return abs(ahead - behind) / step

    def _step(self, number: int, element: Element) -> float:
        return STEP * max(1.0, float(np.abs(self.values[number][element])))

    def _moved(self, number: int, change: np.ndarray) -> list[np.ndarray]:
        values = list(self.values)
        values[number] = values[number] + change
        return self.stretch.run(values)

    def _way(
        self,
        ahead: Sequence[np.ndarray],
        behind: Sequence[np.ndarray],
        each: Callable[[np.ndarray], np.ndarray] = np.real,
    ) -> float:
        """What the cotangents make of the way from some outputs to others: the sum of `each` product."""
        pairs = zip(self.cotangents, ahead, behind, strict=True)
        ways = [(g, one - other) for g, one, other in pairs if one.dtype.kind in "fc"]
        return sum(float(np.sum(each(np.conj(g) * way))) for g, way in ways)


def _unit(like: np.ndarray, element: Element) -> np.ndarray:
    found = np.zeros(like.shape, like.dtype)
    found[element] = 1
    return found
