"""Which rank is waited for: where a run hangs, or has ended, while some have come to a collective and others never."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

from graphscope.diagnose.finding import Confidence
from graphscope.diagnose.ranks import messages
from graphscope.diagnose.ranks.ends import SENT, End, Wait, end_of
from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import short_place

LONG: Final = 10.0
"""Of ranks that run, seconds after which one is waited for: it is no moment of many."""


class Waiting:
    """Keeps of each rank where it ends."""

    def __init__(self) -> None:
        self._ends: dict[int, End] = {}

    def add(self, track: Track) -> None:
        """Look at another rank."""
        self._ends[track.number] = end_of(track)

    def told(self) -> Iterator[Told]:
        """The ranks that others wait for, and that wait for none themselves; else those that wait for each other."""
        waiting = {rank: end for rank, end in self._ends.items() if end.waits is not None and _is_long(end)}
        behind = {rank: self._behind(end) for rank, end in waiting.items()}
        if all(self._has_found_dead(rank, others) for rank, others in behind.items()):
            return  # how ranks die is told elsewhere
        roots: dict[int, list[int]] = {}
        for rank, others in behind.items():
            for other in others:
                if self._ends[other].waits is None:
                    roots.setdefault(other, []).append(rank)
        alike: dict[tuple[Place, str], list[int]] = {}
        alone: dict[int, list[int]] = {}
        for root in sorted(roots):
            waiter = min(roots[root])
            if self._has_peer(waiter) and self._ends[root].is_through:
                alone[waiter] = behind[waiter]
            else:
                alike.setdefault((self._ends[root].last.place, self._ends[root].state), []).append(root)
        for rank, others in alone.items():
            yield self._alone(rank, others)
        for ranks in alike.values():
            yield self._root(ranks, sorted(roots[ranks[0]]))
        if not roots:
            yield from self._among_themselves(behind)

    def _among_themselves(self, behind: Mapping[int, list[int]]) -> Iterator[Told]:
        """What is said where all that ranks wait for wait as well."""
        pairs = [(self._ends[one], self._ends[other]) for one in behind for other in behind if one != other]
        apart = [found for each in pairs if (found := messages.tags_apart(*each)) is not None]
        alone = [(rank, others) for rank, others in behind.items() if others and self._has_peer(rank)]
        alone = [(rank, others) for rank, others in alone if not any(map(self._has_peer, others))]
        # what a peer has done as well, and did not come through: it was let go, or nobody came for it
        lost = [(rank, self._peers(rank)) for rank, others in behind.items() if not others and self._has_peer(rank)]
        if apart:
            yield from apart
        elif alone:
            yield from (self._alone(*each) for each in alone)
        elif lost:
            yield from (self._alone(*each) for each in lost if each[1])
        elif any(behind.values()):
            yield self._circle(behind)

    def _behind(self, end: End) -> list[int]:
        """The ranks that have not come to where one waits."""
        assert end.waits is not None
        key, number = end.waits.group, end.waits.number
        ranks = (rank for rank in key[1] if rank in self._ends)
        return [rank for rank in ranks if self._ends[rank].reached.get(key, -1) < number]

    def _has_found_dead(self, rank: int, others: list[int]) -> bool:
        """Whether it raised where it waited, and one of those that it waited for had raised before."""
        end = self._ends[rank]
        dead = (self._ends[other] for other in others if self._ends[other].has_failed)
        return end.has_failed and any(other.last.time <= end.last.time for other in dead)

    def _has_peer(self, rank: int) -> bool:
        waits = self._ends[rank].waits
        return waits is not None and waits.has_peer

    def _peers(self, rank: int) -> list[int]:
        """Those that a rank sends to or receives from where it waits, but for one that waits for the same message."""
        waits = self._ends[rank].waits
        others = (each for each in waits.group[1] if each != rank and each in self._ends) if waits is not None else ()
        return [each for each in others if not _are_one(waits, self._ends[each].waits)]

    def _alone(self, rank: int, others: list[int]) -> Told:
        return messages.alone(self._ends[rank], [self._ends[each] for each in others])

    def _root(self, ranks: list[int], waiting: list[int]) -> Told:
        end, other = self._ends[ranks[0]], self._ends[waiting[0]]
        assert other.waits is not None
        who = named([self._ends[rank].name for rank in ranks])
        waiters = named([self._ends[rank].name for rank in waiting])
        how, cure, confidence = _why(end)
        verdict = f"{who} did not come to {other.waits.where}, where {waiters} {self._what(waiting)}: {how}"
        evidence: dict[str, float] = {"collectives ahead of it": other.waits.number, "ranks that wait": len(waiting)}
        return told(
            end.log, end.last.row, end.last.place, end.name, "waited for", verdict, cure, evidence, (), confidence
        )

    def _what(self, waiting: list[int]) -> str:
        """What ranks do, or did, where one did not come to."""
        if all(self._ends[rank].has_failed for rank in waiting):
            return "failed"
        return "waits" if len(waiting) == 1 else "wait"

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
            who = "any rank" if end.waits.channel.is_anyones else self._ends[behind[each][0]].name
            peer = f" for a {SENT[end.waits.op]} of {who}" if end.waits.has_peer else ""
            parts.append(f"{end.name} in {end.waits.where}{peer}")
        first = self._ends[seen[0]]
        verdict = f"these ranks wait for each other: {', '.join(parts)}"
        cure = "let all ranks come to the collectives of all groups in the same order"
        if all(map(self._has_peer, seen)):
            cure = "let one of these ranks do its part first, or both at once with isend and irecv"
        return told(
            first.log, first.last.row, first.last.place, first.name, "deadlock", verdict, cure
        )  # fmt: skip


def _are_one(here: Wait | None, there: Wait | None) -> bool:
    return here is not None and there is not None and (here.group, here.number) == (there.group, there.number)


def _is_long(end: End) -> bool:
    return end.state != "runs" or time.time() - end.last.time > LONG


def _why(end: End) -> tuple[str, str, Confidence]:
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
