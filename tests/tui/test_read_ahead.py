"""The two readers of a log behind a screen know the same steps at once, and follow it each by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import LogError
from graphscope.eventlog.reader import Log, load
from graphscope.graph.outline import steps
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui.read_ahead import ReadAhead


class Training:
    def __init__(self) -> None:
        self.layer = gs.nn.Linear(3, 1)
        self.optimizer = gs.optim.SGD(self.layer.parameters(), lr=0.1)

    def run(self, count: int) -> None:
        for _ in range(count):
            self.optimizer.zero_grad()
            self.layer(gs.ones(4, 3)).square().mean().backward()
            self.optimizer.step()


def both(path: Path) -> tuple[Log, Log]:
    """What the debugger and the screen read."""
    ahead = ReadAhead(path)
    ahead.finish()
    return ahead.ours, ahead.shown


def assert_knows(log: Log, path: Path) -> None:
    """As one who has just opened it does."""
    fresh = load(path)
    fresh.refresh()
    assert log.end == fresh.end
    for one, other in ((steps(log), steps(fresh)), (step_numbers(log).steps, step_numbers(fresh).steps)):
        for name in ("first", "last", "begins", "ends"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(log.pick("op", np.arange(log.first, log.end)), fresh.column("op"))


def test_both_know_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "run.gscope"
    with gs.record(path):
        Training().run(7)
    ours, shown = both(path)
    assert ours is not shown
    for log in (ours, shown):
        assert len(steps(log)) == 7
        assert_knows(log, path)


def test_each_follows_a_log_that_grows_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "run.gscope"
    with gs.record(path):
        training = Training()
        training.run(3)
        ours, shown = both(path)
        before = shown.end
        training.run(2)
        assert ours.refresh()
        assert shown.end == before
        assert_knows(ours, path)
        assert shown.refresh()
        assert_knows(shown, path)


def test_a_log_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(LogError):
        ReadAhead(tmp_path / "none.gscope")
