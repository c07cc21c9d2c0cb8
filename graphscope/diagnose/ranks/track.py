"""What the log of one rank says of its run, as small arrays: these are compared, and go from process to process."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.channels import PLAIN, Channel, Key, channels
from graphscope.diagnose.ranks.clock import UNTOLD, Clock
from graphscope.diagnose.ranks.exchanged import Exchanged
from graphscope.diagnose.ranks.fed import fed
from graphscope.diagnose.ranks.left_over import left_over
from graphscope.diagnose.ranks.log_ends import Last, last_of, raised_in, seconds, state_of
from graphscope.diagnose.ranks.place import NOWHERE, Place
from graphscope.diagnose.values.unrecorded_births import first_lost_loss
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.names import place_of
from graphscope.eventlog.numbering import JOINED
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.siblings import title
from graphscope.eventlog.wholeness import cut, unnamed
from graphscope.graph import Graph, series
from graphscope.graph.arrivals import arrivals
from graphscope.graph.pieces import share_of
from graphscope.graph.step_marks import step_ends, step_marks
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

MEETING: Final = np.dtype(
    [
        ("group", "<i4"),
        ("number", "<i8"),
        ("row", "<i8"),
        ("call", "<i4"),  # which of `calls`
        ("place", "<i4"),  # which of `places`
        ("turn", "<i4"),  # so many steps had been made, and in the step that follows
        ("passes", "<i4"),  # so many backward passes had begun: both as a Clock tells; UNTOLD of a rank without data
        ("ended", "<i4"),  # so many of the steps that are there
        ("time", "<i8"),
        ("took", "<i8"),
        ("waits", "?"),
    ]
)
"""A collective that the rank came to."""

CHANGE: Final = np.dtype(
    [("row", "<i8"), ("passes", "<i4"), ("rate", "<f8"), ("gradient", "<f8"), ("weight", "<f8")]
)  # fmt: skip
"""What an update was made with: the norms are those ahead of it."""


class Origin(NamedTuple):
    """Where the first value that is not finite, of those that did harm, came to be so."""

    turn: int
    passes: int
    """When that was, as a Clock tells."""
    place: Place
    received: bool
    """Whether a collective wrote it, so that another rank is where it was born."""


class Loss(NamedTuple):
    """The first loss that is not finite."""

    number: int
    """The step, counted from 0; of a log that is not whole, as the program makes them."""
    step: str
    """What the program calls it; empty where it calls it nothing."""


@dataclass(frozen=True)
class Track:
    """The log of one rank."""

    path: Path
    name: str
    """`rank 1`."""
    program: str
    format: int
    rows: int
    first: int
    """The oldest row that is kept."""
    every: int
    """One step of so many is recorded."""
    made: int
    """So many steps the program has made, kept or not."""
    arguments: tuple[str, ...]
    """What the program was given."""
    began: float
    ended: float
    """When the recording began and ended, as far as it has, in seconds since 1970."""
    is_whole: bool
    """Whether all rows of all steps are kept."""
    state: str
    """`ended`; `runs`; `killed`, while it was recorded; else why the recording ended ahead of the program."""
    missing: str
    """What of it is not there, as words; empty where all is."""
    is_named: bool
    """Whether its tables have what its rows name: ops, lines, groups."""
    raised: str
    """The exception that ended the program, with its message; empty where none did."""
    last: Last
    reached: float
    """When it came to its last collective, in seconds since 1970; 0 where it came to none."""
    groups: tuple[Key, ...]
    channels: Mapping[Key, Channel]
    """Of what one rank sends to another."""
    calls: tuple[tuple[str, tuple[int, ...]], ...]
    """Ops and shapes of its collectives."""
    places: tuple[Place, ...]
    meetings: np.ndarray
    """A MEETING each, in the order of the log."""
    counts: tuple[int, ...]
    """The sizes of the parameters, in the order of their first updates: of a distributed one that of all its pieces."""
    pieces: tuple[bool, ...]
    """Whether the rank holds a piece of each: its norms are not those of other ranks."""
    names: tuple[str, ...]
    """What the program calls them."""
    updates: np.ndarray
    """For each update a number that is the same in all ranks."""
    changes: np.ndarray
    """A CHANGE for each update (row) of each parameter (column); norms of pieces are told as not known."""
    exchanges: bool
    """Whether more than single numbers are exchanged from the first backward pass to the last update."""
    shares_forward: bool
    """Whether that is so in forward passes: a rank computes with what others have, as where a model is in parts."""
    trains_with_others: bool
    """Whether that is so in most steps, or as much as it has parameters is added up: not only what is reported."""
    model: Place
    """The line that made the model that is trained."""
    optimizer: Place
    """The line that made the optimizer."""
    setup: tuple[tuple[str, tuple[Mapping[str, Any], ...]], ...]
    """The optimizers: of each its class, and the settings of its groups of parameters."""
    stepped: Place
    """The line that makes the first update."""
    steps: np.ndarray
    """For each training step that is kept a number that is the same in all ranks."""
    left_over: np.ndarray
    """The numbers of those that go on with gradients which the step before has used."""
    data: np.ndarray
    """Of each of them what it was made with: 0 where the log does not tell."""
    data_rows: np.ndarray
    """The first row of each step that takes data."""
    loss: float | None
    """That of the last step; None where it is not known."""
    lost: Loss | None
    """None where all losses are finite, as far as they are known."""
    origin: Origin | None
    """None where no loss and no weight is spoilt."""
    seconds: np.ndarray
    """How long each step took."""
    together: np.ndarray
    """How much of that it spent in collectives, in seconds."""

    @property
    def number(self) -> int:
        """The rank itself; -1 of a log that is none."""
        digits = self.name.rpartition(" ")[2]
        return int(digits) if digits.isdigit() else -1


def track(log: Log) -> Track:
    """Read a log."""
    known, nameless = training(log), unnamed(log)
    clock = Clock(log)
    places: dict[Place, int] = {}
    updates = series.norms(log)
    tensors, first = np.unique(updates["tensor"], return_index=True)
    tensors = tensors[np.argsort(first)]
    own = [updates[updates["tensor"] == tensor] for tensor in tensors.tolist()]
    passages = channels(log)
    averages, groups, meetings, calls = _meetings(log, passages, places, clock)
    numbers, changes = _changes(own, clock)
    ends, last = _ends(log), last_of(log)
    data, data_rows = fed(log, ends)
    held, steps = frozenset(tensors.tolist()), clock.keys(ends)
    optimizer = _optimizer(log, held)
    loss, lost = _losses(log, ends, clock)
    shares = [share_of(log, int(each["row"][0])) for each in own]
    counts = tuple(
        int(each["count"][0]) if share is None else share.elements for each, share in zip(own, shares, strict=True)
    )
    pieces = tuple(share is not None and share.is_piece for share in shares)
    for name in ("gradient", "weight"):
        changes[name][:, np.array(pieces, bool)] = np.nan
    exchanged = Exchanged(meetings, calls, known.backward_begins, updates["row"], ends)
    return Track(
        path=log.path,
        name=title(log.path),
        program=Path(str((log.metadata.get("argv") or [""])[0])).name,
        format=int(log.metadata["format"]),
        rows=len(log),
        first=log.first,
        every=int(log.metadata.get("every", 1)),
        made=max(series.steps_made(log), len(ends)),
        arguments=tuple(map(str, (log.metadata.get("argv") or [""])[1:])),
        began=float(log.metadata.get("created", 0.0)),
        ended=float(log.metadata.get("finished") or max(last.time, log.metadata.get("created", 0.0))),
        is_whole=clock.is_whole,
        state=state_of(log),
        missing=cut(log) or nameless,
        is_named=not nameless,
        raised=raised_in(log),
        last=last,
        reached=seconds(log, int(meetings["time"][-1])) if len(meetings) else 0.0,
        groups=groups,
        channels=passages,
        calls=calls,
        places=tuple(places),
        meetings=meetings,
        counts=counts,
        pieces=pieces,
        names=tuple(known.name(tensor) or f"#{tensor}" for tensor in tensors.tolist()),
        updates=numbers,
        changes=changes,
        exchanges=averages or exchanged.while_training,
        shares_forward=exchanged.ahead_of_passes,
        trains_with_others=averages or exchanged.in_most_steps or exchanged.adds_up(sum(counts)),
        model=_model(log, held) or optimizer or NOWHERE,
        optimizer=optimizer or NOWHERE,
        setup=tuple((each.type, tuple(group.settings for group in each.groups)) for each in known.optimizers.values()),
        stepped=_line(log, int(own[0]["row"][0])) if own else NOWHERE,
        steps=steps,
        left_over=left_over(log, ends, steps),
        data=data,
        data_rows=data_rows,
        loss=loss,
        lost=lost,
        origin=_origin(log, clock) if lost is not None or np.isinf(updates["weight"]).any() else None,
        seconds=_seconds(log, ends),
        together=_together(meetings, ends),
    )


def _meetings(
    log: Log, known: Mapping[Key, Channel], places: dict[Place, int], clock: Clock
) -> tuple[bool, Any, np.ndarray, Any]:
    groups, found = arrivals(log)
    anyones = [place for place, key in enumerate(groups) if known.get(key, PLAIN).is_anyones]
    found = found[~np.isin(found["group"], anyones) | found["waits"]]  # who has sent is told behind it
    found = found[~clock.begins_within(found["row"])]
    meetings = np.zeros(len(found), MEETING)
    for name in ("group", "number", "row", "time", "took", "waits"):
        meetings[name] = found[name]
    firsts, meetings["call"] = grouped([found["op"], found["shape"]])
    pairs = zip(found["op"][firsts].tolist(), found["shape"][firsts].tolist(), strict=True)
    calls = tuple((log.op(op).name, tuple(log.shape(shape))) for op, shape in pairs)
    sites, which = np.unique(found["site"], return_inverse=True)
    numbers = [places.setdefault(place_of(log.site(site)), len(places)) for site in sites.tolist()]
    meetings["place"] = np.array(numbers, np.int32)[which] if len(found) else 0
    meetings["turn"], meetings["passes"] = clock.turns(found["row"]), clock.passes(found["row"])
    meetings["passes"][_are_joined(log, found["row"])] = UNTOLD
    meetings["ended"] = clock.ended(found["row"])
    if clock.is_sampled:  # those of steps that were left out were not counted
        meetings["number"] = clock.keys(found["row"], found["group"])
    return bool(found["averages"].any()), groups, meetings, calls


def _are_joined(log: Log, rows: np.ndarray) -> np.ndarray:
    """Which collectives a rank came to only for the others, as it had no data left."""
    entries = log.pick("attrs", rows)
    told = [entry for entry in np.unique(entries).tolist() if log.attrs(entry).get(JOINED)]
    return np.isin(entries, told)


def _changes(own: list[np.ndarray], clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    keys = [clock.keys(each["row"]) for each in own]
    common = functools.reduce(np.intersect1d, keys) if keys else np.zeros(0, np.int64)
    found = np.zeros((len(common), len(own)), CHANGE)
    for column, (each, key) in enumerate(zip(own, keys, strict=True)):
        kept = each[np.searchsorted(key, common)]
        for name in ("row", "rate", "gradient", "weight"):
            found[name][:, column] = kept[name]
    found["passes"] = clock.passes(found["row"].ravel()).reshape(found.shape)
    return common, found


def _ends(log: Log) -> np.ndarray:
    """Where training steps end, by the program's optimizers; else where its backward passes do."""
    steps = step_ends(log)
    return steps if len(steps) else log.marks(Kind.BACKWARD_END)


