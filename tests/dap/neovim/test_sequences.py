"""What nvim-dap said in each job is said again, to the real adapter and without Neovim: a person would see the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dap.neovim.jobs import FILE, JOBS
from tests.dap.neovim.replay import replay
from tests.dap.neovim.sequences import FOLDER, read

pytestmark = [pytest.mark.torch, pytest.mark.slow]


SEQUENCES = sorted(FOLDER.glob("*/*.json"))
BY_NAME = {job.name: job for job in JOBS}


@pytest.mark.parametrize("file", SEQUENCES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_neovim_says_does_the_job(file: Path, tmp_path: Path) -> None:
    job = BY_NAME[file.stem]
    job.prepare(tmp_path)
    seen = replay(read(file), tmp_path)
    assert {stop.file for stop in seen.stops} == {FILE}
    job.check(seen)


def test_of_every_job_there_is_a_sequence() -> None:
    assert {file.stem for file in SEQUENCES} == set(BY_NAME)
