"""Random numbers in a scripted function: nodes that draw anew in each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from graphscope import engine as _engine
from graphscope.engine.core import dtypes
from graphscope.static.sessions import functions


def _drawn(kind: str) -> Callable[..., Any]:
    def draw(*size: Any, dtype: Any = None) -> Any:
        sizes = size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size
        wanted = dtypes.get_default_dtype() if dtype is None else dtype
        return functions._random(kind, sizes, 0.0, 1.0, wanted, None, None)

    return draw


def _drawn_like(kind: str) -> Callable[..., Any]:
    def draw(like: Any, dtype: Any = None) -> Any:
        return functions._random(kind, like.shape, 0.0, 1.0, like.dtype if dtype is None else dtype, None, None)

    return draw


_DRAWS: Final = {
    id(_engine.rand): _drawn("random_uniform"),
    id(_engine.randn): _drawn("random_normal"),
    id(_engine.rand_like): _drawn_like("random_uniform"),
    id(_engine.randn_like): _drawn_like("random_normal"),
}


def drawing(function: Any) -> Callable[..., Any] | None:
    """What draws when the graph runs, for a function of the engine that draws at once; None for others."""
    return _DRAWS.get(id(function))
