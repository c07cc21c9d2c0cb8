"""The turns of the program's loops in which training steps have ended, so far as they are known."""

from __future__ import annotations

import itertools
import operator

from graphscope.eventlog.turn import Turn

_Counted = tuple[tuple[str, int], ...]


class Turns:
    """They tell which steps were parts of one, when an optimizer makes its first step later in the same turn."""

    __slots__ = ("_begun", "_known", "_newest")

    def __init__(self) -> None:
        self._newest: Turn | None = None
        """That of the newest step, if it is known."""
        self._known: _Counted = ()
        """What loops counted in the newest that is known."""
        self._begun: list[int] = []
        """The first step that ended in the turn of each of those loops, the outermost first."""

    def note(self, turn: Turn | None, number: int) -> None:
        """Note the turn in which a step ends; None where that is not known."""
        self._newest = turn
        if turn is None:
            return
        counted = tuple(turn.counters.items())
        goes_on = itertools.takewhile(bool, map(operator.eq, counted, self._known))
        kept = self._begun[: sum(goes_on)]
        self._known, self._begun = counted, kept + [number] * (len(counted) - len(kept))

    def steps_in(self, turn: Turn, ended: int, *, is_same_loss: bool) -> int:
        """How many of the newest steps ended in a turn that another optimizer makes its first step in.

        An inner loop may have made several in a turn of an outer one. Where the same loops count the same, they may
        count less often than there are steps.

        Args:
            turn: That turn.
            ended: So many steps have ended.
            is_same_loss: Whether no backward pass has begun since the newest.
        """
        counted = tuple(turn.counters.items())
        if 0 < len(counted) < len(self._known) and counted == self._known[: len(counted)]:
            return ended - self._begun[len(counted) - 1] + 1
        if is_same_loss:  # whatever a loop over optimizers counts
            return min(ended, 1)
        if self._newest is None or counted != self._known:
            return 0
        is_other_line = self._newest.site != turn.site  # no line ends two steps in a turn, unless it is a helper's
        return int(is_other_line or self._begun[-1] == ended) if counted else int(ended == 1 and is_other_line)
