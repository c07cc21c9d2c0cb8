"""What `%%graphscope` is told of a cell."""

from __future__ import annotations

import pytest

from graphscope.errors import UsageError
from graphscope.eventlog.record import record
from graphscope.notebook.cell_options import cell_options


def test_all_that_it_takes_is_what_a_recording_takes() -> None:
    told = cell_options("run --height 400 --values summary --capture ops --keep-last 3 --memory")
    assert (told.name, told.height) == ("run", 400)
    assert told.recording == {"values": "summary", "capture": "ops", "keep_last": 3, "every": 1, "memory": True}
    record(**told.recording)
    assert cell_options("--every 2").recording["every"] == 2


def test_nothing_need_be_said() -> None:
    told = cell_options("")
    assert told.name is None
    record(**told.recording)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--bogus", "unrecognized arguments: --bogus"),
        ("run more", "unrecognized arguments: more"),
        ("--values all", "invalid choice: 'all'"),
        ("--height tall", "invalid int value: 'tall'"),
        ("--height 20", "can't be 20 pixels high"),
        ("2nd", "'2nd' is no name for a variable"),
        ("'run", "no closing quotation"),
        ("--every", "expected one argument"),
    ],
)
def test_what_is_not_understood_is_said_in_a_sentence(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        cell_options(line)
