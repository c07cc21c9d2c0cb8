"""What a rank has sent, and its peer never received, though nobody waited for it: both went on to their ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphscope.diagnose.ranks.channels import Key
from graphscope.diagnose.ranks.ends import End, end_of
from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.told import Told, told
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import short_place


class _Sends(NamedTuple):
    """What a rank has sent to another with one tag."""

    sender: int
    log: Path
    rows: np.ndarray
    places: list[Place]


class Unreceived:
    """Counts what ranks send to each other, of recordings that are whole and have ended."""

    def __init__(self) -> None:
        self._ends: dict[int, End] = {}
        self._sends: dict[Key, _Sends] = {}

    def add(self, track: Track) -> None:
        """Look at another rank."""
        end = end_of(track)
        if not end.is_through or end.waits is not None or not track.is_whole or track.missing:
            return
        self._ends[track.number] = end
        for key in end.channels:
            if key[1][:1] == (track.number,) and len(key[1]) == 2 and not end.channels[key].is_anyones:
                met = track.meetings[track.meetings["group"] == track.groups.index(key)]
                places = [track.places[place] for place in met["place"].tolist()]
                self._sends[key] = _Sends(track.number, track.path, met["row"].copy(), places)

    def told(self) -> Iterator[Told]:
        """Of each sender, receiver and tag the first message that is not received."""
        for key, sends in self._sends.items():
            receiver = self._ends.get(key[1][1])
            if receiver is None or any(each.is_anyones for each in receiver.channels.values()):
                continue  # what it receives from whoever sends may have come, and not been waited for
            count, received = len(sends.rows), receiver.made(key)
            if count > received:
                yield self._one(key, sends, receiver, received)

    def _one(self, key: Key, sends: _Sends, receiver: End, received: int) -> Told:
        sender = self._ends[sends.sender]
        tag, place = sender.channels[key].tag, sends.places[received]
        tagged = f" with tag {tag}" if tag else ""
        at = f" at {short_place(*place)}" if place[0] else ""
        verdict = (
            f"{sender.name} sends{at} what {receiver.name} never receives: {len(sends.rows)} messages{tagged} were "
            f"sent to it, of which it has received {received or 'none'} when its recording ends"
        )
        cure = f"let {receiver.name} receive as often as this line runs, or leave this one out"
        evidence = {"sent": len(sends.rows), "received": received}
        return told(
            sends.log, int(sends.rows[received]), place, sender.name, "sent and not received", verdict, cure, evidence,
            confidence="likely", severity="warning",
        )  # fmt: skip
