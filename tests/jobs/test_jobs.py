"""The jobs are done again, each at both sizes, and their pages in `docs/jobs` say what is to be seen."""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.jobs.job import SIZES, Job, Step, do
from tests.jobs.page import FOLDER, index, kept, page
from tests.jobs.table import JOBS

RENEW = "`make transcripts` writes the pages anew"
_SCREEN = re.compile(r"^```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_a_job_is_done_with_its_keys(job: Job, size: tuple[int, int], tmp_path: Path) -> None:
    """What each step waits for has come, or `do` fails."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux here")
    for module in ("torch", "tqdm"):
        if f"import {module}\n" in job.program.read_text(encoding="utf-8") and find_spec(module) is None:
            pytest.skip(f"there is no {module} here")
    width, height = size
    for screen in do(job, size, tmp_path):
        lines = screen.splitlines()
        assert len(lines) <= height
        assert max(map(len, lines)) <= width
        assert "Traceback" not in screen


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_page_of_a_job_is_current(job: Job) -> None:
    text = (FOLDER / f"{job.name}.md").read_text(encoding="utf-8")
    screens = _SCREEN.findall(text)
    told = page(job, {size: [""] * len(job.steps) for size in SIZES})

    assert _SCREEN.sub("", text) == _SCREEN.sub("", told), RENEW
    seen = [step for size in SIZES for step in kept(job, size)]
    for step, screen in zip(seen, screens, strict=True):
        assert missing(step, screen) == [], RENEW
    assert not re.search(r"/(home|root|tmp|work|usr)/", text), "a page tells of no machine"


def missing(step: Step, screen: str) -> list[str]:
    """What a screen of a page lacks of what its step waits for."""
    return [each for each in step.shows if each not in screen]


def test_the_pages_are_those_of_the_jobs() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {"README", *(job.name for job in JOBS)}
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == index(JOBS), RENEW


@pytest.mark.parametrize("job", [job for job in JOBS if job.limit is not None], ids=lambda job: job.name)
def test_a_job_takes_no_more_keys_than_it_may(job: Job) -> None:
    assert job.limit is not None
    assert job.keys <= job.limit
