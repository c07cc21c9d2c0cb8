"""What a parting is told as: its cause in a word or two, and one sentence with both lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graphscope.compare.difference import Fact, Side, When


class Told(NamedTuple):
    """What is told of a parting."""

    cause: str
    verdict: str


def sentence(when: When, a: Side | None, b: Side | None, facts: Sequence[Fact]) -> Told:
    """What to tell of a place where two runs part."""
    return Told("op", f"{when}: {_title(a)} and {_title(b)}" + "".join(f", {f.name} {f.a} / {f.b}" for f in facts))


def _title(side: Side | None) -> str:
    return "nothing" if side is None else f"{side.op} at {side.place}"
