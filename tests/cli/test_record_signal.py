"""SIGUSR1 never ends a program that `graphscope record` runs: who sends it need not know what became of the log."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")

COMPUTES = (
    "import os, resource, signal, sys\nimport graphscope as gs\n"
    "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "if 'full' in sys.argv: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))\n"
    "x = gs.ones(2000)\n"
    "for _ in range(9000 if 'full' in sys.argv else 3):\n    x * 2\n"
    "os.kill(os.getpid(), signal.SIGUSR1)\n"
    "os.kill(os.getpid(), signal.SIGUSR1)\n"
)
WHY = "graphscope: SIGUSR1 asks for nothing: {}; the program goes on\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which nobody can make one")
@pytest.mark.parametrize("options", [[], ["--every", "10"]])
def test_the_signal_asks_for_nothing_where_nothing_could_be_recorded(
    graphscope: Run, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "program.py").write_text(f"{COMPUTES}print('ran')\nsys.exit(3)\n")
    result = graphscope("record", *options, "--log", "/proc/run.gscope", "program.py")
    assert (result.returncode, result.stdout) == (3, "ran\n")
    assert result.stderr.endswith("the program runs unrecorded\n" + WHY.format("nothing is recorded"))


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--keep-last", "3"]])
def test_the_signal_asks_for_nothing_of_a_recording_that_has_stopped(
    graphscope: Run, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "program.py").write_text(f"{COMPUTES}print('ran')\nsys.exit(3)\n")
    result = graphscope("record", *options, "program.py", "full")
    assert (result.returncode, result.stdout) == (3, "ran\n")
    assert result.stderr.count("asks for nothing") == 1
    assert "the program goes on unrecorded\n" + WHY.format("nothing is recorded") in result.stderr


@pytest.mark.parametrize(
    ("options", "why"),
    [([], "every step is recorded in any case"), (["--keep-last", "3", "--on", "nan"], "`on` does not name it")],
)
def test_the_signal_ends_no_program_where_it_asks_for_nothing(
    graphscope: Run, tmp_path: Path, options: list[str], why: str
) -> None:
    (tmp_path / "program.py").write_text(f"{COMPUTES}print('ran')\n")
    result = graphscope("record", *options, "program.py")
    assert (result.returncode, result.stdout) == (0, "ran\n")
    assert result.stderr.startswith(WHY.format(why))
    assert result.stderr.count("asks for nothing") == 1


def test_the_signal_ends_nothing_that_a_program_does_when_it_exits(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import atexit, os, signal\n"
        "atexit.register(lambda: (os.kill(os.getpid(), signal.SIGUSR1), print('uploaded', flush=True)))\n"
    )
    result = graphscope("record", "--every", "10", "program.py")
    assert (result.returncode, result.stdout) == (0, "uploaded\n")


@pytest.mark.parametrize("options", [[], ["--every", "10"]])
def test_a_signal_that_the_program_heeds_is_its_own(graphscope: Run, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "program.py").write_text(
        "import os, signal\nimport graphscope as gs\n"
        "assert signal.getsignal(signal.SIGUSR1) in (None, signal.SIG_DFL)\n"  # else some frameworks set no handler
        "signal.signal(signal.SIGUSR1, lambda number, frame: print('saved'))\n"
        "gs.ones(3) * 2\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
    )
    result = graphscope("record", *options, "program.py")
    assert (result.returncode, result.stdout) == (0, "saved\n")
    assert "SIGUSR1" not in result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_the_signal_asks_nothing_of_a_forked_child(graphscope: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, signal\nimport graphscope as gs\ngs.ones(3) * 2\n"
        "if (child := os.fork()) == 0:\n"
        "    os.kill(os.getpid(), signal.SIGUSR1)\n"
        "    os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    result = graphscope("record", "--every", "10", "program.py")
    assert (result.returncode, result.stdout) == (0, "7\n")
    assert "SIGUSR1" not in result.stderr
