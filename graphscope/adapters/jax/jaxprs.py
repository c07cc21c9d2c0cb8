"""Jaxprs: what a traced function is called and whether it is JAX's own; which of its values depend on which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from graphscope.adapters.jax.internals import core, typeof

_FOLDER: Final = str(Path(jax.__file__).parent)


def told_of(jaxpr: Any) -> str:
    """The name of the function that was traced, its file and its line, as JAX tells them; "" where it does not."""
    told = getattr(jaxpr, "debug_info", None)
    return str(getattr(told, "func_src_info", None) or "")


def differentiates(jaxpr: Any) -> bool:
    """Whether a gradient is computed in a jaxpr: JAX says of each equation which transformations made it."""
    return any(
        any(getattr(each, "name", "") == "transpose" for each in eqn.source_info.name_stack.stack)
        or any(map(differentiates, core.jaxprs_in_params(eqn.params)))
        for eqn in jaxpr.eqns
    )


def function_of(jaxpr: Any, otherwise: str = "") -> str:
    """The name of the function that was traced."""
    told = told_of(jaxpr).partition(" ")[0]
    return told if told.isidentifier() or told == "<lambda>" else otherwise


def is_of_jax(jaxpr: Any) -> bool:
    """Whether the function is one of JAX's own."""
    return _FOLDER in told_of(jaxpr)


def dependent(jaxpr: Any, inputs: Sequence[bool]) -> list[bool]:
    """Which results of a jaxpr depend on some of its inputs."""
    known = {var for var, chosen in zip(jaxpr.invars, inputs, strict=True) if chosen}
    for eqn in jaxpr.eqns:
        if any(not isinstance(var, core.Literal) and var in known for var in eqn.invars):
            known.update(eqn.outvars)
    return [not isinstance(var, core.Literal) and var in known for var in jaxpr.outvars]


def as_arrays(values: Sequence[Any]) -> list[Any]:
    """What a jaxpr gave, as the program is given it: what was written down as a number is an array as well."""
    return [each if isinstance(each, jax.Array) else _as_array(each) for each in values]


def _as_array(value: Any) -> jax.Array:
    """A number or an array of NumPy's, of the type that JAX computes with it in."""
    is_number = getattr(typeof(value), "weak_type", False)  # what is computed with it has the other one's type
    return jnp.asarray(np.asarray(value).item() if is_number else value)
