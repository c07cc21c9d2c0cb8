"""Random deeds leave the screen saying what is so; more of them: `python -m tests.tui.monkey --deeds 20000`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from graphscope.tui.inspector.numbers_view import NumbersView
from graphscope.tui.main_screen import Main
from graphscope.tui.source.source import Source
from graphscope.tui.tape.row import RowPainter
from tests.tui.monkey import deeds, try_out
from tests.tui.oracle import Oracle, Truth
from tests.tui.programs import PROGRAMS, record
from tests.tui.screens import Screen, debug, drive


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_few(training: Path, seed: int) -> None:
    assert try_out(partial(drive, training), deeds(20, seed)) > 5


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_on_recordings(tmp_path: Path, program: tuple[str, str]) -> None:
    assert try_out(partial(drive, record(tmp_path, program)), deeds(150, seed=5))


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.live], ids=lambda program: program.name)
def test_on_programs_that_run(tmp_path: Path, program: tuple[str, str]) -> None:
    assert try_out(partial(debug, program.written(tmp_path)), deeds(60, seed=5, live=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("region", "method", "named"),
    [
        (Main, "show_heading", "heading"),
        (RowPainter, "_gutter", "tape"),
        (Source, "watch_scene", "source"),
        (NumbersView, "show", "numbers"),
    ],
)
def test_what_is_not_drawn_again_is_seen(
    training: Path, monkeypatch: pytest.MonkeyPatch, region: type, method: str, named: str
) -> None:
    nothing: Callable[..., tuple[()]] = lambda *_, **__: ()  # noqa: E731

    async def use(screen: Screen) -> None:
        for key in ("n", "2"):
            await screen.press(key)
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        truth = Truth(training)
        assert not Oracle(screen, truth).complaints()
        monkeypatch.setattr(region, method, nothing)
        await screen.type("goto op:tanh backward")
        await screen.app.workers.wait_for_complete()
        assert any(said.startswith(named) for said in Oracle(screen, truth).complaints())

    drive(training, use, size=(120, 40))
