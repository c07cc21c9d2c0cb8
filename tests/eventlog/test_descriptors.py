"""A program may use up its descriptors, or close those that it does not know and open files of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs descriptors as POSIX has them")


@pytest.mark.slow
def test_a_program_without_descriptors_left_is_recorded_on(program) -> None:
    result = program("descriptors.py", "scarce")
    assert (result.returncode, result.stderr) == (0, "")
    end, *rest = result.stdout.split()
    assert int(end) > 6000 + 2 * 60
    assert rest == ["None", "True"]


@pytest.mark.slow
def test_a_ring_goes_round_without_descriptors_and_leaves_nothing(program, tmp_path: Path) -> None:
    result = program("ring_descriptors.py")
    assert (result.returncode, result.stderr) == (0, "")
    log = load(tmp_path / "run.gscope")
    rows = [
        row
        for row in np.flatnonzero(log.column("kind") == Kind.OP) + log.first
        if log.op(log.event(row).op).name == "sum"
    ]
    assert [float(log.value(row)) for row in rows][-3:] == [float(line) for line in result.stdout.splitlines()[-3:]]
    assert log.stopped == ""
    assert all(each.name.isdigit() for each in (log.path / "segments").iterdir())


@pytest.mark.slow
def test_files_that_a_program_opens_in_the_place_of_ours_are_left_alone(program) -> None:
    result = program("descriptors.py", "closed")
    assert (result.returncode, result.stderr) == (0, "")
    files, rows = result.stdout.splitlines()
    assert files == repr(b"my own data\n")
    end, *rest = rows.split()
    assert int(end) > 6000 + 2 * 60
    assert rest == ["None", "True"]


@pytest.mark.slow
def test_a_long_recording_holds_few_descriptors(program) -> None:
    result = program("many_segments.py")
    assert result.stderr == ""
    assert int(result.stdout) < 8
