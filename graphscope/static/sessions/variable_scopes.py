"""Variables that are asked for by name: `get_variable` in a `variable_scope`, with initializers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.errors import StaticError
from graphscope.static.graphs.effects import dtype_of
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.functions import name_scope, random_normal, random_uniform, truncated_normal
from graphscope.static.sessions.variables import Variable

__all__ = [
    "constant_initializer", "get_variable", "glorot_uniform_initializer", "ones_initializer",
    "random_normal_initializer", "random_uniform_initializer", "truncated_normal_initializer", "variable_scope",
    "zeros_initializer",
]  # fmt: skip

_NAMED: Final = "variables by name"
"""The collection of a graph that keeps what `get_variable` made, and the scopes around it."""

Initializer = Callable[..., Any]


@contextmanager
def variable_scope(name: str, default_name: str | None = None, reuse: bool | None = None) -> Iterator[str]:
    """Variables that `get_variable` makes inside are called `NAME/...`; with `reuse` it gives those of before."""
    graph = get_default_graph()
    kept = graph.collections.setdefault(_NAMED, [{}, []])
    kept[1].append((name, reuse))
    try:
        with name_scope(name):
            yield "/".join(each for each, _ in kept[1])
    finally:
        kept[1].pop()


def get_variable(
    name: str,
    shape: Sequence[int] | None = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
) -> Variable:
    """The variable of a name: a new one, or with `reuse` of the scope the one that is there.

    Args:
        name: Its name in the scope.
        shape: Its shape; an initializer that is an array has one.
        dtype: Of its elements.
        initializer: A function of a shape and `dtype`, or an array; by default `glorot_uniform_initializer()`.
        regularizer: Accepted for TensorFlow's sake.
        trainable: Whether optimizers train it unless told otherwise.

    Raises:
        StaticError: There is one and `reuse` is not set, or there is none and it is; or the shape is not told.
    """
    known, scopes = get_default_graph().collections.setdefault(_NAMED, [{}, []])
    full = "/".join([*(each for each, _ in scopes), name])
    reuse = next((each for _, each in reversed(scopes) if each is not None), False)
    if full in known:
        if not reuse:
            raise StaticError(
                f"there is a variable {full!r} already", hint="variable_scope(NAME, reuse=True) gives it once more"
            )
        return known[full]  # type: ignore[no-any-return]
    if reuse is True:
        raise StaticError(f"there is no variable {full!r} to reuse", hint="make it first, in a scope without reuse")
    if shape is None and (initializer is None or callable(initializer)):
        raise StaticError(f"the shape of the variable {full!r} is not told", hint="get_variable(name, [3, 2])")
    here = builder()
    scope, here.scope = here.scope, ""
    try:
        start = initializer
        if start is None or callable(start):
            start = (start or glorot_uniform_initializer())(list(shape or ()), dtype=dtype)
        made = known[full] = Variable(start, trainable=trainable, name=full, dtype=dtype)
    finally:
        here.scope = scope
    return made


def zeros_initializer() -> Initializer:
    """Zeros."""
    return constant_initializer(0.0)


def ones_initializer() -> Initializer:
    """Ones."""
    return constant_initializer(1.0)


def constant_initializer(value: Any = 0.0) -> Initializer:
    """A number everywhere, or these numbers."""
    return lambda shape, dtype=dtypes.float32: np.broadcast_to(np.asarray(value, dtype_of(dtype)), shape)


def random_normal_initializer(mean: float = 0.0, stddev: float = 1.0, seed: int | None = None) -> Initializer:
    """Numbers of a normal distribution."""
    return lambda shape, dtype=dtypes.float32: random_normal(shape, mean, stddev, dtype, seed)


def truncated_normal_initializer(mean: float = 0.0, stddev: float = 1.0, seed: int | None = None) -> Initializer:
    """As `random_normal_initializer`, without what is farther from the mean than two standard deviations."""
    return lambda shape, dtype=dtypes.float32: truncated_normal(shape, mean, stddev, dtype, seed)


def random_uniform_initializer(minval: float = -0.05, maxval: float = 0.05, seed: int | None = None) -> Initializer:
    """Numbers from `minval` to `maxval`, evenly distributed."""
    return lambda shape, dtype=dtypes.float32: random_uniform(shape, minval, maxval, dtype, seed)


def glorot_uniform_initializer(seed: int | None = None) -> Initializer:
    """Evenly distributed within ±√(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""

    def start(shape: Sequence[int], dtype: Any = dtypes.float32) -> Any:
        fan_in, fan_out = (shape[-2], shape[-1]) if len(shape) > 1 else (shape[0], shape[0]) if shape else (1, 1)
        around = int(np.prod(shape[:-2]))
        limit = (6.0 / (around * (fan_in + fan_out))) ** 0.5
        return random_uniform(shape, -limit, limit, dtype, seed)

    return start
