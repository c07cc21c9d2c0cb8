"""What the doctor finds, on the screen: told when a run is over, marked on the timeline, listed, and gone to."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.debugger.result_lines import lines_of_finding
from graphscope.debugger.results import Result
from graphscope.diagnose import doctor
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.eventlog.schema import NODES
from graphscope.tui.screen_session import RecordedSession
from graphscope.tui.source.source import Source
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


@pytest.mark.slow
def test_findings_of_a_recording_are_a_key_away_and_stay_while_one_looks(cut: Path) -> None:
    (found,) = doctor(cut)

    async def use(screen: Screen) -> None:
        await screen.shows("1 finding", "#heading")
        await screen.shows("✗", "#timeline")
        await screen.press("F")
        await screen.shows("no gradient flows from loss to a", "#findings")
        await screen.shows("cut.py:8", "#findings")
        await screen.shows("cure: leave detach() out where the gradient is wanted", "#findings")
        await screen.press("enter")
        assert found.node is not None
        await screen.at(found.node)
        assert "a.detach()" in screen.part("#source")
        await screen.press("n", "n", "down")
        await screen.until(lambda: screen.now != found.node, "another row")
        assert "no gradient flows from loss to a" in screen.part("#findings")
        await screen.press("f")
        await screen.at(found.node)
        await screen.press("escape")
        assert not screen.main.query_one("#findings").display
        await screen.press("q")
        assert not screen.app.is_running

    drive(cut, use, size=(120, 36))


@pytest.mark.slow
def test_the_panel_is_entered_and_left_by_its_key(cut: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("F")
        await screen.shows("no gradient flows", "#findings")
        panel = screen.main.query_one("#findings")
        assert panel.has_focus_within
        await screen.press("shift+tab")
        assert not panel.has_focus_within
        await screen.press("F")
        await screen.until(lambda: panel.has_focus_within, "the list")
        await screen.press("F")
        await screen.until(lambda: not panel.display, "the tape alone")
        assert screen.main.query_one("#tape").has_focus

    drive(cut, use)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
def test_on_a_small_terminal_the_key_is_told_and_verdict_and_cure_are_in_sight(
    cut: Path, size: tuple[int, int]
) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("F findings", "KeyLine")
        await screen.press("F")
        await screen.shows("no gradient flows from loss to a", "#findings")
        assert "cure: leave detach() out" in screen.part("#findings")
        assert "▶" in screen.part("#tape")

    drive(cut, use, size=size)


def test_what_is_said_begins_with_the_verdict(cut: Path) -> None:
    (found,) = doctor(cut)
    lines = [line.text for line in lines_of_finding(found, 200)]
    assert lines[0] == f"{found.verdict.rstrip('.')}."
    assert lines[1].strip() == f"cure: {found.cure}"


@pytest.mark.slow
def test_a_mark_on_the_timeline_and_one_on_the_tape_say_what_they_stand_for(cut: Path) -> None:
    (found,) = doctor(cut)

    async def use(screen: Screen) -> None:
        await screen.shows("✗", "#timeline")
        cell = screen.part("#timeline").split("\n")[0].index("✗")
        await screen.pilot.click("#timeline", offset=(cell, 0))
        await screen.at(found.place_in_log)
        assert "no gradient flows" in screen.part("#findings")
        await screen.press("escape")
        await screen.type(f"goto {found.row}")
        await screen.at(found.row)
        assert "✗" in screen.part("#tape")
        await screen.press("enter")
        await screen.shows("no gradient flows", "#findings")

    drive(cut, use)


LONG = """\
import graphscope as torch

