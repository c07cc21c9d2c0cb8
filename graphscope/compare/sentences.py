"""What a parting is told as: its cause in a word or two, and why the runs part there as one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from graphscope.compare.difference import Fact, Side, When
from graphscope.diagnose.explanation import listed


class Told(NamedTuple):
    """What is told of a parting."""

    cause: str
    verdict: str


_MADE: Final = ("dtype", "shape")
"""Facts about what comes out of a call."""


def sentence(when: When, cause: str, a: Side | None, b: Side | None, facts: Sequence[Fact]) -> Told:
    """What to tell of a place where two runs part; pass and lines are told beside it.

    Args:
        when: The pass.
        cause: What is known of the cause; `op` where that is to be read from the facts.
        a: The node of one run.
        b: That of the other.
        facts: What differs about their calls.
    """
    if cause == "detached":
        return _detached(a, b)
    if a is None or b is None:
        here, there, known = ("b", "a", b) if a is None else ("a", "b", a)
        return Told("only one", f"{here} runs {known.op if known else 'something'}, and {there} does nothing like it")
    if a.op != b.op:
        return Told("another op", f"a runs {a.op} where b runs {b.op}")
    made = [fact.name for fact in facts if fact.name in _MADE]
    given = [fact.name for fact in facts if fact.name not in _MADE]
    if given:
        return Told("attribute", f"{a.op} is given another {listed(given)}")
    if made:
        return Told(made[0], f"{a.op} makes another {listed(made)}")
    what = "the gradient of " if when == "backward" else ""
    return Told("op", f"{what}{a.op} is computed another way")


def _detached(a: Side | None, b: Side | None) -> Told:
    return Told("detached", "a gradient flows on one side alone")
