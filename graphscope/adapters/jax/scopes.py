"""Scopes of traced functions: those of the program, and those of JAX that do more than one thing."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any, Final

from graphscope.adapters.jax.internals import source_info_util
from graphscope.adapters.jax.jaxprs import function_of, is_of_jax
from graphscope.adapters.jax.marks import OURS

_CONVERTING: Final = ("convert_element_type", "broadcast_in_dim", "reshape", "squeeze")
"""Primitives that only prepare what another one is given."""


def jitted(name: str, closed: Any) -> AbstractContextManager[Any]:
    """What runs inside lies in a jitted function.

    Args:
        name: Its name.
        closed: Its jaxpr.
    """
    if name.startswith(OURS):
        return contextlib.nullcontext()
    if not is_of_jax(closed.jaxpr):
        return named(f"jit({name})")
    working = [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name not in _CONVERTING]
    return named(name.lstrip("_")) if len(working) > 1 else contextlib.nullcontext()


def part_of(construct: str, closed: Any) -> AbstractContextManager[Any]:
    """What runs inside lies in the body of a loop or the branch of a condition."""
    name = function_of(closed.jaxpr)
    is_own = name and not is_of_jax(closed.jaxpr) and not name.startswith(OURS)
    return named(f"{construct}({name})" if is_own else construct)


def named(name: str) -> AbstractContextManager[Any]:
    """What runs inside lies in a scope of that name."""
    found: AbstractContextManager[Any] = source_info_util.extend_name_stack(name)
    return found
