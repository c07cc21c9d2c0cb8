"""`graphscope doctor`: of a log and of a program, healthy, sick, failing and interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from .conftest import ROOT, Run

SCHEMA = json.loads((files("graphscope.diagnose") / "assets" / "doctor.schema.json").read_text())

SICK = """
import sys
import graphscope as gs
a = gs.tensor([1.0, 2.0], requires_grad=True)
b = gs.tensor([1.0, 2.0], requires_grad=True)
print("begins", *sys.argv[1:])
loss = (a.detach() * b).sum()
loss.backward()
"""


@pytest.fixture
def sick(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SICK)
    return tmp_path


@pytest.mark.slow
def test_of_a_program_it_records_first(sick: Path, graphscope: Run) -> None:
    result = graphscope("doctor", "--values", "summary", "train.py", "--epochs", "3")
    assert result.returncode == 1
    assert "begins --epochs 3\n" in result.stderr
    assert result.stdout.startswith("1 warning in ")
    assert "7 | loss = (a.detach() * b).sum()\n" in result.stdout
    assert "^^^^^^^^^^" in result.stdout
    assert (sick / "train.gscope").is_dir()


@pytest.mark.slow
@pytest.mark.usefixtures("sick")
def test_json_is_all_that_is_printed(graphscope: Run, read: Run) -> None:
    result = graphscope("doctor", "--json", "--log", "other.gscope", "train.py")
    found = json.loads(result.stdout)
    jsonschema.validate(found, SCHEMA)
    assert "begins" in result.stderr
    (finding,) = found["findings"]
    assert (finding["kind"], finding["line"], finding["names"]) == ("missing", 7, ["a"])
    again = read("doctor", "other.gscope", "--json")
    assert json.loads(again.stdout) == found
    assert again.returncode == 1
    assert json.loads(read("doctor", "--json").stdout) == found


@pytest.mark.slow
def test_a_healthy_program(sick: Path, graphscope: Run) -> None:
    (sick / "train.py").write_text(SICK.replace(".detach()", ""))
    result = graphscope("doctor", "train.py")
    assert result.returncode == 0
    assert "nothing found in " in result.stdout


@pytest.mark.slow
def test_a_program_that_fails_is_judged_too(sick: Path, graphscope: Run) -> None:
    (sick / "train.py").write_text(SICK + "b @ gs.ones(3)\n")
    result = graphscope("doctor", "train.py")
    assert "Traceback" in result.stderr
    assert result.returncode == 1
    assert "raised: exception (error" in result.stdout
    assert "train.py:9" in result.stdout
    assert "missing: " in result.stdout


@pytest.mark.slow
def test_a_program_that_dies_is_judged_too(sick: Path, graphscope: Run) -> None:
    (sick / "train.py").write_text(SICK + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    result = graphscope("doctor", "train.py")
    assert result.returncode == 1
    assert "missing: " in result.stdout
    assert "the recording is not finished" in " ".join(result.stdout.split())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_program_that_is_interrupted_is_judged_too(sick: Path) -> None:
    waits = "import signal\nprint('waits', flush=True)\nsignal.pause()\n"
    (sick / "train.py").write_text(SICK + waits)
    with subprocess.Popen(
        [sys.executable, "-m", "graphscope", "doctor", "--json", "train.py"],
        cwd=sick,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    ) as child:
        assert child.stderr is not None
        while "waits" not in child.stderr.readline():
            assert child.poll() is None
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does it: to both processes
        printed, _ = child.communicate(timeout=60)
    assert child.returncode == 1
    assert [each["kind"] for each in json.loads(printed)["findings"]] == ["missing"]


@pytest.mark.usefixtures("sick")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.py"], "there is no script 'nothing.py'"),
        (["-m", "nothing_like_it"], "'nothing_like_it' was not recorded"),
        ([], "there is no recording"),
        (["absent.gscope"], "there is no log 'absent.gscope'"),
        (["--valus", "full", "train.py"], "unrecognized arguments"),
        (["--", ""], "no program to run"),
    ],
)
def test_what_it_refuses(graphscope: Run, words: list[str], message: str) -> None:
    result = graphscope("doctor", *words)
    assert result.returncode == 2
    assert f"graphscope: {message}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_an_older_log_is_not_taken_for_that_of_a_program_that_could_not_be_recorded(
    sick: Path, graphscope: Run
) -> None:
    assert graphscope("record", "train.py").returncode == 0
    (sick / "train.gscope").rename(sick / "nothing_like_it.gscope")
    result = graphscope("doctor", "-m", "nothing_like_it")
    assert (result.returncode, result.stdout) == (2, "")


@pytest.mark.slow
def test_nothing_to_judge(tmp_path: Path, graphscope: Run) -> None:
    (tmp_path / "idle.py").write_text("print('idle')\n")
    result = graphscope("doctor", "idle.py")
    assert result.returncode == 2
    assert "nothing to judge" in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("sick")
def test_names_of_a_program_do_not_steer_the_terminal(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(SICK).replace("(a.detach()", "('\x1b[31m[red]' and a.detach()"))
    result = graphscope("doctor", "train.py")
    assert "\x1b" not in result.stdout
    assert "\\x1b[31m[red]" in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("sick")
def test_a_closed_pipe_is_quiet(graphscope: Run, tmp_path: Path) -> None:
    graphscope("record", "train.py")
    words = [sys.executable, "-m", "graphscope", "doctor", "train.gscope"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        assert child.stderr.read() == b""
