"""A pytest plugin that records every test: what the engine computes must not depend on being recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from graphscope.eventlog import record as recording


@pytest.fixture(autouse=True)
def recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    """A recording around the test, unless it makes one itself."""
    if {"record", "recording"} & set(request.function.__code__.co_names):
        yield
        return
    # Gone with its test: kept to the end, the logs would fill gigabytes, and take minutes to remove.
    with TemporaryDirectory() as folder:
        writer = recording.start(Path(folder) / "run.gscope")
        try:
            yield
        finally:
            recording.stop(writer)
