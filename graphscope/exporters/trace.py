"""A trace: what ran when, as the timelines of Perfetto and of Chrome read it (the Trace Event Format, as JSON)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import ExportError
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.schema import Kind, Pass
from graphscope.exporters.program_name import program_name
from graphscope.exporters.registry import exporter
from graphscope.exporters.slices import Slice, Track, slices
from graphscope.graph.memory import KINDS, memory

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node
    from graphscope.graph.view import GraphView

__all__ = ["trace"]

_PROCESS: Final = 1


@exporter("trace", suffix=".trace.json", is_whole=True, most=100_000)
def trace(view: GraphView) -> str:
    """What ran when, for Perfetto and Chrome: both passes by step and module, what belongs together, and memory."""
    if view.graph is None:
        raise ExportError("only a recording tells when its nodes ran", "export the log of a recorded program")
    rows = np.unique([row for node in view.nodes if node.kind != "leaf" for row in node.rows]).astype(np.int64)
    if not len(rows):
        raise ExportError("there is nothing that took time: leaves alone were chosen", "choose ops, or another step")
    found = slices(view.graph.log, rows)
    start = min(each.begin for each in found)
    tracks = {track: number for number, track in enumerate(sorted({each.track for each in found}), 1)}
    events = [
        *_names(view, tracks),
        *(_slice(view.graph, each, tracks[each.track], start) for each in found),
        *_flows(view.graph, found, tracks, start),
        *_memory(view.graph, rows, start),
    ]
    lines = ",\n".join(json.dumps(each, allow_nan=False) for each in events)
    return f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'


def _event(phase: str, name: str, time: int, **others: Any) -> dict[str, Any]:
    """An event; its time, of nanoseconds, is told in microseconds."""
    return {"ph": phase, "name": name, "pid": _PROCESS, "ts": time / 1000, **others}


def _names(view: GraphView, tracks: dict[Track, int]) -> Iterator[dict[str, Any]]:
    """What the process and its tracks are called; the passes of a thread lie below each other."""
    yield {"ph": "M", "name": "process_name", "pid": _PROCESS, "args": {"name": program_name(view)}}
    for track, number in tracks.items():
        thread = "" if view.graph is None else str(view.graph.log.thread(track.thread).get("name", ""))
        title = f"{thread or f'thread {track.thread}'}, {Pass(track.graph_pass).name.lower()}"
        yield {"ph": "M", "name": "thread_name", "pid": _PROCESS, "tid": number, "args": {"name": title}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": _PROCESS, "tid": number, "args": {"sort_index": number}}


def _slice(graph: Graph, slice: Slice, track: int, start: int) -> dict[str, Any]:
    node = None if slice.row is None else graph.node(slice.row)
    told = {} if node is None else {"args": _facts(node)}
    name, category = (slice.title, "section") if node is None else (node.label, node.kind)
    duration = (slice.end - slice.begin) / 1000
    return _event("X", name, slice.begin - start, dur=duration, tid=track, cat=category, **told)


def _facts(node: Node) -> dict[str, Any]:
    """What is told of a node beside the slice."""
    told = {
        "row": node.row,
        "name": node.name,
        "shape": list(node.shape),
        "dtype": node.dtype,
        "module": node.scope_title,
        "line": short_place(*place_of(node.site)),
        "code": node.source_line.strip(),
        "nanoseconds": node.duration,
    }
    return {name: fact for name, fact in told.items() if fact != ""}


def _flows(graph: Graph, found: list[Slice], tracks: dict[Track, int], start: int) -> Iterator[dict[str, Any]]:
    """An arrow from each op to the rule that answers it."""
    of_rows = {each.row: each for each in found if each.row is not None}
    for row, rule in of_rows.items():
        event = graph.index.event(row)
        op = of_rows.get(event.forward) if event.kind == Kind.GRAD else None
        if op is not None and op.track.graph_pass == Pass.FORWARD:
            shared = {"id": row, "cat": "backward"}
            yield _event("s", "backward", op.begin - start, tid=tracks[op.track], **shared)
            yield _event("f", "backward", rule.begin - start, tid=tracks[rule.track], bp="e", **shared)


def _memory(graph: Graph, rows: np.ndarray, start: int) -> Iterator[dict[str, Any]]:
    """The bytes that are alive behind each row that changed them; nothing where that was not recorded."""
    log, held = graph.log, memory(graph.log)
    if held is None:
        return
    first, last = int(rows[0]), int(rows[-1])
    behind = graph.index.nodes(log.end, last + 1)[:1]  # what is freed at the end is told of the rows that follow
    low, high = np.searchsorted(held.rows, (first, int(behind[0]) if len(behind) else log.end + 1))
    changed = held.rows[low:high]
    places = low + np.flatnonzero(np.append(changed[1:] != changed[:-1], True)[: len(changed)])
    times = log.pick("time", np.minimum(held.rows[places], log.end - 1)).astype(np.int64)
    for place, time in zip(places.tolist(), times.tolist(), strict=True):
        alive = dict(zip(KINDS.values(), held.alive[place].tolist(), strict=True))
        yield _event("C", "memory (bytes)", max(time - start, 0), args=alive)
