"""Which rank's program failed, or was killed, ahead of those that then found it gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from graphscope.diagnose.ranks.channels import Key
from graphscope.diagnose.ranks.log_ends import Last, has_failed
from graphscope.diagnose.ranks.place import NOWHERE, Place
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import short_place

_LONG: Final = 10.0
"""Who waits for so many seconds and fails then, waited for somebody."""


class _End(NamedTuple):
    """How a rank's recording ends."""

    name: str
    log: Path
    is_killed: bool
    raised: str
    last: Last
    collective: str
    """The op of the collective that it came to last."""
    place: Place
    """The line of that."""
    met: tuple[Key, int] | None
    """Its group, and its number in that."""
    reached: float
    """When that was, in seconds since 1970."""

    @property
    def is_in_collective(self) -> bool:
        """Whether it raised in what it does together with others."""
        return bool(self.raised) and (self.last.is_wait or self.last.place == self.place != NOWHERE)


class Deaths:
    """Keeps of each rank how it ends."""

    def __init__(self) -> None:
        self._ends: list[_End] = []

    def add(self, track: Track) -> None:
        """Look at another rank."""
        met = track.meetings[-1:]
        op = track.calls[int(met["call"][0])][0] if len(met) else ""
        place = track.places[int(met["place"][0])] if len(met) else NOWHERE
        key = (track.groups[int(met["group"][0])], int(met["number"][0])) if len(met) else None
        is_killed = track.state == "killed" and not track.raised
        self._ends.append(
            _End(track.name, track.path, is_killed, track.raised, track.last, op, place, key, track.reached)
        )

    def told(self) -> Iterator[Told]:
        """Those that failed by themselves; else those that were killed, or late, as others failed in a collective."""
        raised = [each for each in self._ends if has_failed(each.raised)]
        found_gone = [each for each in raised if each.is_in_collective]
        own = [each for each in raised if not each.is_in_collective]
        killed = [each for each in self._ends if each.is_killed]
        if own:
            first = min(own, key=lambda each: each.last.time)
            same = [each for each in own if (each.raised, each.last.place) == (first.raised, first.last.place)]
            what = f"raised {first.raised}{_at(first.last.place)}"
            yield _told(same, "raised", what, found_gone, "see what it raised; graphscope doctor LOG says more of it")
        elif found_gone and killed:
            cure = "see why: the memory of its machine (dmesg), the scheduler, and what it wrote to its own output"
            what = f"{'was' if len(killed) == 1 else 'were'} killed, or died{_at(killed[0].last.place, 'behind')}"
            yield _told(killed, "killed", what, found_gone, cure)
        elif found_gone:
            first = min(found_gone, key=lambda each: each.last.time)
            rest = [each for each in found_gone if each is not first]
            late = [each for each in rest if _came_late(each, first)]
            if late:
                yield _late(late, first)
                return
            what = f"raised {first.raised}{_at(first.last.place)}, in {first.collective}"
            yield _told([first], "raised", what, rest, "see what it raised, and what the other ranks did then")


def _told(ranks: list[_End], cause: str, what: str, others: list[_End], cure: str) -> Told:
    one = ranks[0]
    verdict = f"{named([each.name for each in ranks])} {what}"
    if others:
        where = f"{others[0].collective}{_at(others[0].place)} ({others[0].raised.partition(':')[0]})"
        verdict += f"; then {named([each.name for each in others])} failed in {where}"
    evidence: dict[str, float] = {"ranks that failed then": len(others)} if others else {}
    return told(one.log, one.last.row, one.last.place, one.name, cause, verdict, cure, evidence)


def _came_late(rank: _End, first: _End) -> bool:
    """Whether a rank came to where another had waited for long, when that had failed."""
    is_same = rank.met == first.met is not None
    return is_same and first.last.time - first.reached > _LONG and rank.reached > first.last.time


def _late(ranks: list[_End], first: _End) -> Told:
    one = ranks[0]
    behind = min(each.reached for each in ranks) - first.reached
    verdict = (
        f"{named([each.name for each in ranks])} came to {one.collective}{_at(one.place)} {behind:.0f} s behind "
        f"{first.name}, which had failed there meanwhile: {first.raised}"
    )
    cure = "see what it did ahead of that line: data, a lock, a file, a loop; or give the group a longer timeout"
    evidence = {"seconds behind": behind, "seconds until that failed": first.last.time - first.reached}
    return told(one.log, one.last.row, one.last.place, one.name, "late", verdict, cure, evidence)


def _at(place: Place, word: str = "at") -> str:
    return f" {word} {short_place(*place)}" if place[0] else ""
