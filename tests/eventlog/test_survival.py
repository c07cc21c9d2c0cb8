"""What a recording survives: its own death, a full disk, a folder that can't be written, and another recorder."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.errors import LogError
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and resource limits")
PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_it_appended(program) -> None:
    result = program("killed.py", 15, 1)
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 0


@pytest.mark.slow
def test_200_kills_lose_nothing(program) -> None:
    result = program("killed.py", 200, int(os.environ.get("SEED", "2")), timeout=600)
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 1000


def expected(count: int) -> float:
    return float(sum(number % 7 for number in range(count)))


def check_partial_sums(log) -> int:
    """The nodes of `full_disk.py` hold the partial sums, as far as the log goes."""
    total, known = 0.0, 0
    for row in range(log.first, log.end):
        event = log.event(row)
        if event.kind == Kind.OP and log.op(event.op).name == "add" and (value := log.value(row)) is not None:
            total += known % 7
            known += 1
            assert np.all(value == total)
    return known


@pytest.mark.slow
def test_a_disk_that_gets_full_stops_the_log_and_not_the_program(program, tmp_path: Path) -> None:
    result = program("full_disk.py", "run.gscope", 1_500_000, 3000, 256)
    assert (result.returncode, result.stdout) == (0, f"{expected(3000)}\n")
    assert (
        result.stderr == "graphscope: recording to run.gscope stopped: File too large; the program goes on unrecorded\n"
    )
    log = load(tmp_path / "run.gscope")
    assert check_partial_sums(log) == 1023 or check_partial_sums(log) > 1000
    assert log.closed
    assert not list((tmp_path / "run.gscope/segments").glob("*.new")), "nothing half made is left"


def test_a_disk_that_is_full_refuses_before_the_program_starts(program, tmp_path: Path) -> None:
    result = program("full_disk.py", "run.gscope", 100_000, 10, 256)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "LogError: can't record to run.gscope: File too large" in result.stderr
    assert "hint: name another place" in result.stderr
    assert not (tmp_path / "run.gscope").exists(), "nothing half made is left"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs a small file system")
@pytest.mark.parametrize(
    ("megabytes", "elements"),
    [
        (1, 256),
        (4, 256),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((2, 256), (3, 256), (6, 256))),
        (4, 4096),
        pytest.param(6, 4096, marks=pytest.mark.slow),
    ],
)
def test_a_small_file_system(tmp_path: Path, megabytes: int, elements: int) -> None:
    inside = (
        f"mount -t tmpfs -o size={megabytes}m none {tmp_path} || exit 77; cd {tmp_path}; "
        f"{sys.executable} {PROGRAMS / 'full_disk.py'} run.gscope 0 8000 {elements}; status=$?; "
        f'{sys.executable} -c \'from graphscope.eventlog.reader import load; log = load("run.gscope"); '
        "print(len(log), [log.value(row) is None for row in range(log.first, log.end)].count(True))'; exit $status"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    if result.returncode == 77 or "unshare" in result.stderr:
        pytest.skip("no file system can be mounted here")
    if megabytes == 1:
        assert "LogError: can't record to run.gscope: No space left on device" in result.stderr
        return
    assert result.returncode == 0, result.stderr
    total, rows = result.stdout.splitlines()
    assert float(total) == expected(8000)
    assert result.stderr.count("graphscope: recording to run.gscope stopped: No space left on device") == 1
    assert int(rows.split()[0]) > (500 if elements == 256 else 100)
    assert int(rows.split()[1]) == 0, "what is recorded has its value"


IN_A_RING = """
set -e
mount -t tmpfs -o size=16m none {folder} || exit 77
cd {folder}
{python} {programs}/ring_full_disk.py {keep} 12 400
{python} -c '
import numpy as np
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
log = load("run.gscope")
rows = np.flatnonzero(log.column("kind") == Kind.OP) + log.first
print([float(log.value(row)) for row in rows.tolist() if log.op(log.event(row).op).name == "mean"])
'
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("unshare") is None, reason="needs a small file system")
def test_a_ring_on_a_disk_that_gets_full_keeps_its_newest_steps(program, tmp_path: Path) -> None:
    bare = program("ring_full_disk.py", 0, 600, 600).stdout
    keep = 16
    inside = IN_A_RING.format(folder=tmp_path, python=sys.executable, programs=PROGRAMS, keep=keep)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    if result.returncode == 77 or "unshare" in result.stderr:
        pytest.skip("no file system can be mounted here")
    assert result.returncode == 0, result.stderr
    *printed, kept = result.stdout.splitlines()
    assert printed == bare.splitlines()
    assert result.stderr.count("\n") == 1
    assert "recording to run.gscope stopped: No space left on device; the program goes on" in result.stderr
    losses = [float(line.split()[1]) for line in printed]
    held = ast.literal_eval(kept)
    last = losses.index(held[-1])
    assert 16 <= last < 400
    assert held[-keep:] == losses[last + 1 - keep : last + 1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(LogError, match=r"can't record to .*Permission denied"), gs.record(tmp_path / "run.gscope"):
        pass
    tmp_path.chmod(0o700)
    assert recording.active() is None


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LogError, match=r"can't record to .*Not a directory"),
        gs.record(tmp_path / "file" / "run.gscope"),
    ):
        pass


