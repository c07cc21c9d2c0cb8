"""The command line as a whole: help, version, mistakes, a closed pipe."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as package
from graphscope.cli import COMMANDS

from .conftest import ROOT, Run


def test_version(graphscope: Run) -> None:
    result = graphscope("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"graphscope {package.__version__}\n", "")


def test_help_lists_every_command(graphscope: Run) -> None:
    result = graphscope("--help")
    assert result.returncode == 0
    for name, summary in COMMANDS.items():
        assert f"{name} " in result.stdout
        assert summary in result.stdout


def test_no_command_is_a_usage_error(graphscope: Run) -> None:
    assert graphscope().returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(graphscope: Run, command: str) -> None:
    result = graphscope(command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: graphscope {command}")


def test_a_wrong_word_is_answered_with_the_right_one(graphscope: Run) -> None:
    result = graphscope("sumary")
    assert result.returncode == 2
    assert result.stderr == "graphscope: there is no command 'sumary'\nhint: Did you mean `graphscope summary`?\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["summary", "open", "export", "pack"])
def test_no_log_to_read(graphscope: Run, command: str) -> None:
    more = ["-o", "a.svg"] if command == "export" else []
    for words, message in [([], "there is no recording"), (["absent.gscope"], "there is no log 'absent.gscope'")]:
        result = graphscope(command, *words, *more)
        assert result.returncode == 2
        assert result.stderr.startswith(f"graphscope: {message}")
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("place", ["elsewhere", "./elsewhere/", "."])
def test_a_folder_stands_for_the_newest_recording_in_it(graphscope: Run, tmp_path: Path, place: str) -> None:
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    result = graphscope("summary", place)
    assert result.returncode == 2
    assert result.stderr.startswith(
        f"graphscope: there is no recording (*.gscope) in {str(folder.resolve())!r}\nhint: "
    )
    for written, name in ((2000, "newer"), (1000, "older")):
        log = folder / f"{name}.gscope"
        with package.record(log):
            package.tensor(1.0) + 1
        for path in (log / "log.json", log):
            os.utime(path, (written, written))
    result = graphscope("summary", place)
    assert result.returncode == 0
    assert "newer.gscope" in result.stdout


def test_a_log_is_meant_where_a_folder_has_its_name_without_the_ending(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    with package.record(tmp_path / "train.gscope"):
        package.tensor(1.0) + 1
    assert "train.gscope" in graphscope("summary", "train").stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["summary", "open", "export", "pack"])
def test_a_foreign_folder_is_no_log(graphscope: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "x.gscope").mkdir()
    (tmp_path / "x.gscope" / "log.json").write_text("\x1b[31m{")
    result = graphscope(command, "x.gscope", *(["-o", "a.svg"] if command == "export" else []))
    assert result.returncode == 2
    assert "is no log" in result.stderr
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.slow
def test_names_in_messages_do_not_steer_the_terminal(graphscope: Run) -> None:
    result = graphscope("record", "\x1b[31mred.py")
    assert "\x1b" not in result.stderr
    assert "red.py" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_closed_pipe_is_quiet() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "graphscope", "--help"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


TWICE = """
import os, signal, sys
from graphscope.cli import main

def press(name, what, set_hook):
    def hook(frame, event, argument):
        if event == what and frame.f_code.co_name == name:
            set_hook(None)
            print("pressed", name, flush=True)
            os.kill(os.getpid(), signal.SIGINT)
    set_hook(hook)

press("_dispatch", "call", sys.settrace)
press("_guarded", "return", sys.setprofile)
main(["summary", "nothing.gscope"])
"""


def test_ctrl_c_pressed_twice_is_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, timeout=120)
    assert (ended.stdout.split(), ended.stderr) == (["pressed", "_dispatch", "pressed", "_guarded"], "")
    assert ended.returncode == -signal.SIGINT


AFTERWARDS = """
import os, signal, sys
from graphscope.cli import main

def hook(frame, event, argument):
    if event == "call" and frame.f_code.co_name == "_dispatch":
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGINT)

sys.settrace(hook)
try:
    main(["summary", "nothing.gscope"])
except KeyboardInterrupt:
    print("pressed")
raise ValueError("of whoever called it")
"""


def test_behind_a_ctrl_c_other_exceptions_are_shown() -> None:
    ended = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, timeout=120)
    assert ended.stdout.split() == ["pressed"]
    assert ended.stderr.endswith("ValueError: of whoever called it\n")


def test_a_program_in_place_of_a_log_is_to_be_recorded_first(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    result = graphscope("summary", str(tmp_path / "train.py"))
    assert result.returncode == 2
    assert "graphscope record SCRIPT" in result.stderr


def test_a_budget_that_is_too_small_is_told_the_least(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    result = graphscope("record", "--every", "2", "--budget", "1M", str(tmp_path / "train.py"))
    (least,) = re.findall(r"the least is ([\d,]+)", result.stderr)
    log = str(tmp_path / "run.gscope")
    taken = graphscope(
        "record", "--every", "2", "--budget", least.replace(",", ""), "--log", log, str(tmp_path / "train.py")
    )
    assert (result.returncode, taken.returncode) == (2, 0)
