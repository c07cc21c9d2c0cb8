"""Shape rules: from the shapes of an op's inputs to that of its output. A dim that is not known yet is None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Shape = tuple[int | None, ...]
Rule = Callable[..., Any]


def same(x: Shape, *_: Shape, **attrs: Any) -> Shape:
    """That of the first input."""
    return x


def broadcast(*shapes: Shape, **attrs: Any) -> Shape:
    """That of the inputs, broadcast together.

    Raises:
        RuntimeError: Two dims, counted from the right, differ and neither is 1.
    """
    rank = max(map(len, shapes))
    out: list[int | None] = []
    for place in range(-rank, 0):
        lengths = {shape[place] for shape in shapes if -place <= len(shape)} - {1}
        known = lengths - {None}
        if len(known) > 1:
            raise RuntimeError(f"shapes {', '.join(map(str, shapes))} do not fit in dim {place}: {sorted(known)}")  # type: ignore[type-var]
        out.append(known.pop() if known else None if lengths else 1)
    return tuple(out)
