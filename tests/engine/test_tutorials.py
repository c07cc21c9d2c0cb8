"""Programs as tutorials have them run unchanged under the debugger, with what PyTorch prints but for random numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.py"))
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?%?|\s+")


def printed(folder: Path, *words: str) -> list[str]:
    """What a program prints, without its numbers."""
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent), "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [NUMBER.sub("", line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_prints_with_torch(path, tmp_path):
    debug = ("-m", "graphscope", "debug", "--console", "--as-torch", "-c", "c", "-c", "q")
    found = printed(tmp_path, *debug, str(path))
    expected = printed(tmp_path, str(path))
    position = 0
    for line in expected:
        assert line in found[position:], line
        position += found[position:].index(line) + 1