def _seconds(log: Log, ends: np.ndarray) -> np.ndarray:
    marks = step_marks(log)
    rows, is_recorded = (marks.rows, marks.is_recorded) if len(marks.rows) else (ends, np.ones(len(ends), bool))
    times = log.pick("time", np.concatenate([[log.first], rows])) if len(log) else np.zeros(1, np.int64)
    return np.asarray(np.diff(times.astype(np.int64))[is_recorded] / 1e9)


def _together(meetings: np.ndarray, ends: np.ndarray) -> np.ndarray:
    steps = np.searchsorted(ends, meetings["row"])
    return np.asarray(np.bincount(steps, meetings["took"] / 1e9, minlength=len(ends) + 1)[: len(ends)])


def _losses(log: Log, ends: np.ndarray, clock: Clock) -> tuple[float | None, Loss | None]:
    """The loss of the last backward pass of the last step, and the first one of any step that is not finite."""
    passes = series.losses(log)
    last = np.searchsorted(passes["begin"], ends) - 1
    taken = passes[last[last >= 0]]
    odd = np.flatnonzero(~np.isfinite(taken["value"]))  # or not known
    if log.metadata.get("nonfinite") == "flagged":
        odd = odd[(log.pick("flags", taken["root"][odd]) & int(Flag.NONFINITE | Flag.SUMMARY)) != 0]
    place = next((place for place in odd.tolist() if log.nonfinite(int(taken["root"][place]))), None)
    lost = None
    if place is not None:
        root = int(taken["root"][place])
        number = int(np.flatnonzero(last >= 0)[place]) if clock.is_whole else int(clock.turns(np.array([root]))[0])
        lost = Loss(number, step_numbers(log).title(root))
    if clock.is_sampled and (of_all := first_lost_loss(log)) is not None:
        lost = Loss(of_all.number - 1, of_all.title)
    if not len(ends) or last[-1] < 0:
        return None, lost
    value = float(taken["value"][-1])
    return None if value != value and not log.nonfinite(int(taken["root"][-1])) else value, lost


def _origin(log: Log, clock: Clock) -> Origin | None:
    from graphscope.diagnose.values.births import first_birth  # each process that reads a log loads this module
    from graphscope.diagnose.values.exchanges import of_collective

    born = first_birth(Graph(log))
    if born is None:
        return None
    row = np.array([born.row])
    return Origin(int(clock.turns(row)[0]), int(clock.passes(row)[0]), place_of(born.site), of_collective(born))


def _line(log: Log, row: int) -> Place:
    return place_of(log.site(log.event(row).site))


def _model(log: Log, held: frozenset[int]) -> Place | None:
    """The line that made the model that is trained."""
    known = training(log)
    modules = [each for each in known.modules.values() if held & set(each.parameters.values())]
    sites = [each.sites.get("", 0) for each in modules]
    return next((place for site in sites if (place := known.place(site))[0]), None)


def _optimizer(log: Log, held: frozenset[int]) -> Place | None:
    known = training(log)
    sites = [each.site for each in known.optimizers.values() if held & each.tensors or not held]
    return next((place for site in sites if (place := known.place(site))[0]), None)
