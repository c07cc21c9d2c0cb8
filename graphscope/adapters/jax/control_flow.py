"""Loops and conditions that are differentiated: as loops and conditions, whose bodies are pulled back node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from graphscope.adapters.jax.internals import core
from graphscope.adapters.jax.jaxprs import dependent, function_of, is_of_jax
from graphscope.adapters.jax.kept import Kept
from graphscope.adapters.jax.marks import OURS
from graphscope.adapters.jax.nodes import Node, blank, total
from graphscope.adapters.jax.rules import is_floating
from graphscope.adapters.jax.tape_trace import TapeTrace


def scan(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """A loop over a first axis: its way back is a loop over the same turns, the last one first."""
    closed, length = params["jaxpr"], params["length"]
    count, carried = params["num_consts"], params["num_carry"]
    inputs, sources = list(map(trace.value, tracers)), list(map(trace.source, tracers))
    consts, first, xs = inputs[:count], inputs[count : count + carried], inputs[count + carried :]
    active = _active(closed, sources, count, carried)
    kept: list[Kept] = []

    def turn(carry: Sequence[Any], slices: Sequence[Any]) -> Any:
        values, followed = _followed(closed, [*consts, *carry, *slices], active)
        kept[:] = [followed]
        return values[:carried], (values[carried:], followed.local)

    _called_as(turn, closed)
    settings = {"length": length, "unroll": params.get("unroll", 1)}
    with core.set_current_trace(trace.around):
        last, (ys, local) = jax.lax.scan(turn, first, xs, reverse=params["reverse"], **settings)
    served = [place for place, is_active in enumerate(active) if is_active and sources[place] is not None]
    of_carry = [place for place in range(count, count + carried) if active[place]]
    of_consts = [place for place in served if place < count]
    of_xs = [place for place in served if place >= count + carried]
    outer = kept[0].outer if kept else []

    def pull(node: Node, cotangents: Sequence[Any]) -> list[Any]:
        local, outer = node.held[: len(node.held) - beyond], node.held[len(node.held) - beyond :]
        whole = _spread(node.values, cotangents)
        given = node.inputs

        def turn(sums: Any, slices: Any) -> Any:
            of_const, carry = sums
            values, of_ys = slices
            back = dict(zip(of_carry, carry, strict=True))
            arrived = [*(back.get(count + place) for place in range(carried)), *of_ys]
            leaves = [*((place, given[place]) for place in (*of_consts, *of_carry)), *_firsts(given, of_xs)]
            found = kept[0].back(values, outer, arrived, leaves)
            added, carry, rest = _split(found, len(of_consts), len(of_carry))
            return (list(map(total, of_const, added)), carry), rest

        _called_as(turn, closed)
        start = [blank(given[place]) for place in of_consts]
        ends = [whole[place - count] for place in of_carry]
        (of_const, carry), of_slices = jax.lax.scan(
            turn, (start, ends), (list(local), whole[carried:]), reverse=not params["reverse"], **settings
        )
        found = dict(zip([*of_consts, *of_carry, *of_xs], [*of_const, *carry, *of_slices], strict=True))
        return [found[place] for place in served]

    beyond = len(outer)
    values = [*last, *ys]
    return trace.add(Node(inputs, values, sources, served, pull, [*local, *outer], marked=False))


def condition(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """A condition: its way back goes through the same branch."""
    branches = params["branches"]
    inputs, sources = list(map(trace.value, tracers)), list(map(trace.source, tracers))
    index, given = inputs[0], inputs[1:]
    active = [source is not None for source in sources[1:]]
    kept: dict[int, Kept] = {}

    def run(number: int, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        values, kept[number] = _followed(branches[number], operands, active)
        return values, kept[number].local

    with core.set_current_trace(trace.around):
        types = [jax.eval_shape(lambda *each, at=number: run(at, each)[1], *given) for number in range(len(branches))]

        def forward(number: int) -> Callable[..., Any]:
            def branch(*operands: Any) -> Any:
                values, local = run(number, operands)
                return values, [local if at == number else list(map(blank, each)) for at, each in enumerate(types)]

            _called_as(branch, branches[number])
            return branch

        values, local = jax.lax.switch(index, [forward(number) for number in range(len(branches))], *given)
    served = [place for place, source in enumerate(sources) if source is not None]
    held, shape = jax.tree.flatten((local, {number: each.outer for number, each in kept.items()}))

    def pull(node: Node, cotangents: Sequence[Any]) -> list[Any]:
        local, outer = jax.tree.unflatten(shape, node.held)
        arrived = _spread(node.values, cotangents)
        leaves = [(place - 1, node.inputs[place]) for place in served]

        def backward(number: int) -> Callable[..., Any]:
            def branch(values: Any, arrived: Any) -> list[Any]:
                return kept[number].back(values[number], outer[number], arrived, leaves)

            _called_as(branch, branches[number])
            return branch

        found = jax.lax.switch(node.inputs[0], [backward(each) for each in range(len(branches))], local, arrived)
        return list(found)

    return trace.add(Node(inputs, values, sources, served, pull, held, marked=False))


def _followed(closed: Any, operands: Sequence[Any], active: Sequence[bool]) -> tuple[list[Any], Kept]:
    """Run a body, followed by a trace of its own; what it returned, and what its way back needs."""
    with core.take_current_trace() as around:
        inner = TapeTrace(around)
        with core.set_current_trace(inner):
            outputs = core.eval_jaxpr(closed.jaxpr, closed.consts, *inner.begin(operands, active))
    return list(map(inner.value, outputs)), Kept(inner, outputs)


def _active(closed: Any, sources: Sequence[Any], count: int, carried: int) -> list[bool]:
    """What of the inputs of a loop's body depends on what is differentiated by, in some turn."""
    floating = [jnp.issubdtype(each.dtype, jnp.inexact) for each in closed.in_avals]
    active = [source is not None for source in sources]
    while True:
        found = list(active)
        for place, depends in enumerate(dependent(closed.jaxpr, active)[:carried], count):
            found[place] = found[place] or (depends and floating[place])
        if found == active:
            return active
        active = found


def _spread(values: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Cotangents by the places of values; None of what has none."""
    arrived = iter(cotangents)
    return [next(arrived) if is_floating(each) else None for each in values]


def _firsts(given: Sequence[Any], places: Sequence[int]) -> list[tuple[int, Any]]:
    """What each turn is given of some arrays, by its type."""
    return [(place, jax.eval_shape(lambda each: each[0], given[place])) for place in places]


def _split(values: Sequence[Any], first: int, second: int) -> tuple[list[Any], list[Any], list[Any]]:
    return list(values[:first]), list(values[first : first + second]), list(values[first + second :])


def _called_as(function: Any, closed: Any) -> None:
    """Name a function as the one whose body it runs."""
    known = "" if is_of_jax(closed.jaxpr) else function_of(closed.jaxpr)
    function.__name__ = function.__qualname__ = known or f"{OURS}body"
