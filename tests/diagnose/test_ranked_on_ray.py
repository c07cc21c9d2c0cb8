"""The same ranks as tasks of Ray's, and their logs read by tasks of Ray's and Dask's (the extra `engines` has both)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .ranked.answers import ENVIRONMENT, PROGRAMS, WAYS, answered, check

for _library in ("torch", "ray", "dask"):
    pytest.importorskip(_library)

pytestmark = [pytest.mark.slow, pytest.mark.torch]


@contextmanager
def unless_ray_gives_up() -> Iterator[None]:
    """Skip where Ray's own processes take more than half a minute, as where all processors are busy: Ray ends then."""
    try:
        yield
    except AssertionError as error:
        if "timed out during startup" in str(error):
            pytest.skip("Ray gave up waiting for its own processes")
        raise


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder of logs for each way."""
    folder = tmp_path_factory.mktemp("ray")
    command = [sys.executable, "-m", "tests.diagnose.ranked.on_ray", str(PROGRAMS / "by_hand.py"), *WAYS]
    with unless_ray_gives_up():
        done = subprocess.run(
            command, cwd=folder, timeout=600, capture_output=True, text=True, check=False, env=ENVIRONMENT
        )
        assert done.returncode == 0, done.stderr
    return folder


def test_each_task_has_a_log_and_what_is_wrong_is_named(recorded: Path) -> None:
    for way in WAYS:
        logs = sorted(log.name for log in (recorded / way).glob("*.gscope"))
        assert logs == [f"run-rank{rank}.gscope" for rank in range(4)]
        check(recorded / way, "by_hand", way)


@pytest.mark.parametrize("executor", ["ray", "dask"])
def test_read_on_a_cluster_they_say_the_same(executor: str, recorded: Path) -> None:
    for way in ("healthy", "skip"):
        with unless_ray_gives_up():
            found = answered(recorded / way, "--with", executor)
        assert found == answered(recorded / way)
