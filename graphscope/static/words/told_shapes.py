"""What arguments tell of the shape of a result whose sizes are known only when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphscope.static.graphs.graph import Shape
from graphscope.static.graphs.symbols import Symbol


def told(argument: str) -> Callable[[dict[str, Any]], Shape]:
    """The shape that an argument spells, as far as it does."""
    return lambda arguments: _sizes(arguments[argument])


def like(argument: str) -> Callable[[dict[str, Any]], Shape]:
    """The shape of an argument."""
    return lambda arguments: getattr(getattr(arguments[argument], "output", None), "shape", None)


def _sizes(shape: Any) -> Shape:
    if isinstance(shape, Symbol):
        known = shape.output.shape
        return None if known is None or len(known) != 1 or known[0] is None else (None,) * known[0]
    if isinstance(shape, list | tuple):
        return tuple(None if isinstance(size, Symbol) or size == -1 else getattr(size, "value", size) for size in shape)
    return None
