"""Names of what a function is differentiated by: its parameters, and the paths in what they hold."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final

import jax

_CALLERS: Final = ("value_and_grad_f", "jacfun", "vjp")
"""The functions of JAX that differentiate another one, as `fun`, by its arguments `argnums`."""


def names_of_call(function: Any, primals: Sequence[Any], frame: FrameType) -> tuple[list[str], bool]:
    """What the program calls the leaves of what it differentiates by, and whether it asks for a gradient.

    Args:
        function: What is differentiated.
        primals: What it is differentiated by.
        frame: Who asks for it.
    """
    code = frame.f_code.co_name
    known = frame.f_locals if code in _CALLERS else {}
    written = known.get("fun", function)
    argnums = known.get("argnums", range(len(primals)))
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    parameters = _parameters(written)
    names = []
    for number, primal in zip(numbers, primals, strict=False):
        called = parameters[number] if -len(parameters) <= number < len(parameters) else f"argument {number}"
        names += [
            f"{called}{jax.tree_util.keystr(path)}" for path, _ in jax.tree_util.tree_flatten_with_path(primal)[0]
        ]
    return names, code == _CALLERS[0]


def _parameters(function: Any) -> list[str]:
    """What a function calls its arguments by position."""
    try:
        return [
            each.name for each in inspect.signature(function).parameters.values() if each.kind <= each.VAR_POSITIONAL
        ]
    except (TypeError, ValueError):
        return []