LIVE = """
import sys
import graphscope as gs
with gs.record("run.gscope"):
    gs.tensor([1.0, 2.0]).sum()
    print("recording", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_a_second_recorder_has_a_log_beside_that_of_the_first(tmp_path: Path, capfd) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", LIVE], cwd=tmp_path, env=environment, text=True, **pipes) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "recording\n"
        with gs.record(tmp_path / "run.gscope") as second:
            gs.tensor([5.0])
        assert second.path == tmp_path / "run-1.gscope"
        assert f"another process records to {tmp_path / 'run.gscope'}" in capfd.readouterr().err
        assert len(load(tmp_path / "run.gscope")) == 2, "and nothing happened to the log"
        first.kill()
    with gs.record(tmp_path / "run.gscope"):
        gs.tensor([3.0])
    assert load(tmp_path / "run-2.gscope").value(0).tolist() == [1.0, 2.0]
    assert not load(tmp_path / "run-2.gscope").closed


def test_older_logs_are_moved_aside(tmp_path: Path) -> None:
    for number in range(3):
        with gs.record(tmp_path / "run.gscope"):
            gs.tensor([float(number)]) * 2.0
    names = {"run.gscope": 2.0, "run-1.gscope": 0.0, "run-2.gscope": 1.0}
    assert {path.name: load(path).value(0).item() for path in tmp_path.iterdir()} == names


@pytest.mark.parametrize("what", ["file", "folder", "link"])
def test_what_is_no_log_is_left_alone(tmp_path: Path, what: str) -> None:
    path = tmp_path / "run.gscope"
    if what == "file":
        path.write_text("mine")
    elif what == "folder":
        path.mkdir()
        (path / "mine.txt").write_text("mine")
    else:
        path.symlink_to(tmp_path / "nowhere" / "to" / "be" / "found")
    before = sorted(str(found) for found in tmp_path.rglob("*"))
    with pytest.raises(LogError), gs.record(path):
        pytest.fail("it started")
    assert sorted(str(found) for found in tmp_path.rglob("*")) == before
    assert recording.active() is None


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    with gs.record(tmp_path) as log:
        gs.tensor([1.0]) * 2.0
    assert log.refresh()
    assert len(log) == 2


FORKED = """
import os, sys
import graphscope as gs
with gs.record("parent.gscope") as log:
    a = gs.tensor([1.0, 2.0], requires_grad=True)
    b = a * 2.0
    child = os.fork()
    if child == 0:
        c = b * 3.0
        with gs.record("child.gscope"):
            (b * 4.0).sum().backward()
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    (b * 5.0).sum().backward()
log.refresh()
"""


def ops(path: Path) -> list[str]:
    log = load(path)
    return [log.op(event.op).name for event in map(log.event, range(log.first, log.end)) if event.kind == Kind.OP]


@pytest.mark.slow
def test_a_forked_child_detaches_and_may_record_for_itself(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert ops(tmp_path / "parent.gscope") == ["mul", "mul", "sum"]
    assert ops(tmp_path / "child.gscope") == ["mul", "sum"]
    parent, child = load(tmp_path / "parent.gscope"), load(tmp_path / "child.gscope")
    assert parent.closed
    assert child.closed
    for log in (parent, child):
        for row in range(log.first, log.end):
            assert all(log.first <= source < row for source, _ in log.inputs(row)), "inputs are rows of its own"


TEMPORARY = """
import os
import graphscope as gs
with gs.record() as log:
    a = gs.tensor([1.0, 2.0]) * 2.0
    child = os.fork()
    if child == 0:
        del log
        raise SystemExit
    os.waitpid(child, 0)
    b = a * 3.0
    print(log.path)
log.refresh()
print(log.path.exists(), len(log))
"""


@pytest.mark.slow
def test_a_temporary_log_outlives_a_child_and_not_its_process(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", TEMPORARY]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == "True 3"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file", ["tables/nodes/part-0.parquet", "tables/weights.npy", "notes.txt"])
def test_what_a_person_keeps_in_a_folder_is_not_removed_for_a_log(tmp_path: Path, file: str) -> None:
    kept = tmp_path / "mine" / file
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    with pytest.raises(LogError, match="mine exists and is no log"), gs.record(tmp_path / "mine"):
        pass
    assert kept.read_text() == "mine"


@pytest.mark.parametrize("place", [".", "./", "", "/", ".."])
def test_no_log_takes_the_place_of_the_folder_one_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(LogError, match="exists and is no log"), gs.record(place):
        pass
    assert Path.cwd() == tmp_path / "here"


@pytest.mark.parametrize(
    "left",
    [
        [],
        ["owner.lock"],
        ["owner.lock", "tables"],
        ["owner.lock", "tables", "tables/ops-000.npy"],
        ["owner.lock", "tables", "segments", "log.json.new"],
    ],
)
def test_a_log_takes_the_place_of_one_that_was_killed_as_it_began(tmp_path: Path, left: list[str]) -> None:
    (tmp_path / "run.gscope").mkdir()
    for name in left:
        path = tmp_path / "run.gscope" / name
        path.mkdir() if name in ("tables", "segments") else path.touch()
    with gs.record(tmp_path / "run.gscope"):
        gs.ones(2)
    assert [path.name for path in tmp_path.iterdir()] == ["run.gscope"]
    assert gs.load(tmp_path / "run.gscope").end
