"""One number for each dim of an image, as modules of one's own ask for it: `_pair(3)` is `(3, 3)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """The function that makes a tuple of `n` of one number, and leaves several as they are."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


_single: Final = _ntuple(1, "_single")
_pair: Final = _ntuple(2, "_pair")
_triple: Final = _ntuple(3, "_triple")
_quadruple: Final = _ntuple(4, "_quadruple")
