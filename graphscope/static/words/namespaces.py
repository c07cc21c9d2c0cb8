"""Names as programs write them behind `tf.`: those offered, the engine's own, and the error for all others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphscope import engine as _engine
from graphscope.engine.core.op import OPS
from graphscope.engine.nn import functional as _functional
from graphscope.static.graphs.symbols import twin
from graphscope.static.words import (  # noqa: F401 - each offers its functions
    building,
    convolutions,
    decays,
    elementwise,
    gathering,
    losses,
    making,
    mapping,
    mean_losses,
    products,
    reductions,
    shapes,
)
from graphscope.static.words.missing import MODULES, NUMBERS, TENSORFLOWS, absent
from graphscope.static.words.offering import Offered, called, offered, signature_of


class Namespace:
    """A module of TensorFlow's, such as `tf.math`.

    Args:
        name: What it is called behind `tf.`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return named(self._name, name)

    def __repr__(self) -> str:
        return f"<graphscope.static.{self._name}>"


def named(module: str, name: str) -> Any:
    """What is called so in a module of TensorFlow's.

    Raises:
        AbsentError: There is nothing of that name.
    """
    full = f"{module}.{name}" if module else name
    found = offered(full)
    if found is not None:
        return found
    if full in MODULES:
        return Namespace(full)
    if full in NUMBERS:
        return NUMBERS[full]
    own = None if full in TENSORFLOWS or module not in ("", "nn") or name.startswith("_") else _engines(name)
    if own is None:
        raise absent(full)
    return own


@functools.cache
def _engines(name: str) -> Callable[..., Any] | None:
    """An op or function of the engine under its own name, on tensors of a graph; its node takes a `name`."""
    function = getattr(_engine, name, None)
    if function is None or not callable(function) or isinstance(function, type):
        function = getattr(_functional, name, None) or (OPS[name].call if name in OPS else None)
    if function is None or (name in OPS and OPS[name].in_place):
        return None
    given = function

    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        return called(entry, entry.node, args, kwargs, name)

    entry = Offered(given, signature_of("*args, **kwargs"), name, name)
    functools.update_wrapper(call, function, updated=())
    call.__name__ = call.__qualname__ = name
    return call if twin(function) is not function else None
