"""Lines, folds and lanes of the tape, compared with what a plain reading of the log says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.eventlog.reader import Event, Log, load
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.outline import SectionKind, outline, steps
from graphscope.graph.outline.kinds import ROW, SLOT_BITS, key_of
from graphscope.graph.outline.outline import BLOCK
from graphscope.tui.glyphs import ASCII, UNICODE
from graphscope.tui.tape.lanes import REACH, draw, lanes_of
from graphscope.tui.tape.lines import Lines
from graphscope.tui.tape.loops import Loop

SILENT = (Kind.SCOPE_ENTER, Kind.SCOPE_EXIT, Kind.BACKWARD_BEGIN, Kind.BACKWARD_END, Kind.STEP)
"""What the headers of a log of several steps tell, and where they end."""


def rows_to_show(log: Log) -> list[int]:
    events = [log.event(row) for row in range(log.first, log.end)]
    told_again = [each.row for each in events if each.kind == Kind.LEAF and each.tensor != each.row]
    return [each.row for each in events if each.kind not in SILENT and each.row not in told_again]


def all_lines(log: Log, height: int = 1000) -> Lines:
    """The lines of a log on a tape that is so high."""
    lines = Lines(log)
    while not lines.complete:
        lines.extend()
    lines.fits(height)
    return lines


def keys_of(lines: Lines) -> list[int]:
    return [lines.key(line) for line in range(len(lines))]


def rows_of(lines: Lines) -> list[int]:
    """The rows that have a line of their own."""
    return [key >> SLOT_BITS for key in keys_of(lines) if key == key_of(key >> SLOT_BITS, ROW)]


def headers_of(lines: Lines) -> list[tuple[SectionKind, int]]:
    told = [lines.told(key) for key in keys_of(lines)]
    return [(SectionKind(int(line.section["kind"])), line.row) for line in told if line.section is not None]


def test_what_fits_is_shown_as_a_whole(training: Path) -> None:
    log = load(training)
    lines = all_lines(log)

    assert rows_of(lines) == rows_to_show(log)
    assert keys_of(lines) == sorted(keys_of(lines))
    assert all(lines.line_of(key) == line for line, key in enumerate(keys_of(lines)))
    assert lines.key(len(lines)) is None
    assert lines.key(-1) is None


def test_headers_are_where_things_begin(training: Path) -> None:
    log = load(training)
    headers = headers_of(all_lines(log))
    events = [log.event(row) for row in range(log.first, log.end)]

    assert [row for kind, row in headers if kind == SectionKind.STEP] == steps(log).first.tolist()
    assert [row for kind, row in headers if kind == SectionKind.PASS] == [
        each.row for each in events if each.kind == Kind.BACKWARD_BEGIN
    ]
    entered = [each.row for each in events if each.kind == Kind.SCOPE_ENTER]
    assert [row for kind, row in headers if kind == SectionKind.SCOPE and row in entered] == entered


def test_at_first_the_first_step_is_open_as_far_as_it_fits(training: Path) -> None:
    log = load(training)
    lines = all_lines(log, height=12)
    first, last = int(steps(log).first[0]), int(steps(log).last[0])

    assert [row for kind, row in headers_of(lines) if kind == SectionKind.STEP] == steps(log).first.tolist()
    assert all(row <= last for row in rows_of(lines)), "the other steps are folded"
    assert {row for row in rows_to_show(log) if row < first} <= set(rows_of(lines))
    inside = [key for key in keys_of(lines) if first <= key >> SLOT_BITS <= last]
    assert 3 < len(inside) <= 12


def test_the_way_to_where_one_stands_is_open_as_long_as_one_stands_there(training: Path) -> None:
    log = load(training)
    lines = all_lines(log, height=12)
    before = keys_of(lines)
    for row in (row for row in rows_to_show(log) if log.event(row).kind in NODES):
        lines.stand(row)
        assert lines.shown(row), row
        around = [
            key for key in keys_of(lines) if lines.told(key).section is not None and not lines.told(key).is_closed
        ]
        assert set(lines.holding(key_of(row, ROW))) <= set(around)
    lines.stand(int(steps(log).first[0]))
    assert len(keys_of(lines)) <= len(before) + 8


def test_what_a_person_folds_stays_so_and_what_is_in_it_is_found_at_its_header(training: Path) -> None:
    log = load(training)
    lines = all_lines(log, height=12)
    step = next(key for key in keys_of(lines) if lines.told(key).section is not None)
    whole = keys_of(lines)
    first, last = lines.span(step)
    lines.fold(step, True)

    assert keys_of(lines) == [key for key in whole if key <= step or not first <= key >> SLOT_BITS <= last]
    assert all(lines.key(lines.line(row)) == step for row in range(first, last + 1))
    lines.stand(first + 2)
    assert lines.told(step).is_closed
    lines.fold(step, False)
    assert set(whole) <= set(keys_of(lines))


def test_all_can_be_opened_and_closed(training: Path) -> None:
    log = load(training)
    lines = all_lines(log, height=12)
    first, last = int(steps(log).first[0]), int(steps(log).last[0])
    lines.toggle_all(first)

    assert [row for row in rows_of(lines) if first <= row <= last] == [
        row for row in rows_to_show(log) if first <= row <= last
    ]
    lines.toggle_all(first)
    inside = [lines.told(key) for key in keys_of(lines) if first <= key >> SLOT_BITS <= last]
    assert all(
        line.is_closed for line in inside if line.section is not None and line.section["kind"] != SectionKind.STEP
    )


def test_lines_of_a_log_of_several_blocks(write_long: Callable[[Path, int], Path], tmp_path: Path) -> None:
    log = load(write_long(tmp_path / "long.gscope", 2 * BLOCK + 1000))
    lines = all_lines(log)
    lines.close_loop(key_of(BLOCK - 10, ROW), Loop(BLOCK - 10, BLOCK + 20, 1, 31))

    assert len(lines) == 2 * BLOCK + 1000 - 30
    assert lines.row(BLOCK - 10) == BLOCK - 10
    assert lines.row(BLOCK - 9) == BLOCK + 21
    assert lines.line(2 * BLOCK + 999) == len(lines) - 1


@pytest.mark.slow
def test_blocks_of_folded_steps_are_not_looked_into(
    recorded: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 2 * BLOCK // 10
    source = "import graphscope as gs\nw = gs.ones(3, requires_grad=True)\n"
    source += f"for t in range({turns}):\n    (w * w).sum().backward()\n"
    log = load(recorded("turns", source))
    lines = Lines(log)
    lines.fits(20)
    while not lines.complete:
        lines.extend()

    assert len(steps(log)) == turns
    assert [row for kind, row in headers_of(lines) if kind == SectionKind.STEP] == steps(log).first.tolist()
    assert len(outline(log)._kept) <= 3, "the first stretch, and those that steps cross"
    with monkeypatch.context() as patch:
        patch.setattr(outline(log), "stretch", None)
        keys = [key_of(first, 1) for first in steps(log).first.tolist()[1:]]
        assert all(lines.told(key).is_closed and lines.is_closed(key) for key in keys)
        assert [lines.holding(key) for key in keys] == [[key] for key in keys]
    far = int(steps(log).first[turns - 5]) + 1
    lines.stand(far)
    assert lines.shown(far)


def reader(log: Log) -> Callable[[int], Event | None]:
    return lambda row: log.event(row) if log.first <= row < log.end else None


@pytest.mark.parametrize("first", [0, 24])
def test_a_lane_leads_to_its_node_from_each_input_that_is_near(training: Path, first: int) -> None:
    log = load(training)
    lanes = lanes_of(range(first, log.end), reader(log))
    held: dict[int, int] = {}
    for row, found in lanes.items():
        sources = {source for source, _ in log.event(row).inputs if source >= first}
        assert {held[lane] for lane in found.used} == {source for source in sources if row - source <= REACH}
        for lane in found.ended:
            held.pop(lane, None)
        assert found.own not in held, "two values in one lane"
        if found.goes_on:
            held[found.own] = row
    assert sorted(lanes) == [row for row in range(first, log.end) if log.event(row).kind in NODES]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [3, 8, 20])
def test_lanes_are_drawn_in_the_room_they_have(training: Path, glyphs: object, width: int) -> None:
    log = load(training)
    for found in lanes_of(range(log.end), reader(log)).values():
        cells = draw(found, "@", glyphs, width)
        assert len(cells) <= width
        assert [text for text, _ in cells].count("@") == 1 or found.own * 2 < width
        assert all(len(text) == 1 for text, _ in cells)
