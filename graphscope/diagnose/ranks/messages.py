"""Ranks that wait for what another one sends or receives: for what it never does, or does with another tag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphscope.diagnose.ranks.ends import SENT, End
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.eventlog.names import short_place

_DOES: Final = {"send": "sends", "recv": "receives"}


def alone(end: End, others: Sequence[End]) -> Told:
    """A rank that sends what its peer never receives, or receives what that never sends.

    Args:
        end: The rank.
        others: The peer; of a rank that receives from whoever sends, all others.
    """
    assert end.waits is not None
    if end.waits.channel.is_anyones:
        return _of_anyone(end, others)
    op, number, other = end.waits.op, end.waits.number + 1, others[0]
    missing, made, astray = SENT[op], other.made(end.waits.group), _astray(end, other)
    tag = end.waits.channel.tag
    tagged = f" with tag {tag}" if tag or astray else ""
    besides = f", but {' and '.join(astray)} that {end.name} never {_DOES[SENT[missing]]}," if astray else ""
    verdict = (
        f"{end.name} waits in {end.waits.where} for {missing} no. {number}{tagged} of {other.name}, which has made "
        f"{made or 'none'}{besides} and {other.now}"
    )
    cure = f"let {other.name} call {missing} as often as this line runs, in the same order, or leave this one out"
    if astray:
        cure = f"give this line and the {missing} of {other.name} the same tag"
    elif made >= number:
        cure = "keep what isend returns, and wait() for it: what nobody holds may never be sent"
    evidence = {f"{missing}s made": made, f"{missing}s waited for": number}
    return told(
        end.log, end.last.row, end.waits.place, end.name, f"{op} without {missing}", verdict, cure, evidence
    )  # fmt: skip


def _astray(end: End, other: End) -> list[str]:
    """What the peer of a rank does with other tags more often than the rank does."""
    assert end.waits is not None
    group, missing = end.waits.group, SENT[end.waits.op]
    more = {key: other.made(key) - end.made(key) for key in other.channels if key[1] == group[1]}
    tags = {key: other.channels[key].tag for key in more}
    return [
        f"{count} {missing}{'s' * (count > 1)} with tag {tags[key]}"
        for key, count in more.items()
        if count > 0 and tags[key] != end.waits.channel.tag
    ]


def _of_anyone(end: End, others: Sequence[End]) -> Told:
    assert end.waits is not None
    tag = end.waits.channel.tag
    doing: dict[str, list[str]] = {}
    for each in others:
        doing.setdefault(each.now, []).append(each.name)
    now = ", ".join(f"{named(names)} {_of_several(what, len(names))}" for what, names in doing.items())
    verdict = (
        f"{end.name} waits in {end.waits.where} for what any rank sends{f' with tag {tag}' if tag else ''}, and none "
        f"does: {now}"
    )
    cure = "let another rank send as often as this line runs, or leave this one out"
    return told(
        end.log, end.last.row, end.waits.place, end.name, f"{end.waits.op} without send", verdict, cure
    )  # fmt: skip


def _of_several(what: str, count: int) -> str:
    return what if count == 1 else what.replace("waits ", "wait ", 1).replace("has ", "have ", 1)


def tags_apart(one: End, other: End) -> Told | None:
    """A rank that waits to send to another which waits to receive from it, with another tag."""
    here, there = one.waits, other.waits
    if here is None or there is None or SENT.get(here.op) != "recv" or SENT.get(there.op) != "send":
        return None
    is_meant = one.number in there.group[1] if there.channel.is_anyones else there.group[1] == here.group[1]
    tags = here.channel.tag, there.channel.tag
    if here.group[1] != (one.number, other.number) or not is_meant or tags[0] == tags[1]:
        return None
    at = f" at {short_place(*there.place)}" if there.place[0] else ""
    verdict = (
        f"{one.name} sends with tag {tags[0]} in {here.where} what {other.name} is to receive with tag {tags[1]} in "
        f"{there.op}{at}: neither goes on"
    )
    cure = "give both the same tag"
    return told(one.log, one.last.row, here.place, one.name, "tags apart", verdict, cure)
