"""Nodes of a function that is differentiated, and how cotangents are pulled back through them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphscope.adapters.jax import marks
from graphscope.adapters.jax.internals import typeof
from graphscope.adapters.jax.rules import is_floating


class Node:
    """A call that was made: what its cotangents go through, and to whom.

    Args:
        inputs: What it was given.
        values: What it gave.
        sources: Where each input comes from; None of what is not differentiated.
        served: The inputs that the rule makes cotangents for.
        pull: The rule: of the node and the cotangents of those values that are floating.
        held: What else the rule needs.
        marked: Whether its cotangents are told; those of a loop are told inside.
    """

    __slots__ = ("held", "inputs", "marked", "pull", "served", "sources", "values")

    def __init__(
        self,
        inputs: Sequence[Any],
        values: Sequence[Any],
        sources: Sequence[Source | None],
        served: Sequence[int],
        pull: Callable[[Node, Sequence[Any]], Sequence[Any]],
        held: Sequence[Any] = (),
        *,
        marked: bool = True,
    ) -> None:
        self.inputs = inputs
        self.values = values
        self.sources = sources
        self.served = served
        self.pull = pull
        self.held = held
        self.marked = marked

    def with_none(self, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of all values, those of integers as JAX has them."""
        arrived = iter(cotangents)
        return [
            next(arrived) if is_floating(each) else np.zeros(typeof(each).shape, jax.dtypes.float0)
            for each in self.values
        ]


Source = tuple[Node | None, int]
"""A node and which of its values, or None and which of the leaves."""

Arrived = dict[Node | None, dict[int, list[Any]]]
"""The parts of cotangents that have arrived at the values of nodes and at leaves."""


def arrive(arrived: Arrived, source: Source | None, cotangent: Any) -> None:
    """Add a part of a cotangent."""
    if source is not None:
        arrived.setdefault(source[0], {}).setdefault(source[1], []).append(cotangent)


def pull_back(nodes: Sequence[Node], arrived: Arrived) -> dict[int, list[Any]]:
    """Pull cotangents back through nodes; what arrives at each leaf."""
    for node in reversed(nodes):
        parts = arrived.pop(node, None)
        if parts is not None:
            for place, cotangent in zip(node.served, _pulled(node, parts), strict=True):
                arrive(arrived, node.sources[place], cotangent)
    return arrived.get(None, {})


def _pulled(node: Node, parts: dict[int, list[Any]]) -> Sequence[Any]:
    """Run the rule of a node."""
    wholes = [whole(parts.get(slot, ()), value) for slot, value in enumerate(node.values) if is_floating(value)]
    if node.marked:
        wholes = marks.mark(marks.COTANGENT, wholes, node.values, tuple(node.served))
    return node.pull(node, wholes)


def whole(parts: Sequence[Any], like: Any) -> Any:
    """A cotangent, of its parts."""
    if not parts:
        return blank(like)
    return parts[0] if len(parts) == 1 else total(*parts)


def total(*parts: Any) -> Any:
    """The sum of what arrives at one place."""
    return marks.mark(marks.SUM, [graphscope_sum(*parts)], parts)[0]


@jax.jit
def graphscope_sum(*parts: Any) -> Any:
    """What `total` computes."""
    return functools.reduce(jax.lax.add, parts)


@functools.partial(jax.jit, static_argnums=(0, 1))
def graphscope_zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """The cotangent of what nobody uses."""
    return jnp.zeros(shape, dtype)


def blank(like: Any) -> Any:
    """Zeros of the type of a value, or of a type."""
    kind = like if isinstance(like, jax.ShapeDtypeStruct) else typeof(like)
    return graphscope_zeros(kind.shape, kind.dtype)
