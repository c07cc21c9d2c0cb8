"""Columns for the spots of layers: each as near as possible above and below what it is joined to, none over another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_SWEEPS: Final = 8
_STRAIGHT: Final = 8.0
"""So much more than a box, a place where an edge passes wants to be in line with its neighbours."""


def columns(
    layers: Sequence[Sequence[int]], edges: Sequence[tuple[int, int, str]], widths: Mapping[int, int], gap: int
) -> dict[int, int]:
    """The first column of each spot, from 0 on.

    Args:
        layers: The spots of each layer, from left to right; below 0 places where edges pass.
        edges: From, to, and of what kind.
        widths: The cells of each spot.
        gap: The cells between two spots.
    """
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for upper, lower, _ in edges:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    lefts: dict[int, float] = {}
    for layer in layers:
        x = -(sum(widths[spot] for spot in layer) + gap * (len(layer) - 1)) / 2
        for spot in layer:
            lefts[spot] = x
            x += widths[spot] + gap
    for sweep in range(_SWEEPS):
        joined = (above, below)[sweep % 2]
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wished = [_wish(spot, joined.get(spot, ()), lefts, widths) for spot in layer]
            lefts.update(zip(layer, _apart(layer, wished, widths, gap), strict=True))
    least = min(lefts.values(), default=0.0)
    return {spot: round(left - least) for spot, left in lefts.items()}


def _wish(
    spot: int, joined: Sequence[int], lefts: Mapping[int, float], widths: Mapping[int, int]
) -> tuple[float, float]:
    """Where a spot wants to begin, and how much."""
    if not joined:
        return lefts[spot], 0.1
    middles = [lefts[other] + widths[other] / 2 for other in joined]
    passing = [middle for other, middle in zip(joined, middles, strict=True) if other < 0]
    if spot < 0 and passing:
        return passing[0] - 0.5, _STRAIGHT
    boxes = [middle for other, middle in zip(joined, middles, strict=True) if other >= 0] or middles
    return sum(boxes) / len(boxes) - widths[spot] / 2, 1.0


def _apart(layer: Sequence[int], wished: list[tuple[float, float]], widths: Mapping[int, int], gap: int) -> list[float]:
    """The places next to those that are wished for at which nothing lies over another: pools of those that touch."""
    offsets, offset = [], 0
    for spot in layer:
        offsets.append(offset)
        offset += widths[spot] + gap
    pools: list[list[float]] = []
    for (left, weight), before in zip(wished, offsets, strict=True):
        pools.append([left - before, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            place, weighs, count = pools.pop()
            total = pools[-1][1] + weighs
            pools[-1] = [(pools[-1][0] * pools[-1][1] + place * weighs) / total, total, pools[-1][2] + count]
    places = [place for place, _, count in pools for _ in range(int(count))]
    return [place + before for place, before in zip(places, offsets, strict=True)]
