"""Recording from a program: the context manager, the decorator, marks, and temporary logs."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import LogError
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind


def kinds(log) -> list[Kind]:
    log.refresh()
    return [log.event(row).kind for row in range(log.first, log.end)]


def marks(log) -> list[dict]:
    log.refresh()
    return [log.attrs(log.event(row).attrs) for row in log.rare().tolist()]


def test_nothing_is_recorded_outside(tmp_path: Path) -> None:
    before = gs.tensor([1.0]) * 2.0
    with gs.record(tmp_path / "run.gscope") as log:
        before * 3.0
    before * 4.0
    assert kinds(log) == [Kind.LEAF, Kind.OP]
    assert recording.active() is None


def test_the_decorator_records_each_call(tmp_path: Path) -> None:
    @gs.record(tmp_path / "run.gscope", values="none")
    def double(x: float) -> float:
        """Twice as much."""
        return (gs.tensor([x]) * 2.0).item()

    assert double.__doc__ == "Twice as much."
    assert [double(1.0), double(2.0)] == [2.0, 4.0]
    for name in ("run.gscope", "run-1.gscope"):
        log = load(tmp_path / name)
        assert (log.closed, log.metadata["values"], log.value(1)) == (True, "none", None)


def test_a_recording_in_a_recording_is_refused(tmp_path: Path) -> None:
    with gs.record(tmp_path / "outer.gscope") as log:
        with pytest.raises(LogError, match=r"a recording is active already, to .*outer\.gscope"), gs.record():
            pytest.fail("it started")
        gs.tensor([1.0]) * 2.0
    assert kinds(log) == [Kind.LEAF, Kind.OP]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": "some"}, "is no policy"),
        ({"keep_last": 0}, "keeps nothing"),
        ({"every": 0}, "no number of steps"),
        ({"every": 2, "capture": "ops"}, "of all steps or of none"),
        ({"every": 2, "memory": True}, "of all steps or of none"),
    ],
)
def test_options_out_of_range(tmp_path: Path, options: dict, message: str) -> None:
    with pytest.raises(LogError, match=message), gs.record(tmp_path / "run.gscope", **options):
        pytest.fail("it started")
    assert recording.active() is None
    assert not (tmp_path / "run.gscope").exists()


def test_an_exception_is_marked_once_and_goes_on(tmp_path: Path) -> None:
    error = ValueError("too bad")

    def run() -> None:
        with gs.record(tmp_path / "run.gscope"):
            recording.exception(error, node=(gs.tensor([1.0]) * 2.0).row)
            raise error

    with pytest.raises(ValueError, match="too bad"):
        run()
    log = load(tmp_path / "run.gscope")
    assert log.closed
    assert kinds(log) == [Kind.LEAF, Kind.OP, Kind.EXCEPTION]
    assert log.inputs(2) == ((1, 0),)
    assert marks(log) == [{"text": "too bad", "type": "ValueError"}]


def test_an_exception_that_cannot_be_shown(tmp_path: Path) -> None:
    class Mute(Exception):
        __slots__ = ()

        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(Mute), gs.record(tmp_path / "run.gscope"):
        raise Mute
    assert marks(load(tmp_path / "run.gscope")) == [{"text": "", "type": "Mute"}]


def test_marks_and_steps(tmp_path: Path) -> None:
    recording.mark(Kind.PRINT, text="nobody listens")
    with gs.record(tmp_path / "before.gscope"):
        before = gs.tensor([1.0]) * 2.0
    with gs.record(tmp_path / "run.gscope") as log:
        after = gs.tensor([1.0]) * 2.0
        recording.mark(Kind.PRINT, text="hello", node=after.row, more=[1, 2])
        recording.mark(Kind.PRINT, text="older", node=before.row)
        gs.step()
    assert kinds(log) == [Kind.LEAF, Kind.OP, Kind.PRINT, Kind.PRINT, Kind.STEP]
    assert [log.inputs(row) for row in (2, 3)] == [((1, 0),), ()]
    assert marks(log) == [{"text": "hello", "more": [1, 2]}, {"text": "older"}, {}]


def test_a_temporary_log_lives_as_long_as_its_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with gs.record() as log:
        gs.tensor([1.0, 2.0, 3.0]) * 2.0
    path = log.path
    log.refresh()
    value = log.value(1)
    assert path.is_dir()
    del log
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    assert value.tolist() == [2, 4, 6], "what was taken from it stays"


def test_a_log_that_goes_takes_nothing_of_the_one_that_is_active() -> None:
    with gs.record() as old:
        gs.ones(2) * 2
    with gs.record() as log:
        one, other = gs.ones(4, requires_grad=True).split(2)
        del old
        gc.collect()
        (one * other).sum().backward()
    log.refresh()
    whole = log.graph.at(log.end - 1)
    (product,) = whole.select("op:mul and forward")
    assert [edge.source.op for edge in product.inputs] == ["split", "split"]
    assert len(whole.select("op:split and grad")) == 1


@pytest.mark.slow
def test_a_temporary_log_that_nobody_holds_records_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with gs.record():
        gc.collect()
        for _ in range(6000):  # more than a segment
            total = gs.tensor([1.0]) * 2.0
        (found,) = tmp_path.glob("*/memory.gscope")
        assert len(load(found)) == 12_000
    assert total.item() == 2
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "1 / 0", "os._exit(4)", "del manager, log"])
def test_a_program_that_ends_while_it_records(tmp_path: Path, end: str) -> None:
    code = f"""
import os, graphscope as gs
manager = gs.record()
log = manager.__enter__()
gs.tensor([1.0]) * 2.0
{end}
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "graphscope:" not in result.stderr
    assert (list(tmp_path.iterdir()) == []) == ("_exit" not in end)


@pytest.mark.slow
def test_a_named_log_is_closed_at_exit(tmp_path: Path) -> None:
    code = "import graphscope as gs; manager = gs.record('run.gscope'); manager.__enter__(); gs.tensor([1.0]) * 2.0"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    log = load(tmp_path / "run.gscope")
    assert log.closed
    assert len(log) == 2


def test_rows_of_an_earlier_recording_are_none_of_a_later_one(tmp_path: Path) -> None:
    a = gs.tensor([1.0, 2.0], requires_grad=True)
    with gs.record(tmp_path / "one.gscope"):
        b = a * 2.0
    with gs.record(tmp_path / "two.gscope"):
        (b * 3.0).sum().backward()
    log = load(tmp_path / "two.gscope")
    assert log.first == 0
    for row in range(log.end):
        assert all(source < row for source, _ in log.inputs(row))
    assert log.value(0).tolist() == [2, 4]


def test_a_program_that_sets_its_clocks_is_told_by_the_real_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.time()
    with gs.record(tmp_path / "run.gscope", keep_last=3) as log:
        for name in ("time", "monotonic", "perf_counter", "perf_counter_ns", "time_ns"):
            monkeypatch.setattr(time, name, lambda: -1_000_000)
        for _ in range(5):
            gs.tensor([1.0]) * 2.0
            gs.step()
    monkeypatch.undo()
    log.refresh()
    assert log.closed
    assert begun <= log.metadata["created"] <= log.metadata["finished"] <= time.time()
    times = log.column("time")[log.column("time") > 0]
    assert (np.diff(times.astype(np.int64)) >= 0).all()
    assert log.metadata["clock"] <= times.min()
    assert times.max() - times.min() < 60e9
    assert (log.column("duration") < 60e9).all()
