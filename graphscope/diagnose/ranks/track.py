"""What the log of one rank says of its run, as small arrays: these are compared, and go from process to process."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.names import place_of
from graphscope.eventlog.ownership import is_live
from graphscope.eventlog.schema import INLINE_INPUTS, NODES, Flag, Kind, Pass
from graphscope.eventlog.siblings import title
from graphscope.eventlog.wholeness import cut, unnamed
from graphscope.graph import Graph, series
from graphscope.graph.arrivals import arrivals
from graphscope.graph.sizes import counts_of
from graphscope.graph.stacks import stacks
from graphscope.graph.step_marks import step_ends, step_marks
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Place = tuple[str, int]
"""File and line; empty and 0 where that is not known."""

NOWHERE: Final[Place] = ("", 0)

MEETING: Final = np.dtype(
    [
        ("group", "<i4"),
        ("number", "<i8"),
        ("row", "<i8"),
        ("call", "<i4"),  # which of `calls`
        ("place", "<i4"),  # which of `places`
        ("passes", "<i4"),  # so many backward passes had begun
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


@dataclass(frozen=True)
class Last:
    """Where a log ends."""

    row: int
    what: str
    """The op of its last row, else what the row says; empty of a log without rows."""
    place: Place
    """The line of it, or of the last row ahead of it that has one."""
    time: float
    """When that was, in seconds since 1970."""


class Origin(NamedTuple):
    """Where the first value that is not finite, of those that did harm, came to be so."""

    passes: int
    """So many backward passes had begun."""
    place: Place
    received: bool
    """Whether a collective wrote it, so that another rank is where it was born."""


class Loss(NamedTuple):
    """The first loss that is not finite."""

    number: int
    """The step, counted from 0."""
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
    state: str
    """`ended`; `runs`; `killed`, while it was recorded; else why the recording ended ahead of the program."""
    missing: str
    """What of it is not there, as words; empty where all is."""
    raised: str
    """The exception that ended the program, with its message; empty where none did."""
    last: Last
    groups: tuple[tuple[str, tuple[int, ...]], ...]
    calls: tuple[tuple[str, tuple[int, ...]], ...]
    """Ops and shapes of its collectives."""
    places: tuple[Place, ...]
    meetings: np.ndarray
    """A MEETING each, in the order of the log."""
    counts: tuple[int, ...]
    """The sizes of the parameters, in the order of their first updates."""
    names: tuple[str, ...]
    """What the program calls them."""
    changes: np.ndarray
    """A CHANGE for each update (row) of each parameter (column)."""
    exchanges: bool
    """Whether more than single numbers are exchanged from the first backward pass to the last update."""
    shares_forward: bool
    """Whether that is so in forward passes: a rank computes with what others have, as where a model is in parts."""
    model: Place
    """The line that made the model that is trained."""
    optimizer: Place
    """The line that made the optimizer."""
    stepped: Place
    """The line that makes the first update."""
    data: np.ndarray
    """Of each training step what it was made with: 0 where the log does not tell."""
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
    known = training(log)
    places: dict[Place, int] = {}
    updates = series.norms(log)
    tensors, first = np.unique(updates["tensor"], return_index=True)
    tensors = tensors[np.argsort(first)]
    own = [updates[updates["tensor"] == tensor] for tensor in tensors.tolist()]
    groups, meetings, calls = _meetings(log, places)
    ends = _ends(log)
    data, data_rows = _data(log, ends)
    held = frozenset(tensors.tolist())
    optimizer = _optimizer(log, held)
    loss, lost = _losses(log, ends)
    return Track(
        path=log.path,
        name=title(log.path),
        program=Path(str((log.metadata.get("argv") or [""])[0])).name,
        format=int(log.metadata["format"]),
        rows=len(log),
        first=log.first,
        state=state_of(log),
        missing=cut(log) or unnamed(log),
        raised=_raised(log),
        last=_last(log),
        groups=groups,
        calls=calls,
        places=tuple(places),
        meetings=meetings,
        counts=tuple(int(each["count"][0]) for each in own),
        names=tuple(known.name(tensor) or f"#{tensor}" for tensor in tensors.tolist()),
        changes=_changes(own, known.backward_ends),
        exchanges=_exchanges(meetings, calls, known.backward_begins, updates),
        shares_forward=_shares_forward(meetings, calls, known.backward_begins, ends),
        model=_model(log, held) or optimizer or NOWHERE,
        optimizer=optimizer or NOWHERE,
        stepped=_line(log, int(own[0]["row"][0])) if own else NOWHERE,
        data=data,
        data_rows=data_rows,
        loss=loss,
        lost=lost,
        origin=_origin(log) if lost is not None or np.isinf(updates["weight"]).any() else None,
        seconds=_seconds(log, ends),
        together=_together(meetings, ends),
    )


def _meetings(log: Log, places: dict[Place, int]) -> tuple[Any, np.ndarray, Any]:
    groups, found = arrivals(log)
    meetings = np.zeros(len(found), MEETING)
    for name in ("group", "number", "row", "time", "took", "waits"):
        meetings[name] = found[name]
    firsts, meetings["call"] = grouped([found["op"], found["shape"]])
    pairs = zip(found["op"][firsts].tolist(), found["shape"][firsts].tolist(), strict=True)
    calls = tuple((log.op(op).name, tuple(log.shape(shape))) for op, shape in pairs)
    sites, which = np.unique(found["site"], return_inverse=True)
    numbers = [places.setdefault(place_of(log.site(site)), len(places)) for site in sites.tolist()]
    meetings["place"] = np.array(numbers, np.int32)[which] if len(found) else 0
    meetings["passes"] = np.searchsorted(training(log).backward_begins, found["row"])
    return groups, meetings, calls


def _changes(own: list[np.ndarray], passes: np.ndarray) -> np.ndarray:
    least = min((len(each) for each in own), default=0)
    found = np.zeros((least, len(own)), CHANGE)
    for column, each in enumerate(own):
        for name in ("row", "rate", "gradient", "weight"):
            found[name][:, column] = each[name][:least]
    found["passes"] = np.searchsorted(passes, found["row"])
    return found


def _exchanges(meetings: np.ndarray, calls: Any, begins: np.ndarray, updates: np.ndarray) -> bool:
    if not len(begins) or not len(updates):
        return False
    return _are_large(meetings[(meetings["row"] > begins[0]) & (meetings["row"] < updates["row"][-1])], calls)


def _shares_forward(meetings: np.ndarray, calls: Any, begins: np.ndarray, ends: np.ndarray) -> bool:
    rows = meetings["row"]
    begun = np.searchsorted(begins, rows)
    at_end = np.append(0, np.searchsorted(begins, ends))[np.searchsorted(ends, rows)]
    return _are_large(meetings[(begun == at_end) & (begun > 0) & (begun < len(begins))], calls)


def _are_large(meetings: np.ndarray, calls: Any) -> bool:
    """Whether more than single numbers are exchanged in some."""
    return any(math.prod(calls[call][1]) > 1 for call in np.unique(meetings["call"]).tolist())


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


def state_of(log: Log) -> str:
    """Whether its recording has `ended`, `runs`, or was `killed`; else why it ended ahead of the program."""
    if log.stopped:
        return log.stopped
    return "ended" if log.closed else "runs" if is_live(log.path) else "killed"


def _losses(log: Log, ends: np.ndarray) -> tuple[float | None, Loss | None]:
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
        lost = Loss(int(np.flatnonzero(last >= 0)[place]), step_numbers(log).title(int(taken["root"][place])))
    if not len(ends) or last[-1] < 0:
        return None, lost
    value = float(taken["value"][-1])
    return None if value != value and not log.nonfinite(int(taken["root"][-1])) else value, lost


def _origin(log: Log) -> Origin | None:
    from graphscope.diagnose.values.births import first_birth  # each process that reads a log loads this module
    from graphscope.diagnose.values.other_ranks import of_collective

    born = first_birth(Graph(log))
    if born is None:
        return None
    passes = int(np.searchsorted(training(log).backward_begins, born.row))
    return Origin(passes, place_of(born.site), of_collective(born))


def _data(log: Log, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each step takes that no gradient flows to, where it meets what one flows to: batches, and their targets."""
    graded = int(Flag.REQUIRES_GRAD)
    ops = log.where(lambda rows: _is_forward(rows) & ((rows["flags"] & (graded | int(Flag.EDGES))) == graded))
    counts = log.pick("input_count", ops)
    takers = [ops[counts > place] for place in range(INLINE_INPUTS)]
    sources = [log.sources(each, place) for place, each in enumerate(takers)]
    taker, source = np.concatenate(takers), np.concatenate(sources)
    begun = log.pick("tensor", source).astype(np.int64)  # a parameter is one still where an optimizer has written it
    flags = log.pick("flags", source) | log.pick("flags", begun)
    ungraded = (flags & (graded | int(Flag.PARAMETER))) == 0
    taker, source = taker[ungraded], source[ungraded]
    large = counts_of(log, source) > 1
    taker, source = taker[large], source[large]
    steps = np.searchsorted(ends, taker)
    found, rows_of = np.zeros(len(ends), np.uint32), np.full(len(ends), -1, np.int64)
    order = np.lexsort((taker, source, steps))
    steps, source, taker = steps[order], source[order], taker[order]
    once = np.append(True, (steps[1:] != steps[:-1]) | (source[1:] != source[:-1]))[: len(steps)]
    once &= steps < len(ends)
    steps, source, taker = steps[once], source[once], taker[once]
    rows, which = np.unique(source, return_inverse=True)
    prints = _prints(log, rows)[which]
    order = np.arange(len(steps)) - np.searchsorted(steps, steps)
    np.add.at(found, steps, prints * (2 * order + 1).astype(np.uint32))
    rows_of[steps[::-1]] = taker[::-1]
    return found, rows_of


