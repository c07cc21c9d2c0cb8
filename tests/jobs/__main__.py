"""Does all jobs in a terminal, and writes their pages: `python -m tests.jobs [NAME...]`."""

import sys
import tempfile
from pathlib import Path

from tests.jobs.job import SIZES, do
from tests.jobs.page import FOLDER, index, page
from tests.jobs.table import JOBS


def main(names: list[str]) -> None:
    """Write the pages of these jobs, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for job in JOBS:
        if names and job.name not in names:
            continue
        screens = {}
        try:
            for size in SIZES:
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a screen may still be leaving
                    screens[size] = do(job, size, Path(folder))
        except AssertionError as failed:
            print(job.name, failed)
            continue
        (FOLDER / f"{job.name}.md").write_text(page(job, screens), encoding="utf-8")
        print(job.name, job.keys)
    (FOLDER / "README.md").write_text(index(JOBS), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
