"""The ranks of a run compared: what is wrong among them, and of each what it has done, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.diagnose.placing import placed
from graphscope.diagnose.ranks.judgement import Judgement
from graphscope.diagnose.ranks.log_ends import has_failed
from graphscope.diagnose.ranks.reading import Unread
from graphscope.diagnose.ranks.told import named
from graphscope.diagnose.ranks.track import Track
from graphscope.diagnose.report import Report, Unjudged
from graphscope.eventlog.names import short_place
from graphscope.eventlog.reader import load
from graphscope.graph import Graph

BINS: Final = 100
"""So many columns the matrix of all ranks has at most."""


@dataclass(frozen=True, slots=True)
class Rank:
    """What one rank has done."""

    name: str
    log: str
    program: str
    format: int
    state: str
    rows: int
    steps: int
    """So many it has made."""
    kept: int
    """So many of them its log has."""
    every: int
    """One step of so many is recorded."""
    arguments: tuple[str, ...]
    began: float
    ended: float
    """When its recording began and ended, as far as it has, in seconds since 1970."""
    collectives: int
    loss: float | None
    """The last one; None where it is not known."""
    together: float
    """The share of its steps that it spent in collectives, from 0 to 1; NaN where that is not known."""
    last: str
    """The line where its log ends, or where it waits."""
    seconds: np.ndarray
    """How long its steps took, thinned out to BINS numbers."""
    shares: np.ndarray
    """The share of these in collectives."""

    def data(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return {
            "name": self.name,
            "log": self.log,
            "program": self.program,
            "format": self.format,
            "state": self.state,
            "rows": self.rows,
            "steps": self.steps,
            "collectives": self.collectives,
            "loss": self.loss,
            "share_in_collectives": self.together,
            "last_line": self.last,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The ranks of a run."""

    report: Report
    ranks: tuple[Rank, ...]
    odd: tuple[str, ...]
    """The ranks that findings name first, one for each."""

    def data(self) -> dict[str, Any]:
        """The same as JSON has it: the report as of `doctor`, and the ranks."""
        return {**self.report.data(), "odd": list(self.odd), "ranks": [each.data() for each in self.ranks]}


def compared(run: str, tracks: Iterable[Track | Unread]) -> Comparison:
    """Compare ranks, one after the other: little is kept of each.

    Args:
        run: What to call them together.
        tracks: The ranks, in their order.
    """
    judgement = Judgement()
    ranks: list[Rank] = []
    unread: list[Unread] = []
    taking_part: set[int] = set()
    cut: list[str] = []
    torn: dict[str, list[str]] = {}
    for each in tracks:
        if isinstance(each, Unread):
            unread.append(each)
            continue
        judgement.add(each)
        ranks.append(_rank(each))
        taking_part.update(number for _, members in each.groups for number in members)
        cut += [each.name] if each.first else []
        if each.missing:
            torn.setdefault(each.missing, []).append(each.name)
    told = judgement.told()
    findings = tuple(placed(Graph(load(each.log)), each.finding) for each in told)
    known = [*(each.name for each in ranks), *(each.name for each in unread)]
    missing = sorted(taking_part - {int(name.rpartition(" ")[2]) for name in known})
    gaps = (*_unread(unread), *_absent(missing), *_torn(torn), *_unlike(ranks), *_apart(ranks))
    gaps += (*_unfinished(ranks), *_cut(cut), *_left_out(ranks))
    report = Report(f"{run} ({len(ranks)} ranks)", sum(each.rows for each in ranks), findings, gaps)
    return Comparison(report, tuple(ranks), tuple(dict.fromkeys(each.rank for each in told)))


def _rank(track: Track) -> Rank:
    length = float(track.seconds.sum())
    known = bool(track.meetings["took"].any()) and length > 0
    seconds, together = _thinned(track.seconds), _thinned(track.together)
    with np.errstate(all="ignore"):
        shares = together / seconds if known else np.full(len(seconds), np.nan)
    return Rank(
        name=track.name,
        log=str(track.path),
        program=track.program,
        format=track.format,
        state=track.state,
        rows=track.rows,
        steps=track.made,
        kept=len(track.seconds),
        every=track.every,
        arguments=track.arguments,
        began=track.began,
        ended=track.ended,
        collectives=len(track.meetings),
        loss=track.loss,
        together=float(track.together.sum()) / length if known else float("nan"),
        last=_last(track),
        seconds=seconds,
        shares=shares,
    )


