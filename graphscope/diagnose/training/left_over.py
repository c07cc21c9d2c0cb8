"""Gradients of the loss of another network that an optimizer finds beside its own, as nobody has cleared them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.training.optimizer_order import Order, last_before, orders
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""So many steps must show it."""
_LOOKED_AT: Final = 16
"""So many steps are looked at."""


class LeftOver(NamedTuple):
    """An optimizer that steps with gradients of two losses, of which the first is that of another one."""

    row: int
    """The third such step."""
    order: Order
    other: Order
    begin: int
    """Where the pass begins that adds to what the other loss has left."""
    steps: int


@once_a_length
def left_over(log: Log) -> list[LeftOver]:
    """Where the loss of one optimizer is followed by its step, and leaves gradients that another one steps with.

    The loss of that one looks at what the first computes, and keeps its own gradient from it: they are adversaries.
    """
    return [*_left_over(log)]


def _left_over(log: Log) -> Iterator[LeftOver]:
    known = [order for order in orders(log) if order.is_alone]
    for order in known:
        for other in known:
            if order is not other and order.optimizer.tensors.isdisjoint(other.optimizer.tensors):
                found = _between(log, order, other)
                if found is not None:
                    yield found


def _between(log: Log, order: Order, other: Order) -> LeftOver | None:
    read = training(log)
    begins = read.backward_begins
    steps = order.steps[:_LOOKED_AT]
    second = last_before(begins, steps)
    stepped = last_before(other.steps, second)
    first = last_before(begins, stepped)
    before = np.concatenate([[-1], steps[:-1]])
    passes = np.searchsorted(begins, order.grown) - 1
    by_hand = order.cleared_by_hand().rows
    whole = [
        first_pass >= 0
        and set(order.grown_tensors[begins[passes] == first_pass]) >= set(order.tensors.tolist())
        and not order.is_fresh[begins[passes] == second_pass].any()
        and not ((by_hand > first_pass) & (by_hand < second_pass)).any()
        and not (begins[np.searchsorted(begins, other.grown) - 1] == second_pass).any()
        and (begins[np.searchsorted(begins, other.grown) - 1] == first_pass).any()
        for first_pass, second_pass in zip(first.tolist(), second.tolist(), strict=True)
    ]
    shown = np.array(whole, bool) & (first > before) & (second > stepped)
    shown &= last_before(order.clears, second) < first
    if shown.sum() < max(_LEAST, len(shown) - 1) or not len(order.clears):
        return None
    begin = int(second[shown][0])
    (root,) = read.roots(np.array([begin])).tolist()
    leaves = log.pick("tensor", ancestry(log, root).leaves).astype(np.int64)
    if root < log.first or not np.isin(leaves, other.tensors).any():
        return None
    return LeftOver(int(steps[shown][_LEAST - 1]), order, other, begin, int(shown.sum()))
