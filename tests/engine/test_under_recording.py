"""The engine's own tests once more, each of them recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_the_engine_computes_the_same_while_it_is_recorded(tmp_path: Path) -> None:
    # The tables of ops are recorded op by op in test_recording.py: sixteen thousand logs would say no more.
    names = (
        "test_recording.py",
        "test_training_marks.py",
        "test_ops*",
        "test_*_against_torch.py",
        "test_fuzz.py",
        "test_opinfo.py",
        Path(__file__).name,
    )
    apart = [f"--ignore-glob={HERE / name}" for name in names]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "under_recording", f"--basetemp={tmp_path / 'runs'}"]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [*command, "-m", "not slow", *apart, str(HERE)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