x = torch.tensor([1.0, -4.0], requires_grad=True)
first = x * 1.0; second = first + 0.0 * 1.0; third = second * 1.0; fourth = (third + torch.sqrt(second)).sum()
fourth.backward()
"""


@pytest.mark.slow
def test_the_source_shows_the_column_where_the_finding_is(recorded: Callable[[str, str], Path]) -> None:
    log = recorded("long", LONG)

    async def use(screen: Screen) -> None:
        assert "torch.sqrt" not in screen.part("#source")
        await screen.shows("1 finding", "#heading")
        await screen.press("f")
        await screen.shows("torch.sqrt(second)", "#source")
        await screen.press("home")
        await screen.shows("x = torch.tensor", "#source")

    drive(log, use, size=(80, 24))


@pytest.mark.slow
def test_of_a_healthy_recording_nothing_is_said(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        assert "finding" not in screen.part("#heading")
        assert "findings" not in screen.part("KeyLine")
        assert "✗" not in screen.part("#timeline")
        await screen.press("F")
        await screen.shows("Nothing was found", "#findings")

    drive(product, use)


@pytest.mark.slow
def test_findings_of_a_program_when_it_stops_and_when_it_has_ended(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(CUT)

    async def use(screen: Screen) -> None:
        await screen.until(lambda: screen.main.scene.node is not None, "the first node")
        await screen.type("b finding")
        await screen.press("c")
        await screen.shows("breakpoint 1: finding", "#heading")
        await screen.shows("no gradient flows from loss to a", "#findings")
        assert screen.main.query_one("#tape").has_focus
        await screen.press("escape")
        assert not screen.main.query_one("#findings").display
        await screen.type("clear 1")
        await screen.press("c")
        await screen.shows(" ended ", "#heading")
        await screen.shows("1 finding", "#heading")
        await screen.shows("✗", "#timeline")
        await screen.shows("no gradient flows from loss to a", "#findings")

    debug(script, use)


@pytest.mark.slow
def test_asked_why_anywhere_the_screen_says_the_finding_first(recorded: Callable[[str, str], Path]) -> None:
    log = recorded("long", LONG)
    (found, *_) = doctor(log)

    async def use(screen: Screen) -> None:
        for _ in range(12):
            await screen.press("y")
            await screen.shows("the first non-finite value was made by sqrt at long.py:4", "#transcript")
            first = screen.part("#transcript").split("\n")[0]
            assert "sqrt" in first, (screen.now, first)
            assert found.cure.split(":")[0] in screen.part("#transcript")
            await screen.press("n")

    drive(log, use, size=(120, 40))


@pytest.mark.slow
def test_an_exception_that_the_heading_tells_opens_no_panel(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text("import graphscope as torch\n\nx = torch.ones(2) * 2\nraise ValueError('no')\n")

    async def use(screen: Screen) -> None:
        await screen.until(lambda: screen.main.scene.node is not None, "the first node")
        await screen.press("c")
        await screen.shows("ValueError: no", "#heading")
        await screen.shows("1 finding", "#heading")
        assert not screen.main.query_one("#findings").display

    debug(script, use)


@pytest.mark.slow
def test_a_run_that_is_over_is_examined_once_even_if_nothing_is_wrong(
    training: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    carry_out = RecordedSession.carry_out

    def noting(session: RecordedSession, line: str, block: tuple[str, ...] = ()) -> list[Result]:
        asked.append(line)
        return carry_out(session, line, block)

    async def use(screen: Screen) -> None:
        await screen.until(lambda: screen.main.log_index.is_all_found, "the doctor's answer")
        monkeypatch.setattr(RecordedSession, "carry_out", noting)
        for key in ("F", "F", "f", "F"):
            await screen.press(key)
            await screen.app.workers.wait_for_complete()
        await screen.shows("Nothing was found", "#findings")
        assert "doctor" not in asked

    drive(training, use)


@pytest.mark.slow
def test_of_a_rank_in_which_nothing_is_found_it_is_said_what_compares_all(
    product: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for rank in range(2):
        shutil.copytree(product, tmp_path / f"a run-rank{rank}.gscope")

    async def use(screen: Screen) -> None:
        await screen.app.workers.wait_for_complete()
        await screen.press("F")
        await screen.shows("Nothing was found in rank 1 of 2 by itself", "#findings")
        shown = " ".join(screen.part("#findings").replace("│", " ").split())
        (command,) = re.findall("`graphscope ([^`]+)`", shown)
        words = [sys.executable, "-m", "graphscope", *shlex.split(command)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "80"})
        assert "(2 ranks)" in done.stdout

    drive(Path("a run-rank1.gscope"), use)


@pytest.mark.slow
def test_an_exception_leads_to_the_last_node_and_the_line_that_raised_it_and_then_to_the_next_finding(
    tmp_path: Path,
) -> None:
    script = tmp_path / "ended.py"
    script.write_text(CUT + 'open("")\n', encoding="utf-8")
    with pytest.raises(FileNotFoundError), record(tmp_path / "run.gscope"):
        exec(compile(script.read_text(encoding="utf-8"), str(script), "exec"), {"__name__": "__main__"})
    raised, missing = doctor(tmp_path / "run.gscope")
    assert (raised.kind, raised.node, missing.kind) == ("raised", None, "missing")
    log = load(tmp_path / "run.gscope")
    last = max(row for row in range(raised.row) if log.event(row).kind in NODES)
    assert missing.node is not None

    async def use(screen: Screen) -> None:
        await screen.press("F")
        await screen.shows("FileNotFoundError", "#findings")
        await screen.press("enter")
        await screen.at(last)
        await screen.shows("FileNotFoundError", "#heading")
        await screen.shows("where it failed", "#source")
        assert screen.main.query_one(Source)._current == 11
        await screen.press("f")
        await screen.at(missing.node)
        await screen.press("f")
        await screen.at(last)

    drive(log.path, use, size=(120, 36))
