"""The benchmark of `diff` compares trainings that part late, and says what that took."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.diff import FORMS, LATE, as_is, record
from benchmarks.doctor import taken
from graphscope.compare import diff
from tests.quick import one_quick


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", one_quick(FORMS))
def test_diff_is_measured_on_trainings_that_part_late(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    ours, theirs = tmp_path / "a.gscope", tmp_path / "b.gscope"
    assert record(ours, as_is, 20, parts=False) > 1000
    record(theirs, FORMS[name], 20, parts=True)
    said = taken("diff", str(ours), str(theirs), status=1)
    assert 0 < said["seconds"] < 1000
    found = diff(ours, theirs).first
    assert found is not None
    assert (found.step, found.when, found.cause) == (20 * LATE + 1, "update", "clipping")
