"""Where in the program a training step ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphscope.eventlog import arguments


class Turn(NamedTuple):
    """The turn of the program's loops in which an optimizer makes a step."""

    site: int = 0
    """The line that ends the step, as an entry of `sites`."""
    counters: Mapping[str, int] = MappingProxyType({})
    """What the loops around that line count, the outermost first."""

    def may_be_that_of(self, other: Turn) -> bool:
        """Whether another line may have ended another step in it; no line does so twice in a turn."""
        return self.site != other.site and self.counters == other.counters

    def entry(self, numbers: Sequence[int], *, is_left_out: bool) -> dict[str, Any]:
        """What the table `attrs` says of the mark of its end, in whose row these numbers lie."""
        told = arguments.entry(None, {"numbers": tuple(numbers)}, range(len(numbers)))
        facts = {"counters": [*self.counters], **told} if numbers else {}
        return {**facts, "left_out": True} if is_left_out else facts


ANYWHERE: Final = Turn()
"""Where that is not known."""
