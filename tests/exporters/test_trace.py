"""Traces: well-formed by the published Trace Event Format, and true to the times of the log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
import graphscope.nn as nn
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.exporters.export import export

Event = dict[str, Any]


def training() -> None:
    """Three steps of a small network."""
    gs.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(gs.randn(5, 4)).sum()
        loss.backward()
        optimizer.step()


def events_of(thing: Any, **options: Any) -> list[Event]:
    """The events of a trace, after a look at what the format asks of each."""
    events: list[Event] = json.loads(export(thing, format="trace", **options))["traceEvents"]
    needed = {"M": {"args"}, "X": {"ts", "dur", "tid"}, "s": {"id", "ts", "tid"}, "f": {"id", "ts", "tid"}, "C": {"ts"}}
    for event in events:
        assert {"name", "pid", *needed[event["ph"]]} <= event.keys()
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0
    return events


def phase(events: Iterable[Event], name: str) -> list[Event]:
    """The events of a phase."""
    return [event for event in events if event["ph"] == name]


def nested(events: Iterable[Event]) -> dict[int, list[str]]:
    """By row, what each slice lies in, the outermost first; slices that only partly overlap are refused."""
    tracks = defaultdict(list)
    for event in phase(events, "X"):
        begin = round(event["ts"] * 1000)
        tracks[event["tid"]].append((begin, begin + round(event["dur"] * 1000), event))
    found = {}
    for slices in tracks.values():
        around: list[tuple[int, str]] = []
        for begin, end, event in sorted(slices, key=lambda each: (each[0], -each[1])):
            while around and around[-1][0] <= begin:
                around.pop()
            assert all(end <= limit for limit, _ in around), event
            if "args" in event:
                found[event["args"]["row"]] = [name for _, name in around]
            around.append((end, event["name"]))
    return found


@pytest.fixture
def log(recorded: Callable[..., Log]) -> Log:
    """The log of a training."""
    return recorded(training)


def test_every_node_that_ran_is_a_slice_of_its_time(log: Log) -> None:
    slices = {event["args"]["row"]: event for event in phase(events_of(log), "X") if "args" in event}
    assert set(slices) == {node.row for node in log.graph.nodes if node.kind != "leaf"}
    first = min(slices)
    origin = int(log.raw(first)["time"]) - int(log.raw(first)["duration"])
    for row, event in slices.items():
        raw = log.raw(row)
        is_due = raw["kind"] == Kind.GRAD
        recorded = int(raw["time"]) - (0 if is_due else int(raw["duration"])) - origin
        assert event["ts"] * 1000 >= recorded - 1
        assert event["dur"] * 1000 <= int(raw["duration"]) + 1
        assert event["args"]["nanoseconds"] == raw["duration"]


def test_slices_lie_in_their_steps_passes_and_modules(log: Log) -> None:
    around = nested(events_of(log))
    products = [node for node in log.graph.nodes if node.op in ("linear", "tanh") and node.scope]
    assert len(products) == 3 * 3 * 2
    for place, node in enumerate(products):
        step = f"step {place // 6}"
        middle = ["backward pass"] if node.graph_pass == "backward" else []
        assert around[node.row][: 1 + len(middle)] == [step, *middle]
        if node.graph_pass == "forward":
            assert around[node.row][-1].startswith(f"{node.scope} (")


def test_an_arrow_leads_from_each_op_to_its_rule(log: Log) -> None:
    events = events_of(log)
    rows = {(event["tid"], event["ts"]): event["args"]["row"] for event in phase(events, "X") if "args" in event}
    ends = {event["id"]: rows[event["tid"], event["ts"]] for event in phase(events, "f")}
    begins = {event["id"]: rows[event["tid"], event["ts"]] for event in phase(events, "s")}
    rules = [node for node in log.graph.nodes if node.kind == "grad"]
    assert {(begins[id], ends[id]) for id in ends} == {(node.forward.row, node.row) for node in rules}


def test_a_step_and_a_pass_can_be_chosen(log: Log) -> None:
    events = events_of(log, step=1)
    titles = {event["name"] for event in phase(events, "X") if "args" not in event}
    assert "step 1" in titles
    assert "step 0" not in titles
    (track,) = {event["tid"] for event in phase(events_of(log, graph_pass="backward"), "X")}
    assert track == 1


def test_what_has_no_times_is_told_in_a_sentence(recorded: Callable[..., Log]) -> None:
    with pytest.raises(ExportError, match="only a recording tells when"):
        export(gs.tensor(1.0, requires_grad=True) * 2, format="trace")
    with pytest.raises(ExportError, match="nothing that took time"):
        export(recorded(lambda: gs.tensor([1.0])), format="trace")


def test_of_too_many_nodes_a_part_is_asked_for(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from graphscope.exporters import EXPORTERS

    monkeypatch.setitem(EXPORTERS, "trace", replace(EXPORTERS["trace"], most=20))
    for options in ({}, {"select": "forward"}):
        with pytest.raises(ExportError, match="nodes are too many") as raised:
            export(log, format="trace", **options)
        assert "choose a step" in str(raised.value.hint)
    assert events_of(log, select="op:tanh")


def test_the_longest_suffix_says_the_format(log: Log, tmp_path: Path) -> None:
    export(log, tmp_path / "run.trace.json")
    export(log, tmp_path / "run.json")
    assert "traceEvents" in json.loads((tmp_path / "run.trace.json").read_text())
    assert json.loads((tmp_path / "run.json").read_text())["format"] == "graphscope-graph"


@pytest.mark.torch
def test_memory_is_counted_where_it_was_recorded(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope", memory=True):
        weight = torch.ones(64, 64, requires_grad=True)
        (weight @ weight).sum().backward()
    counters = phase(events_of(load(tmp_path / "run.gscope")), "C")
    assert counters[-1]["args"]["gradients"] == weight.grad.nbytes
    times = [event["ts"] for event in counters]
    assert times == sorted(times)
