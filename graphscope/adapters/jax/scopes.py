"""Scopes of jitted functions: those of the program, and those of JAX that do more than one thing."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import jax

from graphscope.adapters.jax.internals import source_info_util

_FOLDER: Final = str(Path(jax.__file__).parent)
_CONVERTING: Final = ("convert_element_type", "broadcast_in_dim", "reshape", "squeeze")
"""Primitives that only prepare what another one is given."""


def scope_of(name: str, closed: Any) -> AbstractContextManager[Any]:
    """What runs inside lies in a jitted function, by its name.

    Args:
        name: Its name.
        closed: Its jaxpr.
    """
    if not _is_jax(closed):
        return _named(f"jit({name})")
    working = [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name not in _CONVERTING]
    return _named(name.lstrip("_")) if len(working) > 1 else contextlib.nullcontext()


def _named(name: str) -> AbstractContextManager[Any]:
    found: AbstractContextManager[Any] = source_info_util.extend_name_stack(name)
    return found


def _is_jax(closed: Any) -> bool:
    """Whether a function is one of JAX's own."""
    told = getattr(closed.jaxpr.debug_info, "func_src_info", None) or ""
    return _FOLDER in told
