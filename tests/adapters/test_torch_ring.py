"""A recording that keeps the newest steps loses none of them, whatever becomes of the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks and signals"),
]


@pytest.mark.slow
def test_what_is_killed_has_the_steps_that_the_ring_promised(tmp_path: Path) -> None:
    rounds = os.environ.get("KILLS", "22")
    command = [sys.executable, str(Path(__file__).with_name("ring_kills.py")), rounds, os.environ.get("SEED", "2")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert int(result.stdout) > 3 * int(rounds)
