"""What is to be known of two runs beside where they part: what a log does not hold, what a person changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from graphscope.compare.edits import edited_rows
from graphscope.diagnose.text_lines import counted
from graphscope.eventlog.schema import NODES, Flag, Kind
from graphscope.eventlog.values import POLICIES
from graphscope.graph import Graph
from graphscope.graph.quantities import bytes_text

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Compared = Literal["values", "statistics", "shapes"]

_EDITS: Final = 3
"""So many are named."""

_CAP: Final = 1 << 20
"""What a value might take in logs that do not say it."""

_COMPARED: Final[dict[str, Compared]] = {"full": "values", "summary": "statistics", "none": "shapes"}


def compared(a: Log, b: Log) -> Compared:
    """What there is to compare of each node: the least that one of the two logs holds."""
    return _COMPARED[max((_policy(log) for log in (a, b)), key=POLICIES.index)]


def remarks(a: Log, b: Log) -> Iterator[str]:
    """What is missing in either log, and what was changed by hand in it, as whole sentences."""
    for name, log in (("a", a), ("b", b)):
        yield from (f"{name} ({log.path.name}) {what}." for what in (*_missing(log), *_edits(log)))


def strangers(names: Mapping[str, str], a: Log, b: Log) -> Iterator[str]:
    """What a person says belongs together, and a run has nothing that is called so, as whole sentences."""
    for run, log, given in (("a", a, names), ("b", b, names.values())):
        if given:
            known = _names(log)
            yield from (
                f"{run} ({log.path.name}) has no module and no parameter that is called {each!r}: it was left alone."
                for each in given
                if not any(f"{name}.".startswith(f"{each}.") for name in known)
            )


def _names(log: Log) -> set[str]:
    """What the leaves of a log are called."""
    graph = Graph(log)
    leaves = [first + np.flatnonzero(rows["kind"] == Kind.LEAF) for first, rows in log.chunks()]
    return {graph.node(row).name for rows in leaves for row in rows.tolist()}


def _missing(log: Log) -> Iterator[str]:
    if not len(log):
        yield "holds no events: nothing was recorded"
        return
    if log.stopped:
        yield f"was not recorded to its end: {log.stopped}"
    elif not log.closed:
        yield "is not finished, and is compared as far as it goes: the program still runs, or was killed"
    elif (raised := _raised(log)) is not None:
        yield f"{raised}, and is compared as far as it ran"
    if log.first > 0:
        yield f"keeps the rows from #{log.first} on"
    if _policy(log) == "none":
        yield "keeps no values: ops and shapes alone are compared; record with --values full"
    elif _policy(log) == "summary":
        yield "keeps no large values: of those the statistics are compared; record with --values full"
    elif log.dropped > log.first:
        yield f"has let go of the values before #{log.dropped}; record with a larger budget, or --values summary"
    if _policy(log) == "full" and (large := _summarised(log)):
        above = bytes_text(int(log.metadata.get("cap", _CAP)))
        yield (
            f"keeps statistics alone of {counted(large, 'value')}, as of those above {above}: their elements are not "
            "compared"
        )


def _edits(log: Log) -> Iterator[str]:
    edited = map(Graph(log).node, edited_rows(log))
    told = [f"#{node.row} {node.label} {node.name}".rstrip() for node in edited]
    if told:
        more = f" and {len(told) - _EDITS} more" if len(told) > _EDITS else ""
        yield f"was changed by hand at {', '.join(told[:_EDITS])}{more}"


def _summarised(log: Log) -> int:
    """Of how many nodes a log holds statistics in place of a value."""
    found = 0
    for _, rows in log.chunks():
        found += int(np.count_nonzero(np.isin(rows["kind"], NODES) & ((rows["flags"] & int(Flag.SUMMARY)) != 0)))
    return found


def _policy(log: Log) -> str:
    return str(log.metadata.get("values", "full"))


def _raised(log: Log) -> str | None:
    """What is to be said of the exception that ended the program: no node came after it."""
    raised = log.marks(Kind.EXCEPTION)
    if not len(raised) or np.isin(log.column("kind", int(raised[-1])), [*NODES]).any():
        return None
    told = log.attrs(log.event(int(raised[-1])).attrs)
    if told.get("type") == "KeyboardInterrupt":
        return "was interrupted"
    return f"failed with {told.get('type') or 'an exception'}" + (f": {told['text']}" if told.get("text") else "")
