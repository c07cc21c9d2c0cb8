"""Central differences of what a stretch computes, weighted by cotangents, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from graphscope.static.replay.stretches import Stretch

STEP: Final = 6e-6
"""The third root of what float64 rounds off: errors of rounding and of the next term are alike then."""

_CLOSER: Final = 1 / 16
_DIRECTIONS: Final = 16

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
        unit, step = _unit(value, element), STEP * max(1.0, float(np.abs(value[element])))
        real = self.slope(number, unit, step)
        return complex(real, self.slope(number, unit * 1j, step) if np.iscomplexobj(value) else 0.0)

    def off(self, number: int, gradient: np.ndarray) -> float:
        """By how much a gradient is off along random directions: these tell of all elements at once."""
        numbers = np.random.default_rng(0)
        step = STEP * max(1.0, float(np.abs(self.values[number]).max(initial=0)))
        found = 0.0
        for _ in range(_DIRECTIONS):
            direction = numbers.choice([-1.0, 1.0], gradient.shape)
            if np.iscomplexobj(gradient):
                direction = direction * numbers.choice([1.0, 1j], gradient.shape)
            expected = float(np.sum((np.conj(gradient) * direction).real))
            found = max(found, abs(self.slope(number, direction, step) - expected))
        return found

    def slope(self, number: int, direction: np.ndarray, step: float) -> float:
        """How fast the weighted outputs grow along a direction."""
        ahead, behind = self._moved(number, step * direction), self._moved(number, -step * direction)
        return self._way(ahead, behind) / (2 * step)

    def is_kink(self, number: int, element: Element) -> bool:
        """Whether the slopes to both sides of an element differ, and no less so closer by."""
        parts = [1.0, 1j] if np.iscomplexobj(self.values[number]) else [1.0]
        return any(
            self._bend(number, element, part, _CLOSER) > max(0.5 * self._bend(number, element, part, 1.0), 1e-4)
            for part in parts
        )

    def _bend(self, number: int, element: Element, part: complex, share: float) -> float:
        """By how much the slopes to both sides differ, in relation to them."""
        value = self.values[number]
        step = STEP * share * max(1.0, float(np.abs(value[element])))
        direction = _unit(value, element) * part
        ahead = self._way(self._moved(number, step * direction), self.outputs)
        behind = self._way(self.outputs, self._moved(number, -step * direction))
        return abs(ahead - behind) / max(abs(ahead), abs(behind), 1e-9 * step)

    def _moved(self, number: int, change: np.ndarray) -> list[np.ndarray]:
        values = list(self.values)
        values[number] = values[number] + change
        return self.stretch.run(values)

    def _way(self, ahead: Sequence[np.ndarray], behind: Sequence[np.ndarray]) -> float:
        """What the cotangents make of the way from some outputs to others."""
        pairs = zip(self.cotangents, ahead, behind, strict=True)
        return sum(
            float(np.sum((np.conj(g) * (one - other)).real)) for g, one, other in pairs if one.dtype.kind in "fc"
        )


def _unit(like: np.ndarray, element: Element) -> np.ndarray:
    found = np.zeros(like.shape, like.dtype)
    found[element] = 1
    return found
