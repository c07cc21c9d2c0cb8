"""Every question of the how-to is asked of DuckDB, and its answer compared with what was planted or is counted here."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.query import questions
from graphscope.diagnose import doctor
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.outline.steps import steps
from tests.docs.pages import ROOT

from .conftest import WAYS, Recorded
from .program import EVERY, JUMP, PARTING, STEPS

pytest.importorskip("duckdb")

ASKED = dict(questions((ROOT / "docs" / "how-to" / "query.md").read_text(encoding="utf-8")))
Rows = list[tuple[Any, ...]]
ANSWERS: dict[str, Callable[[Recorded, Rows], None]] = {}


def answers(question: str) -> Callable[[Callable[[Recorded, Rows], None]], None]:
    """Enter what checks the answer of a question."""

    def enter(check: Callable[[Recorded, Rows], None]) -> None:
        ANSWERS[question] = check

    return enter


@answers("At which step do the ranks' gradients first differ?")
def _(recorded: Recorded, rows: Rows) -> None:
    assert rows == [("train", PARTING)]


@answers("Which parameters hardly move?")
def _(recorded: Recorded, rows: Rows) -> None:
    wanted = [
        ("train", rank, name, len(small), pytest.approx(max(small), rel=1e-3))
        for rank in (0, 1)
        for name, ratios in sorted(recorded.seen["train", rank].ratios.items())
        if (small := [ratio for ratio in ratios if ratio < 1e-6])
    ]
    assert {each[2] for each in wanted} == {"0.bias", "0.weight"}
    assert rows == wanted


@answers("Which lines take the time of each pass?")
def _(recorded: Recorded, rows: Rows) -> None:
    spent: Counter[tuple[str, str, int]] = Counter()
    times: Counter[tuple[str, str, int]] = Counter()
    for log in opened(recorded).values():
        for row in nodes_of(log):
            event = log.event(row)
            place = log.site(event.site)
            if place is not None:
                key = ("backward" if event.graph_pass else "forward"), place.file, place.line
                spent[key] += event.duration
                times[key] += 1
    wanted = sorted(spent, key=lambda key: (-spent[key], *key))[:10]
    assert [row[:3] for row in rows] == wanted
    assert [row[4:] for row in rows] == [(pytest.approx(spent[key] / 1e6), times[key]) for key in wanted]
    assert all(row[3] == Path(row[1]).read_text(encoding="utf-8").splitlines()[row[2] - 1].strip() for row in rows)


@answers("Which runs of a sweep got their NaN from the same op?")
def _(recorded: Recorded, rows: Rows) -> None:
    assert [(op, runs) for op, _, runs in rows] == [("log", ["a-train", "c-train"]), ("sqrt", ["b-train"])]
    assert set(WAYS.values()) == {"log", "sqrt"}


@answers("Which run ended with the least loss?")
def _(recorded: Recorded, rows: Rows) -> None:
    numbers = {
        run: [loss for loss in seen.losses if not math.isnan(loss)]
        for (run, rank), seen in recorded.seen.items()
        if rank == 0
    }
    wanted = sorted((losses[-1], run) for run, losses in numbers.items())
    assert [row[0] for row in rows] == [run for _, run in wanted]
    assert [row[1:] for row in rows] == [
        (pytest.approx(last), pytest.approx(min(numbers[run]))) for last, run in wanted
    ]


@answers("How did the loss go between the steps that a flight recorder kept?")
def _(recorded: Recorded, rows: Rows) -> None:
    losses = recorded.seen["flight", 0].losses
    told = np.load(recorded.logs["flight", 0] / "series.npy")["step"]
    kept = [step for step in range(len(losses)) if step < 2 or step % EVERY == 0]
    wanted = []
    for start, stop in zip(kept, [*kept[1:], len(losses)], strict=True):
        part = [losses[step] for step in range(start, stop) if step + 1 in told]
        wanted.append(("flight", 0, f"step {start}", len(part), min(part), max(part)))
    assert rows == wanted
    assert any(told > 1 for *_, told, _, _ in rows)


@answers("Which rank is waited for?")
def _(recorded: Recorded, rows: Rows) -> None:
    took = [durations(log) for (run, _), log in opened(recorded).items() if run == "train"]
    lost: Counter[int] = Counter()
    steps: Counter[int] = Counter()
    for first, second in zip(*took, strict=True):
        slowest = 0 if first >= second else 1
        steps[slowest] += 1
        lost[slowest] += abs(first - second)
    wanted = sorted(lost, key=lambda rank: -lost[rank])
    assert [row[:3] for row in rows] == [("train", rank, steps[rank]) for rank in wanted]
    assert [row[3] for row in rows] == pytest.approx([lost[rank] / 1e6 for rank in wanted])


@answers("Which activations are nearly all zero?")
def _(recorded: Recorded, rows: Rows) -> None:
    assert [(row[0], row[1], row[3], row[4]) for row in rows] == [
        ("train", rank, "dead = (x - 100.0).relu()", 1.0) for rank in (0, 1)
    ]


@answers("Where does a gradient grow tenfold from one step to the next?")
def _(recorded: Recorded, rows: Rows) -> None:
    wanted = [
        (run, rank, name, step + 2, pytest.approx(before, rel=1e-5), pytest.approx(after, rel=1e-5))
        for (run, rank), seen in sorted(recorded.seen.items())
        for step in range(STEPS - 1)
        for name, norms in sorted(seen.gradients.items())
        for before, after in [norms[step : step + 2]]
        if after > 10 * before > 0
    ]
    assert len(wanted) >= 8  # the jump
    assert {each[3] for each in wanted} == {JUMP}
    assert rows == wanted


@answers("What is the loss of a step made of?")
def _(recorded: Recorded, rows: Rows) -> None:
    found = defaultdict(list)
    for run, rank, kind, op, name, line in rows:
        found[run, rank].append((kind, op, name, line))
    for key, log in opened(recorded).items():
        end = int(steps(log).last[0])
        begin = next(row for row in range(end, log.end) if log.event(row).kind == Kind.BACKWARD_BEGIN)
        wanted, left = set(), [log.inputs(begin)[0][0]]
        while left:
            row = left.pop()
            wanted.add(row)
            left += [source for source, _ in log.inputs(row)] if row > end else []
        nodes = [log.graph.node(row) for row in sorted(wanted)]
        assert [(kind, op, line) for kind, op, _, line in found[key]] == [
            (node.kind, node.op, log.site(node.event.site).line) for node in nodes
        ]
    assert {"0.weight", "2.bias"} <= {name for *_, name, _ in found["train", 0]}


@answers("Which faults do runs share?")
def _(recorded: Recorded, rows: Rows) -> None:
    wanted = defaultdict(set)
    for (run, _), log in recorded.logs.items():
        for finding in doctor(log):
            wanted[finding.kind, finding.cause].add(run)
    assert {(kind, cause): set(runs) for kind, cause, runs, _ in rows} == dict(wanted)
    assert any(len(runs) > 1 for runs in wanted.values())


def opened(recorded: Recorded) -> dict[tuple[str, int], Log]:
    return {key: load(path) for key, path in recorded.logs.items()}


def nodes_of(log: Log) -> list[int]:
    return [row for row in range(log.first, log.end) if log.raw(row)["kind"] in NODES]


def durations(log: Log) -> list[int]:
    """How long each step took, row by row."""
    found = steps(log)
    return [
        log.event(int(last)).time - log.event(max(int(first) - 1, log.first)).time
        for first, last in zip(found.first, found.last, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("question", ASKED)
def test_question_is_answered(question: str, recorded: Recorded) -> None:
    from graphscope.tables import query

    ANSWERS[question](recorded, query([recorded.tables], ASKED[question]).rows)


def test_there_are_eleven_questions() -> None:
    assert len(ASKED) == 11
    assert ASKED.keys() == ANSWERS.keys()
