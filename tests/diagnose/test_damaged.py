"""Logs whose files are cut, lost or full of noise: what is left is judged, and no check fails."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphscope as gs
from graphscope.diagnose import Report
from graphscope.errors import LogError

SICK = """
import graphscope as gs
first, second, lost = (gs.tensor([1.0, -2.0], requires_grad=True) for _ in range(3))
sgd = gs.optim.SGD([first, second, lost], lr=0.1)
data = gs.tensor([1.0, 2.0])
for step in range(6):
    if step == 4:
        data = data * 0
    hidden = (first * data).relu() + lost.detach()
    parts = gs.split(hidden * second, 1)
    loss = (parts[0] + parts[1]).sum() + data.log().sum() * second.sum()
    loss.backward()
    sgd.step()
"""


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sick")
    (folder / "train.py").write_text(SICK)
    with gs.record(folder / "run.gscope", values="summary"):
        exec(compile(SICK, str(folder / "train.py"), "exec"), {"__name__": "__main__"})
    assert {"nan", "missing"} <= {each.kind for each in gs.doctor(folder / "run.gscope")}
    return folder / "run.gscope"


def files_of(log: Path) -> list[Path]:
    return sorted(each for each in log.rglob("*") if each.is_file())


def damage(data: st.DataObject, file: Path) -> None:
    content = bytearray(file.read_bytes())
    size = min(len(content), data.draw(st.sampled_from([200, 4000, 1 << 30]), label="within"))
    kind = data.draw(st.sampled_from(["cut", "lost", "noise"]), label="damage")
    if kind == "lost":
        file.unlink()
    elif kind == "cut":
        file.write_bytes(content[: data.draw(st.integers(0, size), label="size")])
    elif size:
        for place in data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=8), label="places"):
            content[place] = data.draw(st.integers(0, 255), label="byte")
        file.write_bytes(content)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_damaged_the_rest_is_judged(sick: Path, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(shutil.copytree(sick, Path(folder) / "run.gscope"))
        names = [each for each in files_of(log) if each.name != "log.json"]
        for file in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True), label="files"):
            damage(data, file)
        found = gs.doctor(log)
        assert isinstance(found, Report)
        assert repr(found)
        assert [gap.why for gap in found.unjudged if "failed (" in gap.why] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["events.npy", "edges.npy", "values.npy"])
def test_a_log_that_has_lost_the_first_of_its_parts_is_judged_from_there_on(
    name: str, sick: Path, tmp_path: Path
) -> None:
    log = tmp_path / "run.gscope"
    with gs.record(log, values="summary"):
        for _ in range(40):
            exec(compile(SICK, str(sick.parent / "train.py"), "exec"), {"__name__": "__main__"})
    first, second, *_ = sorted((log / "segments").iterdir())
    (first / name).unlink()
    report = gs.doctor(log)
    assert [gap.why for gap in report.unjudged if "failed (" in gap.why] == []
    if name == "events.npy":
        assert f"the log keeps the rows from #{int(second.name)} on" in {gap.why for gap in report.unjudged}
    assert gs.diff(log, log).verdict == "same"


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_a_log_that_does_not_say_what_it_is_is_none(sick: Path, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(shutil.copytree(sick, Path(folder) / "run.gscope"))
        damage(data, log / "log.json")
        with contextlib.suppress(LogError):
            assert repr(gs.doctor(log))


def doctor(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "graphscope", "doctor", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no recording (*.gscope) in"),
        ("{}", "names no format"),
        ('{"format": 999, "version": "9.0"}', "has format 999"),
    ],
)
def test_a_folder_that_is_no_log_is_named(content: str | None, said: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "log.json").write_text(content)
    done = doctor(tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
