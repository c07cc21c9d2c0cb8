"""The timeline: what a window shows, which scale a curve takes, and how keys and the wheel zoom."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.eventlog.schema import NODES, Kind
from graphscope.eventlog.writer import Writer
from graphscope.graph import Graph
from graphscope.graph.memory import recorded as recorded_memory
from graphscope.graph.outline import facts, steps
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.timeline.curves import curves_of
from graphscope.tui.timeline.scale import scaled
from graphscope.tui.timeline.timeline import Timeline
from graphscope.tui.timeline.window import Window
from tests.tui.screens import Screen, drive


@pytest.mark.slow
@given(
    first=st.integers(0, 1000),
    count=st.integers(1, 10**7),
    cells=st.integers(1, 200),
    zooms=st.lists(st.tuples(st.sampled_from((-1, 1)), st.floats(0, 1)), max_size=30),
)
def test_a_window_lies_in_the_run_and_holds_what_it_was_put_around(
    first: int, count: int, cells: int, zooms: list[tuple[int, float]]
) -> None:
    window = Window(first, count, cells)
    for by, share in zooms:
        row = first + int(share * (count - 1))
        before, window = window, window.zoomed(by, row)
        assert (window.size <= before.size) if by > 0 else (window.size >= before.size)
        window = window.around(row)
        assert first <= window.start
        assert window.start + window.size <= first + count
        assert row in window
        assert window.size >= min(cells, count)
        cell = window.cell(row)
        assert 0 <= cell < cells
        assert window.row(cell) <= row
        assert cell == cells - 1 or row < window.row(cell + 1) or window.size < cells


def test_zooming_in_and_out_comes_back() -> None:
    window = Window(0, 1 << 20, 100)
    for _ in range(40):
        window = window.zoomed(1, 777_777)
    assert window.size == 100
    for _ in range(40):
        window = window.zoomed(-1, 777_777)
    assert window.is_whole


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (list(10.0 ** -np.linspace(0, 6, 50)), True),  # a loss that falls over six decades
        ([100.0 / (step + 1) ** 2 for step in range(60)], True),
        (list(2.3 - 0.01 * np.arange(60)), False),
        (list(np.sin(np.arange(50)) + 2), False),
        ([1.0, -1.0, 1000.0], False),
        ([0.0, 1e-9, 1.0], False),
        ([1.0] * 50, False),
        ([], False),
        ([float("nan")] * 3, False),
        ([*10.0 ** -np.linspace(0, 6, 50), float("nan"), float("inf")], True),
    ],
)
def test_a_logarithmic_scale_is_taken_where_it_shows_more(values: list[float], expected: bool) -> None:
    drawn, is_logarithmic = scaled(values)
    assert is_logarithmic is expected
    assert len(drawn) == len(values)
    finite = [place for place, value in enumerate(values) if np.isfinite(value)]
    order = sorted(finite, key=lambda place: values[place])
    assert all(drawn[one] <= drawn[other] for one, other in itertools.pairwise(order))


@pytest.mark.slow
def test_keys_zoom_around_where_one_stands(training: Path) -> None:
    async def use(screen: Screen) -> None:
        timeline = screen.main.query_one(Timeline)
        log = screen.main.scene.log
        await screen.press("end")
        await screen.until(lambda: screen.now > log.end // 2, "the end")
        whole = timeline.window
        assert whole.is_whole
        await screen.press("full_stop")
        assert timeline.window.size == max(whole.size // 2, min(whole.cells, whole.count))
        assert screen.now in timeline.window
        await screen.press("home")
        await screen.until(lambda: screen.now in timeline.window and screen.now < log.end // 2, "the beginning")
        await screen.pilot.click("#timeline", offset=(timeline.size.width - 2, 0))
        await screen.until(lambda: screen.now > timeline.window.start + timeline.window.size * 0.9, "the click")
        await screen.press("comma", "comma")
        assert timeline.window.is_whole
        await screen.shows("loss", "#timeline")

    drive(training, use)


@pytest.mark.slow
def test_losses_that_are_no_numbers_are_told_of(recorded: Callable[[str, str], Path]) -> None:
    source = "import graphscope as torch\nw = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    steps = "for step in range(4):\n    loss = (w - step).sqrt().sum()\n    loss.backward()\n"
    log = recorded("sinks", source + steps)

    async def use(screen: Screen) -> None:
        await screen.shows("loss nan", "#tape")
        line = next(line for line in screen.part("#timeline").split("\n") if line.startswith("loss"))
        assert "!" in line
        assert line.rstrip().endswith("1..2.414")

    drive(log, use)


STORAGES = ((0, None, 4096), (1, 7, 1024), (2, 9, 8192), (5, 12, 2048), (10, 14, 1 << 16), (20, 21, 512))
"""Of each: the row that was next when it was made, the same when it was freed, and its bytes."""


@pytest.fixture
def holding(tmp_path: Path) -> Path:
    """A log of 30 rows that tells of memory."""
    writer = Writer(tmp_path / "holding.gscope", memory=True)
    relu = writer.intern("ops", "relu", {"name": "relu", "formula": "out = max(x, 0)", "inputs": ["x"]})
    leaf = writer.template(Kind.LEAF, shape=(2,), dtype=np.dtype("f4"))
    op = writer.template(Kind.OP, op=relu, shape=(2,), dtype=np.dtype("f4"), input_count=1)
    writer.append(leaf, np.zeros(2, np.float32))
    for row in range(1, 30):
        writer.append(op, np.zeros(2, np.float32), 0, 0, 0, row - 1)
    changes = [["made", born, number, size] for number, (born, _, size) in enumerate(STORAGES)]
    changes += [["freed", freed, number, 0] for number, (_, freed, _) in enumerate(STORAGES) if freed is not None]
    writer.intern("memory", 0, sorted(changes, key=lambda change: change[1]))
    writer.close()
    return tmp_path / "holding.gscope"


def alive(row: int) -> int:
    return sum(size for born, freed, size in STORAGES if born <= row and (freed is None or row < freed))


@pytest.mark.slow
@given(start=st.integers(0, 29), rows=st.integers(1, 30), cells=st.integers(1, 50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_most_that_was_held_between_rows_is_that_of_each_of_them(
    holding: Path, start: int, rows: int, cells: int
) -> None:
    edges = start + np.arange(cells + 1) * rows / cells
    found = recorded_memory(load(holding)).most(edges).tolist()

    for (low, high), most in zip(itertools.pairwise(edges), found, strict=True):
        assert most == max(alive(row) for row in {int(low), *range(int(np.ceil(low)), int(np.ceil(high)))})


@pytest.mark.slow
@pytest.mark.parametrize(("size", "height"), [((60, 16), 2), ((80, 24), 3), ((120, 40), 4)])
def test_memory_is_a_line_of_its_own_and_a_click_on_its_mark_goes_to_the_peak(
    holding: Path, size: tuple[int, int], height: int
) -> None:
    peak = max(range(30), key=alive)

    async def use(screen: Screen) -> None:
        await screen.shows("peak 70.0 KiB", "#timeline")
        lines = screen.part("#timeline").split("\n")
        assert len(lines) == height
        line = lines[-1 if height < 4 else 3]
        assert line.startswith("memory ")
        cells = screen.main.query_one(Timeline).window.cells
        assert 7 + peak * cells // 30 <= line.index("▲") < 7 + (peak + 1) * cells // 30
        shown = line[7 : 7 + cells]
        held = {row: shown[int((row + 0.5) * cells / 30)] for row in range(30) if not 9 <= row <= 15}
        assert all(held[one] <= held[other] for one in held for other in held if alive(one) <= alive(other))
        await screen.press("end")
        await screen.pilot.click("#timeline", offset=(line.index("▲"), lines.index(line)))
        await screen.at(peak)
        await screen.press(*["full_stop"] * 3)
        await screen.shows("▲", "#timeline")
        await screen.shows("peak 70.0 KiB", "#timeline")

    drive(holding, use, size=size)


@pytest.mark.slow
def test_a_curve_stands_below_what_it_is_of(training: Path) -> None:
    """A click on the first bar of the loss goes to where the first backward pass begins."""

    async def use(screen: Screen) -> None:
        await screen.shows("loss", "#timeline")
        line = screen.part("#timeline").split("\n")[1]
        begin = int(screen.main.log_index.steps.begins[0])
        first = len(line) - len(line.removeprefix("loss").lstrip())
        window = screen.main.query_one(Timeline).window
        assert window.cell(begin) == first - 7
        await screen.press("end")
        await screen.pilot.click("#timeline", offset=(first, 1))
        await screen.until(lambda: abs(screen.now - begin) <= window.size // window.cells + 3, "the first pass")

    drive(training, use)


@pytest.mark.slow
def test_a_window_in_the_middle_of_a_step_is_drawn(recorded: Callable[[str, str], Path]) -> None:
    source = "import graphscope as torch\nw = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    steps = "for step in range(3):\n    h = w\n    for _ in range(100):\n        h = h * 1.01\n    h.sum().backward()\n"

    async def use(screen: Screen) -> None:
        await screen.type("goto 350")
        await screen.press(*["full_stop"] * 4)
        window = screen.main.query_one(Timeline).window
        assert not window.is_whole
        assert screen.now in window

    drive(recorded("long", source + steps), use)


def test_a_pass_is_measured_once_however_often_one_zooms(training: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, measured, norm = Graph(load(training)), [], facts.gradient_norm
    monkeypatch.setattr(facts, "gradient_norm", lambda graph, *ends: measured.append(ends) or norm(graph, *ends))
    told = steps(graph.log)
    whole = curves_of(graph, told, graph.log.first, graph.log.end)
    count = len(measured)
    part = curves_of(graph, told, graph.log.first, graph.log.end // 2)
    assert count == len(whole.rows) > 0
    assert len(measured) == count
    assert part.norms == whole.norms[: len(part.norms)]


@pytest.mark.parametrize("options", [{"keep_last": 2}, {"values": "none"}, {"values": "summary"}], ids=str)
def test_a_log_whose_loss_is_not_finite_opens_whatever_was_kept_of_it(tmp_path: Path, options: dict[str, Any]) -> None:
    with record(tmp_path / "run.gscope", **options):
        w = gs.ones(2000, requires_grad=True)
        optimizer = gs.optim.SGD([w], lr=0.1)
        for step in range(3):
            optimizer.zero_grad()
            loss = (w * step).log().sum()
            loss.backward()
            optimizer.step()
    log = load(tmp_path / "run.gscope")
    nodes = [row for row in range(log.first, log.end) if log.event(row).kind in NODES and log.nonfinite(row)]

    async def use(screen: Screen) -> None:
        assert screen.main.log_index.flagged.tolist() == nodes
        signs = screen.part("#timeline").split("\n")[0]
        assert signs.count(UNICODE.nonfinite) + signs.count(UNICODE.finding) == len(nodes)

    drive(log.path, use, size=(140, 30))
