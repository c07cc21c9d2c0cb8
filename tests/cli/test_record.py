"""`graphscope record` never stands between a person and their program: it runs, whatever becomes of its recording."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.slow
def test_recordings_that_begin_together_have_a_name_each(tmp_path: Path) -> None:
    (tmp_path / "sweep.py").write_text(
        "import sys\nimport graphscope as gs\ngs.ones(3) * 2\nprint('ran', sys.argv[1])\n"
    )
    command = [sys.executable, "-m", "graphscope", "record", "sweep.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen([*command, str(n)], cwd=tmp_path, env=environment, **pipes) for n in range(10)]
    said = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0] * 10
    assert [out for out, _ in said] == [f"ran {number}\n" for number in range(10)]
    logs = sorted(tmp_path.glob("*.gscope"))
    assert len(logs) == 10
    begun = {json.loads((log / "log.json").read_text())["argv"][-1] for log in logs}
    assert begun == {str(number) for number in range(10)}
    assert not list(tmp_path.glob(".*")), "nothing half made is left"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which nobody can make one")
def test_a_program_runs_where_it_cannot_be_recorded(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys\nprint('ran')\nsys.exit(3)\n")
    result = graphscope("record", "--log", "/proc/run.gscope", "program.py")
    assert (result.returncode, result.stdout) == (3, "ran\n")
    why = "can't record to /proc/run.gscope: No such file or directory (name another place with --log PATH)"
    assert result.stderr == f"graphscope: {why}; the program runs unrecorded\n"


@pytest.mark.slow
def test_a_program_ends_as_it_ends_though_its_recording_can_not_be_closed(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import json, sys\n"
        "def refuse(*given, **named): raise RuntimeError('patched')\n"
        "json.loads = json.dumps = refuse\n"
        "print('ran')\n"
        "sys.exit(3)\n"
    )
    result = graphscope("record", "program.py")
    assert (result.returncode, result.stdout) == (3, "ran\n")
    assert "Traceback" not in result.stderr
    last = "graphscope: the program has ended, and its recording program.gscope was not closed: RuntimeError: patched"
    assert result.stderr.splitlines()[-1] == last


@pytest.mark.slow
def test_what_a_person_can_mend_is_told_before_the_program_runs(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('ran')\n")
    (tmp_path / "notes.txt").write_text("mine")
    result = graphscope("record", "--log", "notes.txt", "program.py")
    assert (result.returncode, result.stdout) == (2, "")
    assert "notes.txt exists and is no log" in result.stderr
    assert (tmp_path / "notes.txt").read_text() == "mine"


SEEN = "graphscope, Equinox, JAX, Keras, optax, TensorFlow and PyTorch"


@pytest.mark.slow
@pytest.mark.parametrize("command", [["record"], ["debug", "--console"]])
def test_frameworks_without_an_adapter_are_named(graphscope: Run, tmp_path: Path, command: list[str]) -> None:
    for name in ("autograd", "cupy", "mxnet", "paddle", "tinygrad"):
        (tmp_path / f"{name}.py").touch()
    (tmp_path / "program.py").write_text("import sys\nimport autograd, cupy, mxnet, paddle, tinygrad\nsys.exit(5)\n")
    result = graphscope(*command, "program.py")
    assert result.returncode == 5
    missed = "autograd, CuPy, MXNet, PaddlePaddle and tinygrad"
    told = f"graphscope: what the program computed with {missed} was not seen; calls of {SEEN} are\n"
    assert result.stderr.count(told) == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", [["record"], ["debug", "--console"]])
def test_a_program_of_which_nothing_is_seen_is_told_so(graphscope: Run, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "program.py").write_text("import numpy as np\nprint(np.ones(3).sum())\n")
    result = graphscope(*command, "program.py")
    assert result.returncode == 0
    assert result.stdout.startswith("3.0\n")
    told = f"graphscope: nothing was recorded: what is seen are calls of {SEEN}, and none of these was used\n"
    assert result.stderr.count(told) == 1


@pytest.mark.slow
def test_a_recording_of_marks_alone_is_told_once_in_a_process(run: Run, tmp_path: Path) -> None:
    program = "import graphscope as gs\nfor turn in range(3):\n    with gs.record():\n        gs.step()\nprint(turn)\n"
    (tmp_path / "program.py").write_text(program)
    result = run("program.py")
    assert result.stdout == "2\n"
    assert result.stderr.count("graphscope: nothing was recorded: ") == 1
    (tmp_path / "seen.py").write_text(program.replace("gs.step()", "gs.ones(2) * 2"))
    assert run("seen.py").stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_program_without_standard_streams(tmp_path: Path, closed: str) -> None:
    (tmp_path / "program.py").write_text("import sys\nimport graphscope as gs\ngs.ones(50_000) * 2\nsys.exit(4)\n")
    command = f"{sys.executable} -m graphscope record program.py {closed}"
    result = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=120
    )
    assert result.returncode == 4
    assert json.loads((tmp_path / "program.gscope/log.json").read_text())["finished"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_log_that_ended_early_says_so_wherever_it_is_shown(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import resource, signal\nimport graphscope as gs\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))\n"
        "x = gs.ones(2000)\n"
        "for _ in range(9000):\n    x * 2\n"
        "print('done')\n"
    )
    recorded = graphscope("record", "program.py")
    told = "recording to program.gscope stopped: File too large"
    assert (recorded.returncode, recorded.stdout) == (0, "done\n")
    assert told in recorded.stderr
    summary = graphscope("summary").stdout
    assert told in " ".join(summary.split())
    assert "first non-finite value: none in what was recorded" in summary
    assert told in json.loads(graphscope("summary", "--json").stdout)["stopped"]
    assert told in " ".join(graphscope("open", "--console", stdin="info log\nq\n").stdout.split())


@pytest.mark.slow
def test_garbage_is_looked_for_as_if_the_program_were_alone(graphscope: Run, run: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import gc, weakref\n"
        "print(gc.isenabled(), gc.get_threshold())\n"
        "print([each for each in gc.get_objects() if str(getattr(each, '__name__', '')).startswith('graphscope')])\n"
        "class Knot: pass\n"
        "def tie():\n"
        "    knot = Knot()\n"
        "    knot.knot = knot\n"
        "    return weakref.ref(knot)\n"
        "first = tie()\n"
        "others = [tie() for _ in range(10000)]\n"
        "print(first() is None)\n"
    )
    alone = run("program.py").stdout
    assert graphscope("record", "program.py").stdout == alone
    assert alone.endswith("True\n")


def test_moments_are_refused_where_all_steps_are_kept(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('ran')\n")
    refused = graphscope("record", "--on", "nan", "program.py")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("graphscope: all steps are kept in any case, and 'nan' would hold none of them\n")
    assert graphscope("record", "--on", "nan", "--keep-last", "3", "program.py").stdout == "ran\n"


def test_of_one_event_it_is_said_that_it_is_there(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("raise ValueError('at once')\n")
    result = graphscope("record", "program.py")
    assert "1 event is in program.gscope" in result.stderr


@pytest.mark.parametrize("option", [[], ["--every", "3"]])
def test_of_a_program_whose_first_import_fails_its_traceback_says_all(
    graphscope: Run, run: Run, tmp_path: Path, option: list[str]
) -> None:
    (tmp_path / "program.py").write_text("import there_is_no_such_module\n")
    *lines, told = graphscope("record", *option, "program.py").stderr.splitlines()
    assert lines == run("program.py").stderr.splitlines()
    assert told.startswith("graphscope: 1 event is in program.gscope")


@pytest.mark.parametrize("option", ["--every", "--keep-last"])
@pytest.mark.parametrize("number", ["0", "-3", "many"])
def test_numbers_of_steps_are_refused_by_the_name_of_the_flag(
    graphscope: Run, tmp_path: Path, option: str, number: str
) -> None:
    (tmp_path / "program.py").write_text("print('ran')\n")
    refused = graphscope("record", f"{option}={number}", "program.py")
    assert (refused.returncode, refused.stdout) == (2, "")
    message, _ = refused.stderr.splitlines()
    assert message == f"graphscope: argument {option}: {number!r} is no number of steps: give 1 or more"


def test_a_recording_that_was_removed_meanwhile_is_not_offered(graphscope: Run, tmp_path: Path) -> None:
    text = "import os, shutil\nimport graphscope as gs\ngs.ones(3) * 2\n{}\nos.chdir('/')\n"
    for name, act in (("kept.py", ""), ("removed.py", "shutil.rmtree('removed.gscope')")):
        (tmp_path / name).write_text(text.format(act))
    assert "open kept.gscope" in graphscope("record", "kept.py").stderr
    removed = graphscope("record", "removed.py")
    assert "removed.gscope is gone" in removed.stderr
    assert "open" not in removed.stderr
