"""Marks: an identity that JAX carries through each of its transformations, and that says what a value is to the log.

A function that is differentiated while it is traced is run later, batched and nested as it may be; what was a cotangent
then is told by the mark that it passes. Where nothing is recorded, a mark is nothing but its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from jax.interpreters import ad, batching, mlir

from graphscope.adapters.jax.internals import core

OURS: Final = "graphscope_"
"""So begin the names of what we trace and compile ourselves."""

MARK: Final = core.Primitive("graphscope_mark")
MARK.multiple_results = True

LEAVES: Final = "leaves"
"""The values by which is differentiated. Told: their names, and whether they are trained."""

BEGIN: Final = "begin"
"""The cotangents that a backward pass begins with; the context is what they are of."""

COTANGENT: Final = "cotangent"
"""The cotangents of the values of a node, each whole; the context is these values. Told: the inputs that the rule
serves."""

SUM: Final = "sum"
"""A cotangent; the context is what it is the sum of."""

GRADIENT: Final = "gradient"
"""What has arrived at a leaf, which is the context."""

UPDATED: Final = "updated"
"""What an optimizer made of parameters, which are the context."""

END: Final = "end"
"""The gradients that a pass ends with."""

CALL: Final = "call"
"""What a function gave that has a rule of its own; the context is its inputs. Told: its name."""


def mark(what: str, passed: Sequence[Any], context: Sequence[Any] = (), told: tuple[Any, ...] = ()) -> list[Any]:
    """Pass values on, and tell what they are."""
    return list(MARK.bind(*passed, *context, what=what, count=len(passed), told=told))


def _abstract(*avals: Any, count: int, **_: Any) -> Sequence[Any]:
    return avals[:count]


def _values(*values: Any, count: int, **_: Any) -> Sequence[Any]:
    return values[:count]


def _batched(values: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    return MARK.bind(*values, **params), dims[: params["count"]]


def _differentiated(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    return MARK.bind(*primals, **params), list(tangents[: params["count"]])


def _lowered(context: Any, *operands: Any, count: int, **_: Any) -> Sequence[Any]:
    return operands[:count]


MARK.def_abstract_eval(_abstract)
MARK.def_impl(_values)
batching.primitive_batchers[MARK] = _batched
ad.primitive_jvps[MARK] = _differentiated
mlir.register_lowering(MARK, _lowered)
