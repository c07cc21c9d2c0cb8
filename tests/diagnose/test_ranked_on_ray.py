"""The same ranks as tasks of Ray's, and their logs read by tasks of Ray's and Dask's.

`GRAPHSCOPE_RAY` names a Python that has them and PyTorch (CONTRIBUTING.md says how).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .ranked.answers import ENVIRONMENT, PROGRAMS, WAYS, answered, check

PYTHON = os.environ.get("GRAPHSCOPE_RAY", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="GRAPHSCOPE_RAY names no Python with Ray, Dask and PyTorch"),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder of logs for each way."""
    folder = tmp_path_factory.mktemp("ray")
    command = [PYTHON, "-m", "tests.diagnose.ranked.on_ray", str(PROGRAMS / "by_hand.py"), *WAYS]
    subprocess.run(command, cwd=folder, check=True, timeout=600, capture_output=True, env=ENVIRONMENT)
    return folder


def test_each_task_has_a_log_and_what_is_wrong_is_named(recorded: Path) -> None:
    for way in WAYS:
        logs = sorted(log.name for log in (recorded / way).glob("*.gscope"))
        assert logs == [f"run-rank{rank}.gscope" for rank in range(4)]
        check(recorded / way, "by_hand", way)


@pytest.mark.parametrize("executor", ["ray", "dask"])
def test_read_on_a_cluster_they_say_the_same(executor: str, recorded: Path) -> None:
    for way in ("healthy", "skip"):
        assert answered(recorded / way, "--with", executor, python=PYTHON) == answered(recorded / way)
