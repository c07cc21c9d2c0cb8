"""Differentiation: what `jax.vjp` gives, made by our own trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from graphscope.adapters.jax import control_flow, marks
from graphscope.adapters.jax.internals import COND, SCAN, core, typeof
from graphscope.adapters.jax.nodes import Arrived, Source, arrive, blank, pull_back, whole
from graphscope.adapters.jax.rules import is_floating
from graphscope.adapters.jax.tape_trace import OPENED, TapeTrace

OPENED.update({SCAN: control_flow.scan, COND: control_flow.condition})


def differentiate(
    function: Callable[..., Any],
    primals: Sequence[Any],
    names: Sequence[str],
    *,
    has_aux: bool = False,
    trained: bool = False,
) -> tuple[Any, ...]:
    """The value of a function, what pulls cotangents back through it, and what else it returns.

    Args:
        function: The function.
        primals: Its arguments.
        names: What the program calls each of their leaves.
        has_aux: Whether it returns a pair, of which the second is only passed on.
        trained: Whether the arguments are parameters.
    """
    leaves, tree = jax.tree.flatten(tuple(primals))
    floating = [place for place, leaf in enumerate(leaves) if is_floating(leaf)]
    told = tuple(names[place] for place in floating), trained
    for place, leaf in zip(
        floating, marks.mark(marks.LEAVES, [leaves[each] for each in floating], told=told), strict=True
    ):
        leaves[place] = leaf
    with core.take_current_trace() as around:
        trace = TapeTrace(around)
        with core.set_current_trace(trace):
            answer = function(*jax.tree.unflatten(tree, trace.begin(leaves, [is_floating(leaf) for leaf in leaves])))
    aux: tuple[Any, ...] = ()
    if has_aux:
        answer, passed = answer
        aux = (jax.tree.map(trace.value, passed),)
    outputs, shape = jax.tree.flatten(answer)
    values = [trace.value(each) for each in outputs]
    back = Pullback(trace, leaves, tree, values, shape, list(map(trace.source, outputs)))
    return jax.tree.unflatten(shape, values), back, *aux


class Pullback:
    """Pulls cotangents of what a function returned back to its arguments."""

    def __init__(
        self,
        trace: TapeTrace,
        leaves: Sequence[Any],
        tree: Any,
        outputs: Sequence[Any],
        shape: Any,
        sources: Sequence[Source | None],
    ) -> None:
        self._nodes = trace.nodes
        self._leaves = leaves
        self._tree = tree
        self._outputs = outputs
        self._shape = shape
        self._sources = sources

    def __call__(self, cotangents: Any) -> Any:
        """The cotangents of the arguments."""
        given, shape = jax.tree.flatten(cotangents)
        if shape != self._shape:
            raise ValueError(f"cotangents are {shape}, what they are of is {self._shape}")
        arrived: Arrived = {}
        for source, cotangent in zip(self._sources, marks.mark(marks.BEGIN, given, self._outputs), strict=True):
            arrive(arrived, source, cotangent)
        ended = pull_back(self._nodes, arrived)
        found = [self._gradient(leaf, ended.get(place, [])) for place, leaf in enumerate(self._leaves)]
        floating = [place for place, leaf in enumerate(self._leaves) if is_floating(leaf)]
        for place, gradient in zip(floating, marks.mark(marks.END, [found[each] for each in floating]), strict=True):
            found[place] = gradient
        return jax.tree.unflatten(self._tree, found)

    def _gradient(self, leaf: Any, parts: list[Any]) -> Any:
        if not is_floating(leaf):
            return np.zeros(typeof(leaf).shape, jax.dtypes.float0)
        if not parts:
            return blank(leaf)
        return marks.mark(marks.GRADIENT, [whole(parts, leaf)], [leaf])[0]
