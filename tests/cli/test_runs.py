"""`graphscope runs`, as a person runs it: the runs of a sweep side by side."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs

from .conftest import Run
from .test_json import told


def train(log: Path, rate: float, steps: int = 6, growth: float = 1.0) -> list[float]:
    """Train with a learning rate that grows in each step; the losses."""
    losses = []
    with gs.record(log):
        w = gs.tensor([4.0], requires_grad=True)
        optimizer = gs.optim.SGD([w], lr=rate)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
            optimizer.param_groups[0]["lr"] *= growth
    return losses


@pytest.fixture
def losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    """Three runs of a sweep in folders of their own, the last of which diverges; their losses."""
    found = {}
    for rate in (0.1, 0.4, 1e20):
        monkeypatch.setattr(sys, "argv", ["train.py", "--rate", str(rate), "--epochs=6"])
        folder = tmp_path / f"run{rate}"
        folder.mkdir()
        with np.errstate(all="ignore"):
            found[str(rate)] = train(folder / "it.gscope", rate)
    return found


@pytest.mark.slow
def test_a_sweep_is_told_run_by_run(losses: dict[str, list[float]], read: Run) -> None:
    runs = told("runs", read("runs", "--json").stdout)["runs"]
    assert [run["arguments"] for run in runs] == [{"rate": rate, "epochs": "6"} for rate in losses]
    assert [run["last_rate"] for run in runs] == [run["first_rate"] for run in runs] == [0.1, 0.4, 1e20]
    for run, own in zip(runs[:2], losses.values(), strict=False):
        assert run["steps"] == 6
        assert run["loss"] == pytest.approx(own[-1])
        assert run["best"] == pytest.approx(min(own))
        assert run["curve"] == pytest.approx(own)
        assert run["gradient"] == pytest.approx(2 * own[-1] ** 0.5)
        assert not run["found"]
    assert runs[2]["loss"] in ("inf", "nan")
    assert "test_runs.py" in runs[2]["nan"]


@pytest.mark.slow
def test_runs_are_sorted_chosen_and_shown(losses: dict[str, list[float]], read: Run, tmp_path: Path) -> None:
    done = read("runs", ".", "--sort", "loss", "--where", "last rate<1", "-o", "runs.html")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "2 runs of train.py --epochs 6"
    rates = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("run")][1:]
    assert rates == sorted(("0.1", "0.4"), key=lambda rate: losses[rate][-1])
    assert (tmp_path / "runs.html").read_text().count("<polyline") == 2
    assert (
        read("runs", "--where", "loss=nan" if losses["1e+20"][-1] != losses["1e+20"][-1] else "loss=inf").returncode
        == 1
    )


@pytest.mark.parametrize("width", [40, 60, 80, 110])
def test_a_narrow_terminal_shows_fewer_columns_and_breaks_no_word_of_the_rest(
    read: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, width: int
) -> None:
    for rate in (0.1, 0.4, 1e20):
        monkeypatch.setattr(sys, "argv", ["train.py", "--rate", str(rate), f"--seed={int(rate)}"])
        with np.errstate(all="ignore"):
            train(tmp_path / f"run{rate}.gscope", rate)
    monkeypatch.setenv("COLUMNS", str(width))
    lines = read("runs").stdout.splitlines()
    table = lines[2 : next(place for place, line in enumerate(lines) if line.startswith("not shown"))]
    assert max(map(len, lines[:-1])) <= width
    assert [line.split()[0] for line in table if line.startswith("run")] == ["run", "run0.1", "run0.4", "run1e+20"]
    assert "loss" in table[0].split()


def test_a_run_is_found_by_what_came_of_a_cause(read: Run, tmp_path: Path) -> None:
    """A learning rate that is too large is why there is a NaN: either finds the run, and the cause stands first."""
    train(tmp_path / "steady.gscope", 0.1)
    with np.errstate(all="ignore"), gs.record(tmp_path / "large.gscope"):
        gs.manual_seed(0)
        model = gs.nn.Sequential(gs.nn.Linear(8, 16), gs.nn.ReLU(), gs.nn.Linear(16, 1))
        optimizer = gs.optim.SGD(model.parameters(), lr=3.0)
        for _ in range(20):
            x = gs.randn(32, 8)
            optimizer.zero_grad()
            gs.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
            optimizer.step()
    (run,) = told("runs", read("runs", "--json", "--where", "found=nan").stdout)["runs"]
    kinds = [each.partition(" ")[0] for each in run["found"]]
    assert (run["name"], kinds) == ("large", ["update_ratio", "nan"])
    assert [run] == told("runs", read("runs", "--json", "--where", "found=update_ratio").stdout)["runs"]


def test_the_rates_of_the_first_and_of_the_last_step_are_told(read: Run, tmp_path: Path) -> None:
    train(tmp_path / "steady.gscope", 0.1)
    train(tmp_path / "grown.gscope", 0.01, steps=3, growth=2.0)
    grown, steady = told("runs", read("runs", "--json", "--sort", "last rate").stdout)["runs"]
    assert (grown["first_rate"], grown["last_rate"]) == (0.01, 0.04)
    assert (steady["first_rate"], steady["last_rate"]) == (0.1, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "there is no log 'nowhere'"),
        (["--sort", "speed"], "there is no column 'speed'"),
        (["--where", "fast"], "'fast' is no condition"),
        (["--where", "loss>>3"], "'loss>>3' is no condition"),
        (["--where", "loss>much"], "'much' in 'loss>much' is no number"),
    ],
)
@pytest.mark.usefixtures("losses")
def test_what_can_not_be_told_is_said(read: Run, words: list[str], said: str) -> None:
    done = read("runs", *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.slow
def test_a_log_that_can_not_be_read_is_left_out_and_said(
    losses: dict[str, list[float]], read: Run, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gscope"
    shutil.copytree(tmp_path / "run0.1" / "it.gscope", broken)
    (broken / "log.json").write_text(json.dumps({"format": 999}))
    done = read("runs", "--json")
    assert len(told("runs", done.stdout)["runs"]) == len(losses)
    assert [each["name"] for each in told("runs", done.stdout)["unread"]] == ["broken"]


def test_where_no_log_can_be_read_there_is_nothing_to_look_at(read: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.gscope.zip").write_bytes(b"PK\x03\x04 and so on")
    done = read("runs")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cut.gscope.zip is cut off" in done.stderr


def test_a_folder_without_recordings_is_said(read: Run) -> None:
    done = read("runs")
    assert (done.returncode, "there is no recording" in done.stderr) == (2, True)
