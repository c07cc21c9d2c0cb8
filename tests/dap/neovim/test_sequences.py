"""What nvim-dap said in each job is said again, to the real adapter and without Neovim: a person would see the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dap.neovim.jobs import FILE, JOBS, Job
from tests.dap.neovim.replay import replay
from tests.dap.neovim.sequences import FOLDER, read

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_what_neovim_says_does_the_job(job: Job, tmp_path: Path) -> None:
    job.prepare(tmp_path)
    seen = replay(read(job.name), tmp_path)
    assert {stop.file for stop in seen.stops} == {FILE}
    job.check(seen)


def test_every_sequence_is_of_a_job() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == {job.name for job in JOBS}
