"""Recorded gradients of a framework's calls against central differences of what these compute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.replay import dependence, recorded_gradients
from graphscope.static.replay.recorded_gradients import Passed
from graphscope.static.replay.stretches import Place, Stretch, recorded, stretch_of, where

if TYPE_CHECKING:
    from graphscope.graph import Edge, Node

_MOST_ELEMENTS: Final = 256
"""Of larger inputs so many elements are looked at, and as many sums of all of them."""
_DIRECTIONS: Final = 16
_STEP: Final = 6e-6
"""The third root of what float64 rounds off: where errors of rounding and of the next term are alike."""

_EPSILON: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}
_ROUNDINGS: Final = 256
_ROUNDINGS_OF_HALF: Final = 16
"""A gradient may be off by so many roundings of its largest element: sums of thousands of terms are."""


@dataclass(frozen=True)
class Judgement:
    """What comes of one input.

    Attributes:
        edge: The input.
        size: The norm of the recorded gradient; None where there is none.
        gap: How far it is from differences, in relation to the largest element of both; None where it was not judged.
        agrees: Whether they are the same but for rounding; None where that can't be told.
        remark: The element that is farthest off, or why it can't be told.
    """

    edge: Edge
    size: float | None
    gap: float | None
    agrees: bool | None
    remark: str = ""


def judge(node: Node) -> list[Judgement]:
    """Compare what backward gave for each input of a call with differences of its forward function.

    Raises:
        StaticError: It can't run again, or no backward pass has come by.
    """
    passed = recorded_gradients.newest(node)
    if passed is None:
        raise StaticError(
            f"no gradient has reached {where(node)} up to now: there is nothing to check",
            hint="go on to behind the backward pass",
        )
    stretch = stretch_of(node)
    values = [recorded(node.graph.node(row), slot) for row, slot in stretch.inputs]
    expected = [recorded(node, slot) for slot in range(len(node.outputs))]
    _assert_repeats(node, stretch, values, expected)
    edges = {(edge.source.row, edge.slot): edge for edge in reversed(node.inputs)}
    case = _Case(node, stretch, values, passed)
    return [case.judged(place, edges[place]) for place in stretch.inputs]


def _assert_repeats(
    node: Node, stretch: Stretch, values: Sequence[np.ndarray], expected: Sequence[np.ndarray]
) -> None:
    """See that a call gives what it gave."""
    for found, value in zip(stretch.run(values), expected, strict=True):
        scale = float(np.abs(value[np.isfinite(value)]).max(initial=0)) if value.dtype.kind in "fc" else 0
        if found.shape != value.shape or not np.allclose(found, value, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
            raise StaticError(
                f"{where(node)} does not give what was recorded when it runs again: it can't be judged",
                hint="it draws random numbers, or its inputs were written since",
            )


class _Case:
    """One call, in float64."""

    def __init__(self, node: Node, stretch: Stretch, values: Sequence[np.ndarray], passed: Passed) -> None:
        self.node = node
        self.passed = passed
        self.stretch = Stretch(stretch.executor, stretch.steps, stretch.inputs, stretch.outputs, precise=True)
        self.values = [_doubled(value) for value in values]
        self.outputs = self.stretch.run(self.values)
        self.cotangents = [
            np.zeros(out.shape) if given is None else _doubled(given)
            for given, out in zip(passed.cotangents, self.outputs, strict=True)
        ]
        self.narrow = not self.stretch.dtypes(self.values).isdisjoint(_EPSILON)
        """Whether something is computed in less than float64 all the same."""

    def judged(self, place: Place, edge: Edge) -> Judgement:
        number = self.stretch.inputs.index(place)
        gradient = self.passed.gradients.get(place)
        value = self.values[number]
        if value.dtype.kind not in "fc":
            return Judgement(edge, None, None, None, f"{edge.source.outputs[edge.slot][1]} has no gradient")
        if place in self.passed.unknown:
            return Judgement(edge, None, None, None, self.passed.unknown[place])
        if gradient is None and not recorded_gradients.wants_gradient(edge):
            return Judgement(edge, None, None, None, "needs no gradient")
        if self.narrow:
            return Judgement(edge, None, None, None, "something of it is computed in less than float64")
        given = np.zeros(value.shape, value.dtype) if gradient is None else _doubled(gradient)
        if given.shape != value.shape:
            return Judgement(
                edge, _norm(given), None, False, f"a gradient of shape {given.shape} for a value of {value.shape}"
            )
        if not all(np.isfinite(each).all() for each in (given, value, *self.outputs, *self.cotangents)):
            return Judgement(edge, _norm(given), None, None, "there are NaN or Inf")
        return self._compared(edge, number, given, is_none=gradient is None)

    def _compared(self, edge: Edge, number: int, given: np.ndarray, is_none: bool) -> Judgement:
        size = None if is_none else _norm(given)
        places = list(_chosen(given))
        slopes = np.array([self._element(number, place) for place in places], dtype=given.dtype)
        own = np.array([given[place] for place in places], dtype=given.dtype)
        scale = max(float(np.abs(given).max(initial=0)), float(np.abs(slopes).max(initial=0)))
        room = self._room(edge, scale, number)
        off = np.abs(own - slopes)
        sums = self._sums(number, given) if len(places) < given.size else 0.0
        worst = int(off.argmax()) if len(off) else 0
        gap = max(float(off.max(initial=0)), sums) / (scale or 1.0)
        if off.max(initial=0) <= room and sums <= room * np.sqrt(given.size):
            return Judgement(edge, size, gap, True, "none, and none is due" if is_none else "")
        kinks = [self._is_kink(number, places[each]) for each in np.flatnonzero(off > room)[:64]]
        if kinks and all(kinks):
            rest = off[off <= room]
            where_ = f"not differentiable at {len(kinks)} of {len(off)} elements"
            return Judgement(edge, size, float(rest.max(initial=0)) / (scale or 1.0), None, where_)
        if not slopes.any() and not dependence.is_smooth(self.stretch, self.stretch.inputs[number]):
            return Judgement(edge, size, None, None, "it is flat here: differences tell nothing of a rule that goes through steps")
        if kinks:
            flat = np.flatnonzero(off > room)[:64]
            steady = [each for each, kink in zip(flat, kinks, strict=True) if not kink]
            worst = max(steady, key=lambda each: off[each])
        reads = dependence.read_as_numbers(self.node)
        if reads:
            return Judgement(edge, size, gap, None, reads)
        if is_none:
            return Judgement(edge, None, gap, False, f"backward gives None, differences give {slopes[worst]:.6g}")
        at = f"[{', '.join(map(str, places[worst]))}] is" if given.ndim else "it is"
        return Judgement(edge, size, gap, False, f"{at} {own[worst]:.6g}, differences give {slopes[worst]:.6g}")

    def _room(self, edge: Edge, scale: float, number: int) -> float:
        """By how much a right gradient may be off."""
        dtypes = {dtype for each in (*self.stretch.steps, *(e.source for e in self.node.inputs)) for _, dtype in each.outputs}
        epsilon = max((_EPSILON[dtype] for dtype in dtypes if dtype in _EPSILON), default=2.0**-40)
        natural = max((float(np.abs(g).max(initial=0)) for g in self.cotangents), default=0.0)
        sizes = max((float(np.abs(out).max(initial=0)) for out in self.outputs if out.dtype.kind in "fc"), default=0.0)
        natural *= sizes / max(1.0, float(np.abs(self.values[number]).max(initial=0)))
        roundings = _ROUNDINGS_OF_HALF if epsilon > 1e-5 else _ROUNDINGS
        return epsilon * roundings * max(scale, natural * 0.25) + 1e-7 * scale + 1e-12

    def _element(self, number: int, place: tuple[int, ...], step: float = _STEP) -> complex | float:
        value = self.values[number]
        step *= max(1.0, float(np.abs(value[place])))
        real = self._slope(number, _unit(value, place), step)
        return real + 1j * self._slope(number, _unit(value, place) * 1j, step) if np.iscomplexobj(value) else real

    def _sums(self, number: int, given: np.ndarray) -> float:
        """By how much slopes along random directions are off, which tell of all elements at once."""
        numbers = np.random.default_rng(0)
        gap = 0.0
        for _ in range(_DIRECTIONS):
            direction = numbers.choice([-1.0, 1.0], given.shape)
            if np.iscomplexobj(given):
                direction = direction * numbers.choice([1.0, 1j], given.shape)
            slope = self._slope(number, direction, _STEP * max(1.0, float(np.abs(self.values[number]).max(initial=0))))
            gap = max(gap, abs(slope - float(np.sum((np.conj(given) * direction).real))))
        return gap

    def _slope(self, number: int, direction: np.ndarray, step: float) -> float:
        ahead, behind = self._moved(number, step * direction), self._moved(number, -step * direction)
        return self._along(ahead, behind) / (2 * step)

    def _is_kink(self, number: int, place: tuple[int, ...]) -> bool:
        """Whether slopes to both sides differ, and no less so closer by."""
        parts = [1.0, 1j] if np.iscomplexobj(self.values[number]) else [1.0]
        return any(self._bend(number, place, part, 1) > 0 for part in parts) and any(
            self._bend(number, place, part, 1 / 16) > 0.5 * self._bend(number, place, part, 1) > 1e-4 for part in parts
        )

    def _bend(self, number: int, place: tuple[int, ...], part: complex, share: float) -> float:
        value = self.values[number]
        step = _STEP * share * max(1.0, float(np.abs(value[place])))
        direction = _unit(value, place) * part
        ahead = self._along(self._moved(number, step * direction), self.outputs) / step
        behind = self._along(self.outputs, self._moved(number, -step * direction)) / step
        return abs(ahead - behind) / max(abs(ahead), abs(behind), 1e-12)

    def _moved(self, number: int, change: np.ndarray) -> list[np.ndarray]:
        values = list(self.values)
        values[number] = values[number] + change
        return self.stretch.run(values)

    def _along(self, ahead: Sequence[np.ndarray], behind: Sequence[np.ndarray]) -> float:
        """What the cotangents make of the way from some outputs to others."""
        total = 0.0
        for g, one, other in zip(self.cotangents, ahead, behind, strict=True):
            if one.dtype.kind in "fc":
                total += float(np.sum((np.conj(g) * (one - other)).real))
        return total


def _chosen(array: np.ndarray) -> Iterable[tuple[int, ...]]:
    if array.size <= _MOST_ELEMENTS:
        return np.ndindex(array.shape)
    flat = np.random.default_rng(0).choice(array.size, _MOST_ELEMENTS, replace=False)
    return [tuple(map(int, np.unravel_index(each, array.shape))) for each in sorted(flat)]


def _unit(like: np.ndarray, place: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(like.shape, like.dtype)
    found[place] = 1
    return found


def _doubled(value: np.ndarray) -> np.ndarray:
    return value.astype({"f": np.float64, "c": np.complex128}.get(value.dtype.kind, value.dtype))


def _norm(array: np.ndarray) -> float:
    return float(np.linalg.norm(array.reshape(-1)))