def _last(track: Track) -> str:
    waiting = track.meetings[track.meetings["waits"]][-1:]
    if not len(waiting):
        return short_place(*track.last.place)
    what = "failed" if has_failed(track.raised) else "waits"
    return f"{what} at {short_place(*track.places[int(waiting['place'][0])])}"


def _thinned(values: np.ndarray) -> np.ndarray:
    """Means of stretches, so that there are few."""
    if len(values) <= BINS:
        return values.copy()
    edges = np.linspace(0, len(values), BINS + 1).astype(np.int64)
    return np.add.reduceat(values, edges[:-1]) / np.diff(edges)


def _unread(unread: list[Unread]) -> Iterable[Unjudged]:
    for each in unread[:_FEW]:
        yield Unjudged(each.name, each.why)
    if len(unread) > _FEW:
        yield Unjudged(f"{len(unread) - _FEW} more ranks", "their logs can't be read either")


_FEW: Final = 4


def _absent(missing: list[int]) -> Iterable[Unjudged]:
    if missing:
        who = named([f"rank {number}" for number in missing])
        yield Unjudged(who, "they took part, and there is no log of them" if len(missing) > 1 else "it took part, and "
                       "there is no log of it")  # fmt: skip


def _torn(torn: dict[str, list[str]]) -> Iterable[Unjudged]:
    for what, names in [*torn.items()][:_FEW]:
        yield Unjudged(named(names), f"{what}: compared as far as it goes")
    if len(torn) > _FEW:
        yield Unjudged(f"{len(torn) - _FEW} more ranks", "their logs are cut as well")


def _unlike(ranks: list[Rank]) -> Iterable[Unjudged]:
    """Ranks of another program, or whose logs are of another format, than those of most."""
    for field, words in (("program", "ran {0}, the others {1}"), ("format", "logs of format {0}, the others of {1}")):
        counts = Counter(getattr(each, field) for each in ranks).most_common()
        usual = counts[0][0] if counts else ""
        for other, _ in counts[1:]:
            who = named([each.name for each in ranks if getattr(each, field) == other])
            yield Unjudged(who, f"{words.format(other or 'no file', usual or 'no file')}: compared as far as they go")


def _apart(ranks: list[Rank]) -> Iterable[Unjudged]:
    """Ranks that were given other arguments than most, or recorded when the others had not begun, or had ended."""
    if len(ranks) < 2:
        return
    (program, usual), count = Counter((each.program, each.arguments) for each in ranks).most_common(1)[0]
    others = [each for each in ranks if each.program == program and each.arguments != usual]
    others = others if 2 * count > len(ranks) else []
    for words in dict.fromkeys(each.arguments for each in others):
        who = named([each.name for each in others if each.arguments == words])
        yield Unjudged(who, f"given {_spoken(words)}, the others {_spoken(usual)}: are they of the same run?")
    began, ended = sorted(each.began for each in ranks)[:2], sorted(each.ended for each in ranks)[-2:]
    for each in ranks:
        next_began = began[1] if each.began == began[0] else began[0]
        last_ended = ended[0] if each.ended == ended[1] else ended[1]
        if max(next_began - each.ended, each.began - last_ended) > _APART:
            yield Unjudged(each.name, "recorded at another time than the others: is it of the same run?")


_APART: Final = 60.0
"""So many seconds between recordings are more than clocks differ by, or launchers take."""


def _spoken(words: tuple[str, ...]) -> str:
    text = " ".join(words)
    return f"`{text if len(text) <= _LONGEST else f'{text[: _LONGEST - 3]}...'}`" if words else "no arguments"


_LONGEST: Final = 80


def _left_out(ranks: list[Rank]) -> Iterable[Unjudged]:
    every = max((each.every for each in ranks), default=1)
    if every > 1:
        why = (
            f"one of {every} is recorded: what ranks do in the others, and which one hangs in them, is not in the logs"
        )
        yield Unjudged("the steps that were left out", why)


def _unfinished(ranks: list[Rank]) -> Iterable[Unjudged]:
    reasons = {
        "killed": "the recording is not finished: the process was killed, or runs on another machine",
        "runs": "the recording goes on: this is how far it is now",
    }
    for state in dict.fromkeys(each.state for each in ranks):
        if state != "ended":
            who = named([each.name for each in ranks if each.state == state])
            yield Unjudged(
                f"the end of {who}", reasons.get(state, f"the recording ended ahead of the program: {state}")
            )


def _cut(names: list[str]) -> Iterable[Unjudged]:
    if names:
        yield Unjudged(f"the beginning of {named(names)}", "the logs keep the newest rows alone")
