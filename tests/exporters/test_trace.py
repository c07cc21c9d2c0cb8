"""Traces: well-formed by the published Trace Event Format, and true to the times of the log."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
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
    first = min(slices)  # a forward op
    origin = int(log.raw(first)["time"]) - int(log.raw(first)["duration"]) - slices[first]["ts"] * 1000
    for row, event in slices.items():
        raw = log.raw(row)
        begin = int(raw["time"]) - (0 if raw["kind"] == Kind.GRAD else int(raw["duration"])) - origin
        assert event["ts"] * 1000 == pytest.approx(begin, abs=2)
        assert event["dur"] * 1000 == pytest.approx(int(raw["duration"]), abs=1)
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


@pytest.mark.parametrize("seed", range(4))
def test_slices_lie_in_one_another_whatever_times_a_log_tells(log: Log, seed: int) -> None:
    rng = np.random.default_rng(seed)
    (file,) = log.path.glob("segments/*/events.npy")
    events = np.load(file, mmap_mode="r+")
    for name in ("time", "duration"):
        moved = events[name].astype(np.int64) + rng.integers(-(10**6), 10**6, len(events)) * rng.integers(0, 2)
        events[name] = np.maximum(moved, 1)
    events.flush()
    log = load(log.path)
    assert set(nested(events_of(log))) == {node.row for node in log.graph.nodes if node.kind != "leaf"}


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
        assert "draws one of 3 training steps" in str(raised.value.hint)
    assert events_of(log, select="op:tanh")


def test_the_longest_suffix_says_the_format(log: Log, tmp_path: Path) -> None:
    export(log, tmp_path / "run.trace.json")
    export(log, tmp_path / "run.json")
    assert "traceEvents" in json.loads((tmp_path / "run.trace.json").read_text())
    assert json.loads((tmp_path / "run.json").read_text())["format"] == "graphscope-graph"


def test_a_name_of_a_program_is_data(recorded: Callable[..., Log], tmp_path: Path) -> None:
    name = '</script>"\\ \ud800'

    def program() -> None:
        thread = threading.Thread(target=lambda: gs.tensor([1.0]) * 2, name=name)
        thread.start()
        thread.join()

    log = recorded(program)
    export(log, tmp_path / "run.trace.json")
    (track,) = {event["args"]["name"] for event in events_of(log) if event["name"] == "thread_name"}
    assert track.startswith('</script>"\\ ')


@pytest.mark.torch
def test_memory_is_counted_and_shares_of_a_call_lie_behind_one_another(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with gs.record(tmp_path / "run.gscope", memory=True):
        weights = [torch.ones(64, 64, requires_grad=True) for _ in range(3)]
        optimizer = torch.optim.AdamW(weights)
        torch.linalg.multi_dot(weights).sum().backward()
        optimizer.step()
    log = load(tmp_path / "run.gscope")
    events = events_of(log)
    counters = phase(events, "C")
    assert counters[-1]["args"]["gradients"] == sum(each.grad.nbytes for each in weights)
    assert [event["ts"] for event in counters] == sorted(event["ts"] for event in counters)
    assert set(nested(events)) == {node.row for node in log.graph.nodes if node.kind != "leaf"}
