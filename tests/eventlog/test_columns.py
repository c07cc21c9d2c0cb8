"""Fields of all rows, kept small: whatever lies in a log, they are what numpy reads in its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphscope.eventlog import schema
from graphscope.eventlog.distances import Distances
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag, Kind

ROWS = 20_000


@pytest.fixture(params=[0, 1, 2, 3, 4])
def log(request, make, append) -> Log:
    """A log of two segments in which something else was written: few combinations, many, rows that are not there."""
    writer = make(keep_last=0, segment_rows=ROWS // 2) if "segment_rows" in _options() else make()
    append(writer, np.zeros(ROWS))
    writer.close()
    return _filled(writer.path, np.random.default_rng(request.param))
