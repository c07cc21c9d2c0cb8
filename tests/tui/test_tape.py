"""Lines, folds and lanes of the tape, compared with what a plain reading of the log says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.eventlog.reader import Event, Log, load
from graphscope.eventlog.schema import NODES, Kind
from graphscope.tui.glyphs import ASCII, UNICODE
from graphscope.tui.passes import passes_of
from graphscope.tui.tape.lanes import REACH, STRETCH, draw, lanes_of
from graphscope.tui.tape.lines import BLOCK, HIDDEN, Lines


def shown_rows(log: Log) -> list[int]:
    return [row for row in range(log.first, log.end) if log.event(row).kind not in HIDDEN]


def all_lines(log: Log) -> Lines:
    lines = Lines(log)
    while not lines.complete:
        lines.extend()
    return lines


def test_lines_are_the_rows_that_are_shown(training: Path) -> None:
    log = load(training)
    lines = all_lines(log)

    assert [lines.row(line) for line in range(len(lines))] == shown_rows(log)
    assert all(lines.line(lines.row(line)) == line for line in range(len(lines)))
    assert lines.row(len(lines)) is None
    assert lines.row(-1) is None


def test_folds_hide_rows_and_nest(training: Path) -> None:
    log = load(training)
    lines = all_lines(log)
    whole = shown_rows(log)
    lines.fold(whole[4], whole[9])
    lines.fold(whole[6], whole[8])

    assert [lines.row(line) for line in range(len(lines))] == whole[:5] + whole[10:]
    lines.unfold(whole[4])
    assert [lines.row(line) for line in range(len(lines))] == whole[:7] + whole[9:]
    lines.unfold(whole[6])
    assert [lines.row(line) for line in range(len(lines))] == whole


def test_lines_of_a_log_of_several_blocks(write_long: Callable[[Path, int], Path], tmp_path: Path) -> None:
    log = load(write_long(tmp_path / "long.gscope", 2 * BLOCK + 1000))
    lines = all_lines(log)
    lines.fold(BLOCK - 10, BLOCK + 20)

    assert len(lines) == 2 * BLOCK + 1000 - 30
    assert lines.row(BLOCK - 10) == BLOCK - 10
    assert lines.row(BLOCK - 9) == BLOCK + 21
    assert lines.line(2 * BLOCK + 999) == len(lines) - 1


def test_steps_and_passes(training: Path) -> None:
    log = load(training)
    passes = passes_of(log)
    kinds = [log.event(row).kind for row in range(log.first, log.end)]

    assert passes.steps == [row for row, kind in enumerate(kinds) if kind == Kind.STEP]
    for row in range(log.first, log.end):
        assert passes.step_of(row) == 1 + sum(step < row for step in passes.steps)
        begun = [begin for begin in passes.begins if begin <= row]
        ended = [end for end in passes.ends if end < row]
        assert passes.begin_of(row) == (begun[-1] if len(begun) > len(ended) else None)


def reader(log: Log) -> Callable[[int], Event | None]:
    return lambda row: log.event(row) if log.first <= row < log.end else None


@pytest.mark.parametrize("first", [0, 3])
def test_a_lane_leads_to_its_node_from_each_input_that_is_near(training: Path, first: int) -> None:
    log = load(training)
    lanes = lanes_of(first * 8, reader(log), log.end)
    held: dict[int, int] = {}
    for row, found in lanes.items():
        sources = {source for source, _ in log.event(row).inputs}
        if first == 0:
            assert {held[lane] for lane in found.used} == {source for source in sources if row - source <= REACH}
        for lane in found.ended:
            held.pop(lane, None)
        assert found.own not in held, "two values in one lane"
        if found.goes_on:
            held[found.own] = row
    assert sorted(lanes) == [row for row in range(first * 8, log.end) if log.event(row).kind in NODES][: len(lanes)]
    assert len(lanes) <= STRETCH


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [3, 8, 20])
def test_lanes_are_drawn_in_the_room_they_have(training: Path, glyphs: object, width: int) -> None:
    log = load(training)
    for found in lanes_of(0, reader(log), log.end).values():
        cells = draw(found, "@", glyphs, width)
        assert len(cells) <= width
        assert [text for text, _ in cells].count("@") == 1 or found.own * 2 < width
        assert all(len(text) == 1 for text, _ in cells)
