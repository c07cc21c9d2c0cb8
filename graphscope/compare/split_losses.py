"""Losses of backward passes that add up: one of a whole batch in one run, one of each part of it in the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.compare.alignment import Alignment
from graphscope.compare.judgement import AGREES
from graphscope.compare.rounding import roundoff

if TYPE_CHECKING:
    from graphscope.compare.flow import Flow
    from graphscope.compare.judgement import Judgement

_ROUNDINGS: Final = 256
"""So many units of roundoff may two sums of losses be apart."""


def add_up(alignment: Alignment) -> bool:
    """Whether one run has more losses than the other, and both have the same sum of them."""
    flows = alignment.a.flow, alignment.b.flow
    losses = [_losses(flow) for flow in flows]
    if losses[0] is None or losses[1] is None or len(losses[0]) == len(losses[1]) or not all(losses):
        return False
    unit = max(roundoff(*(flow.dtype(each) for each in flow.roots)) for flow in flows)
    size = max(sum(map(abs, each)) for each in losses if each is not None)
    return abs(sum(losses[0]) - sum(losses[1])) <= _ROUNDINGS * unit * size


def _losses(flow: Flow) -> list[float] | None:
    """What backward passes begin from; None where one is not known, or no single number."""
    values = [flow.value(each) for each in flow.roots]
    return None if any(each is None or each.size != 1 for each in values) else [float(each.item()) for each in values]  # type: ignore[union-attr]


def settle_losses(judgement: Judgement) -> None:
    """Let losses without a counterpart agree where their sums do."""
    if add_up(judgement.alignment):
        for run, states in zip(judgement.runs, judgement.states, strict=True):
            states[run.flow.roots] = AGREES
