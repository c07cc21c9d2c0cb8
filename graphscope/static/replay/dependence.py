"""How what a stretch computes hangs on an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.static.replay.recorded_rows import Place
    from graphscope.static.replay.stretches import Stretch

_STEPS: Final = frozenset({"round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide"})
"""Ops whose results are floating and change by steps alone."""


def is_by_steps(stretch: Stretch, place: Place) -> bool:
    """Whether the outputs hang on an input, and by steps alone."""
    at_all, smoothly = {place}, {place}
    for step in stretch.steps:
        sources = {(edge.source.row, edge.slot) for edge in step.inputs}
        for slot, (_, dtype) in enumerate(step.outputs):
            if sources & at_all:
                at_all.add((step.row, slot))
            if sources & smoothly and dtype.startswith(("float", "bfloat", "complex")) and step.op not in _STEPS:
                smoothly.add((step.row, slot))
    return not at_all.isdisjoint(stretch.outputs) and smoothly.isdisjoint(stretch.outputs)
