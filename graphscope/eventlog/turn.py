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

    def entry(self, numbers: Sequence[int], *, is_end: bool = True, is_left_out: bool = False) -> dict[str, Any]:
        """What the table `attrs` says of the mark of an optimizer's step in it, in whose row these numbers lie.

        Args:
            numbers: What the loops count, and behind that which training step it is.
            is_end: False: the training step goes on.
            is_left_out: Whether that step was.
        """
        told = arguments.entry(None, {"numbers": tuple(numbers)}, range(len(numbers)))
        facts = {"counters": [*self.counters], **told} if numbers else {}
        return facts | ({} if is_end else {"goes_on": True}) | ({"left_out": True} if is_left_out else {})


ANYWHERE: Final = Turn()
"""Where that is not known."""
