"""What the doctor finds, on the screen: told when a run is over, marked on the timeline, listed, and gone to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.diagnose import doctor
from tests.tui.screens import Screen, debug, drive

CUT = """\
import graphscope as torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
sgd = torch.optim.SGD([a, b], lr=0.1)
for step in range(3):
    sgd.zero_grad()
    loss = (a.detach() * b).sum()
    loss.backward()
    sgd.step()
"""


@pytest.fixture(scope="session")
def cut(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("cut", CUT)


def test_findings_of_a_recording_are_a_key_away(cut: Path) -> None:
    (found,) = doctor(cut)

    async def use(screen: Screen) -> None:
        await screen.shows("1 finding", "#heading")
        await screen.shows("✗", "#timeline")
        await screen.press("F")
        await screen.shows("no gradient flows from loss to a")
        await screen.shows("cut.py:8")
        await screen.shows("cure: leave detach() out where the gradient is wanted")
        await screen.press("enter")
        assert found.node is not None
        await screen.at(found.node)
        assert "a.detach()" in screen.part("#source")

    drive(cut, use, size=(120, 36))


def test_on_a_small_terminal_the_key_is_told_and_the_cure_is_in_sight(cut: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("F findings", "KeyLine")
        await screen.press("F")
        await screen.shows("go there")
        told = screen.app.screen.query_one("#told")
        lines = "".join("".join(part.text for part in told.children[0].render_line(y)) for y in range(told.size.height))
        assert "cure: leave detach() out" in lines

    drive(cut, use, size=(80, 24))


def test_of_a_healthy_recording_nothing_is_said(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        assert "finding" not in screen.part("#heading")
        assert "findings" not in screen.part("KeyLine")
        assert "✗" not in screen.part("#timeline")
        await screen.press("F")
        await screen.shows("Nothing was found")

    drive(product, use)


def test_findings_of_a_program_when_it_stops_and_when_it_has_ended(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(CUT)

    async def use(screen: Screen) -> None:
        await screen.until(lambda: screen.main.scene.node is not None, "the first node")
        await screen.type("b finding")
        await screen.press("c")
        await screen.shows("breakpoint 1: finding", "#heading")
        assert "1 finding" not in screen.part("#heading")  # it may not be all yet
        await screen.press("F")
        await screen.shows("no gradient flows from loss to a")
        await screen.press("escape")
        await screen.type("clear 1")
        await screen.press("c")
        await screen.shows("1 finding", "#heading")
        await screen.shows("✗", "#timeline")

    debug(script, use)
