"""Dims as people write them, counted from either end, checked against the number of dims that there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final


def one(dim: int, rank: int) -> int:
    """A dim counted from the front. A tensor of no dims takes 0 and -1.

    Raises:
        IndexError: There is no such dim.
        TypeError: It is no integer.
    """
    if dim.__class__ is not int:
        dim = _integer(dim)
    count = rank or 1
    if not -count <= dim < count:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})")
    return dim + count if dim < 0 else dim


def several(dims: Any, rank: int) -> tuple[int, ...]:
    """Dims counted from the front; None and an empty sequence stand for all.

    Raises:
        IndexError: There is no such dim.
        RuntimeError: A dim is named twice.
    """
    if dims is None:
        return tuple(range(rank))
    if dims.__class__ is int or not isinstance(dims, Sequence):
        return (one(dims, rank),) if rank or one(dims, 0) else ()
    found = tuple([one(dim, rank) for dim in dims])
    if len(set(found)) < len(found):
        twice = {dim for dim in found if found.count(dim) > 1}
        raise RuntimeError(f"dim {min(twice)} appears multiple times in the list of dims {tuple(dims)}")
    return (found if rank else ()) or tuple(range(rank))


NUMPY: Final = {"axis": "dim", "keepdims": "keepdim"}
"""What NumPy calls arguments that are taken by its words too."""


def in_our_words(words: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments, of which some may be spelled as NumPy spells them."""
    return {NUMPY.get(word, word): value for word, value in words.items()}


def in_either_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes its arguments by NumPy's words, too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **in_our_words(kwargs))

    return call


def _integer(dim: Any) -> int:
    try:
        return int(dim.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"a dim is an integer, not {type(dim).__name__}") from None
