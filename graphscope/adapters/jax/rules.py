"""Rules: what a primitive makes of a cotangent, as a compiled function of its inputs, its values and their cotangents.

JAX's own rule is traced once for each primitive, its parameters and the types of its inputs. Where it computes the
values of the primitive anew, it takes those that were computed: one that a person has replaced has its effect.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp

from graphscope.adapters.jax.internals import core, own_vjp, typeof
from graphscope.adapters.jax.jaxprs import dependent

RULE: Final = "graphscope_rule"
"""What rules are called where they are part of a traced function."""

_MOST: Final = 4096


class Rule(NamedTuple):
    """The rule of a primitive."""

    run: Callable[..., list[Any]]
    """Cotangents of the inputs that it serves, of inputs, values, and cotangents of the floating ones among those."""
    served: tuple[int, ...]
    """The places of the inputs that get one."""


def rule_of(primitive: Any, params: dict[str, Any], inputs: Sequence[Any], active: tuple[int, ...]) -> Rule:
    """The rule of a primitive for some of its inputs; it serves none where all derivatives are 0.

    Raises:
        NotImplementedError: JAX has no rule for it, and says so in its own words.
    """
    types = tuple(_type(each) for each in inputs)
    try:
        return _cached(primitive, tuple(sorted(params.items())), types, active)
    except TypeError:  # a parameter that can't be hashed
        return _traced(primitive, params, types, active)


def is_floating(value: Any) -> bool:
    """Whether a value has a cotangent."""
    return bool(jnp.issubdtype(typeof(value).dtype, jnp.inexact))


@functools.lru_cache(_MOST)
def _cached(primitive: Any, params: tuple[Any, ...], types: tuple[Any, ...], active: tuple[int, ...]) -> Rule:
    return _traced(primitive, dict(params), types, active)


def _traced(primitive: Any, params: dict[str, Any], types: tuple[Any, ...], active: tuple[int, ...]) -> Rule:
    """Trace the rule of JAX."""

    def call(*inputs: Any) -> list[Any]:
        values = primitive.bind(*inputs, **params)
        return list(values) if primitive.multiple_results else [values]

    def rule(inputs: Sequence[Any], values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        def of_active(*chosen: Any) -> list[Any]:
            given = dict(zip(active, chosen, strict=True))
            found = call(*[given.get(place, each) for place, each in enumerate(inputs)])
            return [each for each in found if is_floating(each)]

        _, pullback = own_vjp(of_active, *[inputs[place] for place in active])
        return list(pullback(list(cotangents)))

    values = jax.eval_shape(call, *types)
    cotangents = [each for each in values if jnp.issubdtype(each.dtype, jnp.inexact)]
    closed = jax.make_jaxpr(rule)(types, values, cotangents)
    jaxpr = _with_values(closed.jaxpr, primitive, params, len(types), len(values))
    reached = dependent(jaxpr, [place >= len(types) + len(values) for place in range(len(jaxpr.invars))])
    served = tuple(place for place, is_reached in zip(active, reached, strict=True) if is_reached)

    def graphscope_rule(*operands: Any) -> list[Any]:
        results = core.eval_jaxpr(jaxpr, closed.consts, *operands)
        return [each for each, is_reached in zip(results, reached, strict=True) if is_reached]

    return Rule(jax.jit(graphscope_rule), served)


def _type(value: Any) -> Any:
    aval = typeof(value)
    weak = getattr(aval, "weak_type", False)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=weak)  # type: ignore[no-untyped-call]


def _with_values(jaxpr: Any, primitive: Any, params: dict[str, Any], inputs: int, values: int) -> Any:
    """The jaxpr of a rule that takes the values of the primitive and does not compute them."""
    given, held = jaxpr.invars[:inputs], jaxpr.invars[inputs : inputs + values]
    for place, eqn in enumerate(jaxpr.eqns):
        if eqn.primitive is primitive and len(eqn.invars) == inputs and all(map(_is, eqn.invars, given)):
            names = dict(zip(eqn.outvars, held, strict=True))
            rest = [
                each.replace(invars=[_renamed(var, names) for var in each.invars])
                for each in (*jaxpr.eqns[:place], *jaxpr.eqns[place + 1 :])
            ]
            return jaxpr.replace(eqns=rest, outvars=[_renamed(var, names) for var in jaxpr.outvars])
    return jaxpr


def _is(one: Any, other: Any) -> bool:
    return one is other


def _renamed(var: Any, names: dict[Any, Any]) -> Any:
    return var if isinstance(var, core.Literal) else names.get(var, var)
