"""Formulas that the compiled part computes in one pass over memory, beside the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

try:
    _compiled: Any = import_module("graphscope.engine.core._formulas")
except ImportError:  # there was no compiler
    _compiled = None

FORMULAS: Final[dict[str, Callable[..., Any]]] = {}
"""Every formula by name. The function in NumPy, which is its specification, is its `__wrapped__`."""


def in_one_pass(name: str, in_numpy: Callable[..., Any]) -> Callable[..., Any]:
    """A formula as it is computed best.

    Args:
        name: What the compiled part calls it.
        in_numpy: The same in NumPy, for arrays that the compiled part does not take (it takes those of one shape and
            of float32 or float64 whose elements lie in a row), or for all of them where there was no compiler.
    """
    if _compiled is None:
        return in_numpy
    made: Callable[..., Any] = _compiled.Formula(name, in_numpy)
    FORMULAS[name] = made
    return made
