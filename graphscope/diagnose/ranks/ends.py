"""Where each rank has come to, and what it waits for there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.channels import PLAIN, Channel, Key
from graphscope.diagnose.ranks.log_ends import Last, has_failed
from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import short_place

SENT: Final = {"send": "recv", "isend": "recv", "recv": "send", "irecv": "send"}
"""What two ranks do with each other: what the other one is to do."""


class Wait(NamedTuple):
    """A collective that a rank has not come out of."""

    group: Key
    channel: Channel
    number: int
    op: str
    place: Place

    @property
    def where(self) -> str:
        """The collective, and its line."""
        return f"{self.op} at {short_place(*self.place)}" if self.place[0] else self.op

    @property
    def has_peer(self) -> bool:
        """Whether it is done with one other rank, which is to receive what is sent, or to send what is received."""
        return self.op in SENT


class End(NamedTuple):
    """Where a rank has come to."""

    number: int
    name: str
    log: Path
    state: str
    raised: str
    last: Last
    reached: Mapping[Key, int]
    """The number of the newest collective of each group."""
    channels: Mapping[Key, Channel]
    """Of what one rank sends to another."""
    waits: Wait | None

    @property
    def has_failed(self) -> bool:
        """Whether its program raised, and nobody asked for that."""
        return has_failed(self.raised)

    @property
    def is_through(self) -> bool:
        """Whether its program has come to its end, so that nothing but what it was to do is missing."""
        return self.state == "ended" and not self.raised

    @property
    def now(self) -> str:
        """What it does, of one that waits or is through."""
        if self.waits is not None:
            return f"waits in {self.waits.where}"
        return f"has ended at {short_place(*self.last.place)}" if self.last.place[0] else "has ended"

    def made(self, group: Key) -> int:
        """So many collectives of a group it has come to."""
        return self.reached.get(group, -1) + 1


def end_of(track: Track) -> End:
    """Where a rank has come to."""
    met = track.meetings
    groups, behind = np.unique(met["group"][::-1], return_index=True)
    numbers = met["number"][len(met) - 1 - behind]
    reached = {track.groups[group]: number for group, number in zip(groups.tolist(), numbers.tolist(), strict=True)}
    waits = None
    if len(met) and met["waits"].any():
        one = met[np.flatnonzero(met["waits"])[-1]]
        call, place = track.calls[int(one["call"])][0], track.places[int(one["place"])]
        group = track.groups[int(one["group"])]
        waits = Wait(group, track.channels.get(group, PLAIN), int(one["number"]), call, place)
    return End(
        track.number, track.name, track.path, track.state, track.raised, track.last, reached, track.channels, waits
    )
