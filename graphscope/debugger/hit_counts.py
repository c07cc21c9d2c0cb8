"""Which hits of a breakpoint or watch stop: `5`, `>= 5`, `% 5`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from graphscope.errors import CommandError

_WHEN = re.compile(r"\s*(==?|>=?|<=?|%)?\s*(\d+)\s*")


def hits_that_stop(when: str) -> Callable[[int], bool]:
    """Which hits stop, by their number.

    Raises:
        CommandError: The condition is not understood.
    """
    found = _WHEN.fullmatch(when)
    if found is None or (found[1] == "%" and int(found[2]) == 0):
        raise CommandError(f"{when!r} does not say which hits stop", "for example: 5, >= 5, % 5 for every fifth")
    return partial(_HITS[found[1] or "=="], int(found[2]))


_HITS: Final[dict[str, Callable[[int, int], bool]]] = {
    "==": lambda number, hits: hits == number,
    "=": lambda number, hits: hits == number,
    ">=": lambda number, hits: hits >= number,
    ">": lambda number, hits: hits > number,
    "<=": lambda number, hits: hits <= number,
    "<": lambda number, hits: hits < number,
    "%": lambda number, hits: hits % number == 0,
}
