"""The timeline: what a window shows, which scale a curve takes, and how keys and the wheel zoom."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphscope.tui.timeline.scale import scaled
from graphscope.tui.timeline.timeline import Timeline
from graphscope.tui.timeline.window import Window
from tests.tui.screens import Screen, drive


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
