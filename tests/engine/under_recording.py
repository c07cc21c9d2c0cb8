"""A pytest plugin that records every test: what the engine computes must not depend on being recorded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphscope.eventlog import record as recording


@pytest.fixture(autouse=True)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A recording around the test, unless it makes one itself."""
    if {"record", "recording"} & set(request.function.__code__.co_names):
        yield
        return
    writer = recording.start(tmp_path_factory.mktemp("recorded") / "run.gscope")
    try:
        yield
    finally:
        recording.stop(writer)