def _is_forward(rows: np.ndarray) -> np.ndarray:
    return np.asarray((rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD))


def _prints(log: Log, rows: np.ndarray) -> np.ndarray:
    """For the value of each row a number that is the same of the same ones; 0 where the log does not tell."""
    found = np.zeros(len(rows), np.uint32)
    for places, values in stacks(log, rows):
        looked_at = np.ascontiguousarray(values[:, :_LOOKED_AT]).view(np.uint8).reshape(len(places), -1)
        factors = np.random.default_rng(0).integers(1, 1 << 32, looked_at.shape[1], np.uint32) | 1
        found[places] = (looked_at * factors).sum(axis=1, dtype=np.uint32) | 1
    for place in np.flatnonzero((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0).tolist():
        told = log.summary(int(rows[place]))
        found[place] = 0 if told is None else zlib.crc32(repr(told).encode())
    return found


_LOOKED_AT: Final = 256
"""So many elements of a batch tell it from others."""


def _last(log: Log) -> Last:
    if not len(log):
        return Last(0, "", NOWHERE, 0.0)
    row = log.end - 1
    low = max(log.first, log.end - _BEFORE_END)
    sites, kinds = log.column("site", low, log.end), log.column("kind", low, log.end)
    told = np.flatnonzero(sites)
    place = place_of(log.site(int(sites[told[-1]]))) if len(told) else NOWHERE
    nodes = np.flatnonzero(np.isin(kinds, (*NODES, Kind.WAIT)))
    row = low + int(nodes[-1]) if len(nodes) else row
    newest = int(log.pick("time", np.array([log.end - 1]))[0])
    since = float(log.metadata.get("created", 0.0)) + (newest - int(log.metadata.get("clock", newest))) / 1e9
    return Last(row, log.op(log.event(row).op).name, place, since)


_BEFORE_END: Final = 256
"""So many rows from its end back tell where a log ends."""


def _raised(log: Log) -> str:
    for row in log.marks(Kind.EXCEPTION)[-1:].tolist():
        if log.end - row < _BEFORE_END:
            entry = log.attrs(log.event(row).attrs)
            text = " ".join(str(entry.get("text", "")).split())
            return f"{entry.get('type', 'Exception')}: {text}"[:200]
    return ""


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
    sites = [each.site for each in known.optimizers.values() if held & each.tensors]
    return next((place for site in sites if (place := known.place(site))[0]), None)
