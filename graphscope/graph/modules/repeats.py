"""Parts that are alike and lie one behind the other: the layers of a stack, the turns of a loop."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Final

_LONGEST: Final = 8
"""A turn of a loop has so many parts at most."""

_LEAST: Final = 3
"""Two turns of several modules each are seen better side by side, unless the same modules ran again."""

_NUMBER: Final = re.compile(r"\d+")

Signature = tuple[Hashable, str]
"""What parts that are alike have in common, and the name of the module."""


def repeats(signatures: Sequence[Signature]) -> list[list[int]]:
    """The parts that are drawn as one, by their places; each in the order in which they ran.

    Modules are alike that did the same and whose names differ in nothing but their numbers.
    """
    groups: list[list[int]] = []
    place = 0
    while place < len(signatures):
        period, count = _longest(signatures, place)
        groups += [[place + part + turn * period for turn in range(count)] for part in range(period)]
        place += period * count
    return groups


def _longest(signatures: Sequence[Signature], place: int) -> tuple[int, int]:
    """The longest loop that begins at a place: how many parts a turn has, and how many turns there are."""
    best = (1, 1)
    for period in range(1, _LONGEST + 1):
        count = 1
        while _alike(signatures, place + (count - 1) * period, period):
            count += 1
        if count < 2:
            continue
        turns = (signatures[at : at + period] for at in (place, place + period))
        is_same = all(one[1] == other[1] for one, other in zip(*turns, strict=True))
        least = 2 if period == 1 or is_same else _LEAST
        if count >= least and period * count > best[0] * best[1]:
            best = period, count
    return best


def _alike(signatures: Sequence[Signature], place: int, period: int) -> bool:
    """Whether a turn of so many parts is followed by one that is like it."""
    if place + 2 * period > len(signatures):
        return False
    turn, following = signatures[place : place + period], signatures[place + period : place + 2 * period]
    if not any(name for _, name in turn):
        return False
    return all(_is_like(*pair) for pair in zip(turn, following, strict=True))


def _is_like(one: Signature, other: Signature) -> bool:
    return one[0] == other[0] and without_numbers(one[1]) == without_numbers(other[1])


def without_numbers(name: str) -> str:
    """What the names of equal layers have in common: `h.*.attn` for `h.0.attn`."""
    return _NUMBER.sub("*", name)
