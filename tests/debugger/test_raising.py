"""What a person gives the debugger to evaluate may raise anything: the program goes on, and the person is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import graphscope as gs
from graphscope.debugger.tensor_filters import add_tensor_filter


class Odd(Exception):
    def __str__(self):
        raise ValueError("has no text")


class Unshown:
    def __repr__(self):
        raise RuntimeError("has no repr")


def raises(kind):
    raise kind


unshown = Unshown()
add_tensor_filter("broken", lambda datum, tensor: raises(KeyError("gone")))
add_tensor_filter("odd", lambda datum, tensor: raises(Odd()))
add_tensor_filter("leaves", lambda datum, tensor: raises(SystemExit(9)))
x = gs.ones(2)
y = x * 2
z = (y + 1).sum()
print("the program is at its end", z.item())
"""


def debug(folder: Path, *commands: str) -> str:
    script = folder / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    asked = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(
        [sys.executable, "-m", "graphscope", "debug", "--console", *asked, "-c", "q", str(script)],
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "KeyError: 'gone'"),
        ("odd", "raised Odd at"),
        pytest.param("leaves", "SystemExit: 9", marks=pytest.mark.slow),
    ],
)
def test_a_tensor_filter_that_raises_stops_there_and_the_program_goes_on(tmp_path: Path, name: str, said: str) -> None:
    told = debug(tmp_path, f"run -f {name}", "p op", "c")

    assert f"The tensor filter '{name}' raised" in told
    assert said in told
    assert "'mul'" in told
    assert "the program is at its end 6.0" in told


@pytest.mark.slow
def test_a_list_by_a_filter_that_raises_is_refused(tmp_path: Path) -> None:
    assert "The tensor filter 'broken' raised KeyError: 'gone' at #0" in debug(tmp_path, "n", "lt -f broken", "c")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("b op:mul, raises(KeyError('gone'))", "raised KeyError: 'gone'"),
        ("b op:mul, raises(Odd())", "raised Odd"),
        ("b op:mul, exit(3)", "raised SystemExit: 3"),
        ("b op:mul, np.array([1.0]) @ value", "raised ValueError"),
        ("display unshown", "raised RuntimeError: has no repr"),
        ("display raises(Odd())", "raised Odd"),
        ("p exit(3)", "SystemExit: 3"),
        ("watch raises(Odd())", "Odd"),
    ],
)
def test_expressions_that_raise_are_told(tmp_path: Path, command: str, said: str) -> None:
    told = debug(tmp_path, command, "c", "c")

    assert said in told
    assert "the program is at its end 6.0" in told


@pytest.mark.slow
def test_a_watched_value_without_a_repr_is_told(tmp_path: Path) -> None:
    assert "the program is at its end 6.0" in debug(tmp_path, "watch unshown", "c", "c")


@pytest.mark.slow
def test_a_typed_filter_that_names_nothing_is_told(tmp_path: Path) -> None:
    told = debug(tmp_path, "filter wrong vlaue.max() > 1", "run -f wrong", "c")

    assert "The tensor filter 'wrong' raised NameError: name 'vlaue' is not defined" in told
    assert "the program is at its end 6.0" in told
