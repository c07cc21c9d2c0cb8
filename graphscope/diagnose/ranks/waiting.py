"""Which rank is waited for: where a run hangs, or has ended, while some have come to a collective and others never."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from graphscope.diagnose.finding import Confidence
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Last, Place, Track
from graphscope.eventlog.names import short_place

LONG: Final = 10.0
"""Of ranks that run, seconds after which one is waited for: it is no moment of many."""

SENT: Final = {"send": "recv", "isend": "recv", "recv": "send", "irecv": "send"}
"""What two ranks do with each other: what the other one is to do."""

Key = tuple[str, tuple[int, ...]]


class _Wait(NamedTuple):
    """A collective that a rank has not come out of."""

    group: Key
    number: int
    op: str
    place: Place

    @property
    def where(self) -> str:
        """The collective, and its line."""
        return f"{self.op} at {short_place(*self.place)}" if self.place[0] else self.op


class _End(NamedTuple):
    """Where a rank has come to."""

    name: str
    log: Path
    state: str
    raised: str
    last: Last
    reached: Mapping[Key, int]
    """The number of the newest collective of each group."""
    waits: _Wait | None


class Waiting:
    """Keeps of each rank where it ends."""

    def __init__(self) -> None:
        self._ends: dict[int, _End] = {}

    def add(self, track: Track) -> None:
        """Look at another rank."""
        met = track.meetings
        groups, behind = np.unique(met["group"][::-1], return_index=True)
        numbers = met["number"][len(met) - 1 - behind]
        reached = {track.groups[group]: number for group, number in zip(groups.tolist(), numbers.tolist(), strict=True)}
        waits = None
        if len(met) and met["waits"].any():
            one = met[np.flatnonzero(met["waits"])[-1]]
            call, place = track.calls[int(one["call"])][0], track.places[int(one["place"])]
            waits = _Wait(track.groups[int(one["group"])], int(one["number"]), call, place)
        self._ends[track.number] = _End(
            track.name, track.path, track.state, track.raised, track.last, reached, waits
        )  # fmt: skip

    def told(self) -> Iterator[Told]:
        """The ranks that others wait for, and that wait for none themselves; else those that wait for each other."""
        waiting = {rank: end for rank, end in self._ends.items() if end.waits is not None and _is_long(end)}
        behind = {rank: self._behind(end) for rank, end in waiting.items()}
        roots: dict[int, list[int]] = {}
        for rank, others in behind.items():
            for other in others:
                if self._ends[other].waits is None:
                    roots.setdefault(other, []).append(rank)
        alike: dict[tuple[Place, str], list[int]] = {}
        for root in sorted(roots):
            waiter = min(roots[root])
            if self._has_peer(waiter) and _is_through(self._ends[root]):
                yield self._alone(waiter, root)
            else:
                alike.setdefault((self._ends[root].last.place, self._ends[root].state), []).append(root)
        for ranks in alike.values():
            yield self._root(ranks, sorted(roots[ranks[0]]))
        if not roots and any(behind.values()):
            alone = [(rank, others[0]) for rank, others in behind.items() if others and self._has_peer(rank)]
            alone = [(rank, peer) for rank, peer in alone if not self._has_peer(peer)]
            yield from [self._alone(*each) for each in alone] or [self._circle(behind)]

    def _behind(self, end: _End) -> list[int]:
        """The ranks that have not come to where one waits."""
        assert end.waits is not None
        key, number, *_ = end.waits
        ranks = (rank for rank in key[1] if rank in self._ends)
        return [rank for rank in ranks if self._ends[rank].reached.get(key, -1) < number]

    def _has_peer(self, rank: int) -> bool:
        """Whether a rank waits for one other alone, which is to receive what it sends, or to send what it receives."""
        waits = self._ends[rank].waits
        return waits is not None and waits.op in SENT

    def _alone(self, rank: int, peer: int) -> Told:
        """A rank that sends what its peer never receives, or receives what that never sends."""
        end, other = self._ends[rank], self._ends[peer]
        assert end.waits is not None
        missing, made = SENT[end.waits.op], other.reached.get(end.waits.group, -1) + 1
        at = f" at {short_place(*other.last.place)}" if other.last.place[0] else ""
        now = f"waits in {other.waits.where}" if other.waits is not None else f"has ended{at}"
        verdict = (
            f"{end.name} waits in {end.waits.where} for {missing} no. {end.waits.number + 1} of {other.name}, which "
            f"has made {made or 'none'} and {now}"
        )
        cure = f"let {other.name} call {missing} as often as this line runs, in the same order, or leave this one out"
        evidence = {f"{missing}s made": made, f"{missing}s waited for": end.waits.number + 1}
        cause = f"{end.waits.op} without {missing}"
        return told(end.log, end.last.row, end.waits.place, end.name, cause, verdict, cure, evidence)

    def _root(self, ranks: list[int], waiting: list[int]) -> Told:
        end, other = self._ends[ranks[0]], self._ends[waiting[0]]
        assert other.waits is not None
        who = named([self._ends[rank].name for rank in ranks])
        waiters = named([self._ends[rank].name for rank in waiting])
        how, cure, confidence = _why(end)
        verdict = f"{who} did not come to {other.waits.where}, where {waiters} wait{'s' * (len(waiting) == 1)}: {how}"
        evidence: dict[str, float] = {"collectives ahead of it": other.waits.number, "ranks that wait": len(waiting)}
        return told(
            end.log, end.last.row, end.last.place, end.name, "waited for", verdict, cure, evidence, (), confidence
        )

    def _circle(self, behind: Mapping[int, list[int]]) -> Told:
        rank = next(rank for rank, others in behind.items() if others)
        seen: list[int] = []
        while rank not in seen and behind.get(rank):
            seen.append(rank)
            rank = behind[rank][0]
        seen = seen[seen.index(rank) :] if rank in seen else seen
        parts = []
        for each in seen:
            end = self._ends[each]
            assert end.waits is not None
            peer = f" for a {SENT[end.waits.op]} of {self._ends[behind[each][0]].name}" if self._has_peer(each) else ""
            parts.append(f"{end.name} in {end.waits.where}{peer}")
        first = self._ends[seen[0]]
        verdict = f"these ranks wait for each other: {', '.join(parts)}"
        cure = "let all ranks come to the collectives of all groups in the same order"
        if all(map(self._has_peer, seen)):
            cure = "let one of these ranks do its part first, or both at once with isend and irecv"
        return told(
            first.log, first.last.row, first.last.place, first.name, "deadlock", verdict, cure
        )  # fmt: skip


def _is_long(end: _End) -> bool:
    return end.state != "runs" or time.time() - end.last.time > LONG


def _is_through(end: _End) -> bool:
    """Whether a rank's program has come to its end, so that nothing but what it was to do is missing."""
    return end.state == "ended" and not end.raised


def _why(end: _End) -> tuple[str, str, Confidence]:
    at = f" at {short_place(*end.last.place)}" if end.last.place[0] else ""
    if end.raised:
        return f"it raised {end.raised}", "see what it raised; the others wait for it until their time is up", "certain"
    if end.state == "ended":
        cure = "let all ranks take as many steps: drop_last, a sampler that fills up, or `join` of what wraps the model"
        return f"its program has ended{at}", cure, "certain"
    behind = f", behind {end.last.what}" if end.last.what else ""
    if end.state == "runs":
        return f"it is{at}{behind}, and runs", "see what it does there: data, a lock, a file, a loop", "likely"
    cure = (
        "see what it does behind that line: data, a lock, a file, a loop; or why it was killed (dmesg, the scheduler)"
    )
    return f"its log ends{at}{behind}", cure, "likely"
