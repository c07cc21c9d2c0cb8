"""All that is wrong with a recorded run: every check is asked, and what they find is put in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import Check, every
from graphscope.diagnose.consequences import arranged
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding, with_consequences
from graphscope.diagnose.placing import placed
from graphscope.diagnose.report import Report, Unjudged
from graphscope.diagnose.training.side_by_side import side_by_side
from graphscope.errors import LogError
from graphscope.eventlog import record
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.siblings import bare, ranks_among, title
from graphscope.eventlog.wholeness import cut, ended_early, owned_up
from graphscope.graph import Graph, series

if TYPE_CHECKING:
    pass

_MOST: Final = 500
"""So many findings of one check are read: what a sick run repeats in every step is told by the first ones."""


def doctor(log: Log | str | os.PathLike[str], *others: Log | str | os.PathLike[str]) -> Report:
    """Say what is wrong with a recorded run: where it was written, why, and what to do; nothing of a healthy one.

    Args:
        log: A log, or the path of one.
        others: The logs of the other ranks of the run: then what is said is, too, which rank parts from the others. Or
            one other recording of the same program: then what is said is where the two part.

    Raises:
        LogError: One can't be read, or several are neither ranks of one run nor two recordings.
    """
    logs = [each if isinstance(each, Log) else load(each) for each in (log, *others)]
    if len(logs) == 1:
        return examined(Graph(logs[0]))
    if len(ranks_among([each.path for each in logs])) == len(logs):
        return ranked(logs)
    if len(logs) > 2:
        raise LogError("these logs are not the ranks of one run", hint="one is judged at a time, or two are compared")
    return compared(*logs)


def ranked(logs: Sequence[Log]) -> Report:
    """What is wrong with the first rank of a run, and which rank parts from the others."""
    from graphscope.diagnose.ranks.judgement import Judgement  # few runs have ranks, and each command loads this module
    from graphscope.diagnose.ranks.track import track

    among = Judgement()
    for log in logs:
        among.add(track(log))
    graphs = {log.path: Graph(log) for log in logs}
    told = tuple(placed(graphs[each.log], each.finding) for each in among.told())
    report = examined(graphs[logs[0].path])
    known = {each.identity for each in with_consequences(report)}
    told = tuple(each for each in told if each.identity not in known)  # a NaN may be born in the first rank
    name = f"{logs[0].path.with_name(bare(logs[0].path))} ({len(logs)} ranks)"
    unjudged = (*report.unjudged, *_torn(logs[1:]))
    return replace(report, log=name, findings=(*told, *report.findings), unjudged=unjudged)


def compared(log: Log, other: Log) -> Report:
    """Where two recordings of one program part."""
    from graphscope.diagnose.two_runs import parting

    graph, found = Graph(log), parting(log, other)
    told = () if found is None else (placed(graph, found),)
    unjudged = [*_gaps(graph), *_torn([other])]
    lengths = [len(each) for each in (log, other)]
    if found is None and lengths[0] != lengths[1]:
        unjudged.append(Unjudged("the end of the longer run", f"one has {lengths[0]:,} rows, the other {lengths[1]:,}"))
    return Report(f"{log.path} and {other.path}", len(log), told, tuple(unjudged))


def examined(graph: Graph, checks: Iterable[Check] | None = None) -> Report:
    """What is wrong up to the `now` of a graph; of all that is known, or of some checks alone."""
    log = graph.log
    found: list[Finding] = []
    unjudged = [*_gaps(graph)]
    for check in every().values() if checks is None else checks:
        try:
            found += _merged(_judged(check, graph, unjudged))
        except Exception as error:  # noqa: BLE001 - whatever one check does, the others go on
            unjudged.append(Unjudged(check.title, f"the check `{check.name}` failed ({type(error).__name__}: {error})"))
        log.release()
    told = (placed(graph, each) for each in found)
    roots = sorted(arranged(graph, list(told)), key=_importance)
    return Report(str(log.path), max(graph.now + 1 - log.first, 0), tuple(roots), tuple(unjudged))


def _judged(check: Check, graph: Graph, unjudged: list[Unjudged]) -> Iterator[Finding]:
    found = check.findings(graph)
    yield from islice(found, _MOST)
    if next(found, None) is not None:
        unjudged.append(Unjudged(check.title, f"only the first {_MOST} were looked at"))


def _merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with those of the same place and cause as one: the first, with all names and how many there are."""
    first: dict[tuple[object, ...], Finding] = {}
    for each in findings:
        place = (each.file, each.line) if each.file else each.names
        key = (each.kind, place, each.cause)
        known = first.get(key)
        if known is None:
            first[key] = each
        else:
            names = tuple(dict.fromkeys((*known.names, *each.names)))
            first[key] = replace(known, names=names, count=known.count + each.count)
    return list(first.values())


def _importance(found: Finding) -> tuple[bool, int]:
    """Errors, and what leads to them, stand ahead of warnings; then what comes first in the log."""
    family = (found, *found.consequences)
    return all(each.severity != "error" for each in family), min(each.row for each in family)


def _is_recorded_here(log: Log) -> bool:
    """Whether this very process records a log, and asks about it while it goes on."""
    return record.writer is not None and record.writer.path == log.path


def _torn(logs: Iterable[Log], what: str = "") -> Iterator[Unjudged]:
    """The logs of which something is missing."""
    for log in logs:
        if missing := cut(log):
            yield Unjudged(what or title(log.path) or str(log.path), owned_up(missing))


def _gaps(graph: Graph) -> Iterator[Unjudged]:
    """What a log does not hold, and what can't be judged for that."""
    log = graph.log
    yield from _torn([log], "the whole run")
    if not len(log):
        yield Unjudged("everything", "the log holds no events: nothing was recorded")
        return
    if early := ended_early(log):
        yield Unjudged("the end of the run", early)
    elif not log.closed and not _is_recorded_here(log):
        yield Unjudged("the end of the run", "the recording is not finished: the program still runs, or was killed")
    if log.first > 0:
        yield Unjudged("the beginning of the run", f"the log keeps the rows from #{log.first} on")
    kept = str(log.metadata.get("values", ""))
    if kept == "none":
        unknown = {"values"} if np.isfinite(series.losses(log)["value"]).any() else {"values", "series"}
        needing = [check.title for check in every().values() if unknown.intersection(check.reads)]
        yield Unjudged(", ".join(needing), "the log keeps no values; record with --values summary")
    elif log.dropped > log.first:
        why = "the log outgrew its budget and let go of them: record with --values summary, or gs.record(budget=...)"
        yield Unjudged(f"the values before #{log.dropped}", why)
    if log.metadata.get("capture") == "calls":
        yield Unjudged("the backward passes", "they were not recorded; record with --capture calls+backward")
    elif not len(graph.index.marks(Kind.BACKWARD_BEGIN)):
        yield Unjudged("gradients and learning", "no backward pass was recorded")
    if threads := side_by_side(log):
        why = f"{listed(threads)} train side by side, and steps and losses of all are counted in one row"
        yield Unjudged("what changes from step to step", f"{why}; record one of them at a time, or each in its process")
