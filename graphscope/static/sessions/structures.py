"""Values in lists, tuples, named tuples and dicts, taken out in order and put back into the same form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def leaves(structure: Any) -> Iterator[Any]:
    """What a structure holds, from left to right; dicts in the order of their entries. What is no structure, itself."""
    if isinstance(structure, Mapping):
        for part in structure.values():
            yield from leaves(part)
    elif isinstance(structure, list | tuple):
        for part in structure:
            yield from leaves(part)
    else:
        yield structure


def packed(structure: Any, found: Iterator[Any]) -> Any:
    """The structure with other leaves, taken from `found` in the order of `leaves`."""
    if isinstance(structure, Mapping):
        return type(structure)((key, packed(part, found)) for key, part in structure.items())  # type: ignore[call-arg]
    if isinstance(structure, tuple) and hasattr(structure, "_make"):
        return structure._make(packed(part, found) for part in structure)
    if isinstance(structure, list | tuple):
        return type(structure)(packed(part, found) for part in structure)
    return next(found)
