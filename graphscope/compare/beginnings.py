"""Differences that are there from the start: of many leaves, which are told as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graphscope.compare.difference import Parting
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.two_runs import RANDOM

GIVEN: Final = ("initialisation", "input")
"""Causes of what is there ahead of all ops."""
_NAMED: Final = 3


def folded(partings: Sequence[Parting]) -> list[Parting]:
    """Partings, those that are there from the start as one: what draws random numbers does so for many leaves."""
    begun = [each for each in partings if each.inputs_agree is None and each.a is not None]
    if len(begun) < 2:
        return [*partings]
    names = [each.a.name or each.a.op for each in begun if each.a is not None]
    is_drawn = any(each.a is not None and each.a.op in RANDOM for each in begun)
    why = (
        "random numbers are drawn in another order, or from another seed"
        if is_drawn
        else "they were made, written or loaded in another way"
    )
    verdict = f"{listed(names, _NAMED)} hold other numbers from the start: {why}"
    first = replace(begun[0], cause="random" if is_drawn else begun[0].cause, verdict=verdict)
    return [first, *(each for each in partings if each not in begun)]
