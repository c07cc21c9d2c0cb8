"""Who knows the tensors of other libraries: an adapter tells which row one comes from, and what its elements are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np


@dataclass(frozen=True)
class Witness:
    """What an adapter knows of a tensor that the program still holds, also when the recording has ended."""

    row: Callable[[Any], int]
    """The row of its newest version as producers count them; -1 where no recording has met it."""
    array: Callable[[Any], np.ndarray | None]
    """Its elements, bfloat16 and the like as float32; None where they can't be had. Nothing of this is recorded."""


WITNESSES: Final[dict[str, Witness]] = {}
"""By the name of the library whose tensors they know."""


def witness_of(tensor: Any) -> Witness | None:
    """Who knows a tensor, if anybody does."""
    libraries = (each.__module__.partition(".")[0] for each in type(tensor).__mro__)
    return next((WITNESSES[library] for library in libraries if library in WITNESSES), None)
