"""How large a terminal is, in the names that the style sheet knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

SMALLEST: Final = (60, 16)
WIDTHS: Final = ((0, "-tiny"), (SMALLEST[0], "-slim"), (76, "-narrow"), (110, "-middle"), (150, "-wide"))
"""From so many columns on."""
HEIGHTS: Final = ((0, "-flat"), (SMALLEST[1], "-short"), (30, "-tall"))
"""From so many lines on."""


def classes(size: tuple[int, int]) -> Iterator[str]:
    """The classes that a size stands for: with these from the start, the first picture is made but once."""
    for extent, limits in zip(size, (WIDTHS, HEIGHTS), strict=True):
        yield next(name for limit, name in reversed(limits) if extent >= limit)


def is_enough(width: int, height: int) -> bool:
    """Whether there is room for a screen."""
    return width >= SMALLEST[0] and height >= SMALLEST[1]


def complaint(width: int, height: int, times: str) -> str:
    """What is said where there is not."""
    least = f"{SMALLEST[0]}{times}{SMALLEST[1]}"
    return f"graphscope needs a terminal of {least};\nthis one is {width}{times}{height}.\nMake it larger, or q leaves."
