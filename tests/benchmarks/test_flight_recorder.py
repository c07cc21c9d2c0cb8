"""The benchmarks of the flight recorder measure what they say, at a small size."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import cold_start, long_run
from benchmarks.left_out import EVERY, Schedule, compared, left_out
from benchmarks.plot import Line, lines

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def step() -> None:
    """One training step of a tiny model."""
    optimizer.zero_grad()
    model(given).square().mean().backward()
    optimizer.step()


model, given = torch.nn.Linear(4, 1), torch.ones(8, 4)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)


@pytest.mark.slow
def test_steps_that_are_left_out_are_timed_and_no_others() -> None:
    assert left_out(Schedule(1e-4, number=20, stretches=2, periods=2), step) > 0
    with pytest.raises(AssertionError, match="steps were recorded"):
        left_out(Schedule(1e-4, number=EVERY, stretches=2, periods=1), step)
    numbers = compared("tiny", step, patience=0.0).numbers
    assert numbers["to bare"] > 0
    assert numbers["interrupted, to bare"] > 0


def test_slow_steps_are_timed_right_behind_those_that_are_recorded_first() -> None:
    assert Schedule.of(0.4).periods == 1
    quick = Schedule.of(1e-4)
    assert quick.periods > 1
    assert quick.number * quick.stretches < EVERY


@pytest.mark.slow
def test_a_nan_in_a_long_run_is_found_with_the_steps_before(tmp_path: Path) -> None:
    path = tmp_path / "run.gscope"
    points = long_run.train(path, {"keep_last": 10}, 600, bad=400)
    assert [point["step"] for point in points] == [30 * each for each in range(1, 21)]
    assert all(point["seconds"] > 0 and point["bytes, disk"] > 0 for point in points)
    long_run.check(path, 400)
    with pytest.raises(AssertionError, match="are not there"):
        long_run.check(path, 5_000)
    first, last = long_run.told("way", points)
    assert last.numbers["memory to first"] == last.numbers["bytes, memory"] / first.numbers["bytes, memory"]
    ElementTree.fromstring(long_run.picture({"way": points, "other": points}, 400))


def test_lines_begin_at_nothing_and_end_at_the_most() -> None:
    drawn = ElementTree.fromstring(lines({"a < b": [Line("ours", [(1, 5.0), (10, 10.0)])]}, mark=(5, "here")))
    (line,) = drawn.iter("{http://www.w3.org/2000/svg}polyline")
    (_, halfway), (_, top) = (map(float, point.split(",")) for point in line.attrib["points"].split())
    (axis,) = [each for each in drawn.iter("{http://www.w3.org/2000/svg}path") if "H" in each.attrib["d"]]
    upper, lower = (float(each) for each in axis.attrib["d"].split()[1].split("H")[0].split("V"))
    assert (top, halfway) == (upper, (upper + lower) / 2)


@pytest.mark.parametrize("values", ["", "full"])
def test_first_steps_are_timed_in_their_process(values: str, capsys: pytest.CaptureFixture[str]) -> None:
    cold_start.main("graphscope", values)
    assert json.loads(capsys.readouterr().out)["seconds"] > 0
