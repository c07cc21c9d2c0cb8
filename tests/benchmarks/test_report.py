"""Results become tables with units and verdicts, and name neither the machine nor its paths."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from benchmarks.__main__ import GROUPS, main
from benchmarks.report import TITLES, missing, rows, spoken, verdicts
from benchmarks.results import BARS, Measurement, machine

GROUP = [
    Measurement("graphscope", {"seconds": 2.5e-5, "to torch": 0.25}),
    Measurement("graphscope, recording", {"seconds": 7e-5, "to torch": 0.7}),
    Measurement("mygrad", note="mygrad is not installed"),
]


@pytest.mark.parametrize(
    ("column", "number", "text"),
    [
        ("seconds", 0.25, "250 ms"),
        ("seconds, open", 3.2e-7, "320 ns"),
        ("bytes", 64e6, "64 MB"),
        ("share", 0.0123, "+1.2%"),
    ],
)
def test_numbers_have_units(column: str, number: float, text: str) -> None:
    assert spoken(column, number) == text


def test_what_was_not_measured_is_said_beside_the_table() -> None:
    head, body = rows(GROUP)
    assert head == ("", "seconds", "to torch")
    assert [row[0] for row in body] == ["graphscope", "graphscope, recording"]
    assert missing(GROUP) == "mygrad: mygrad is not installed"


def test_bars_are_met_or_not() -> None:
    _, body = verdicts({"W1": GROUP})
    assert [row[-1] for row in body] == ["met", "NOT MET"]


def test_every_bar_and_title_belongs_to_something_that_is_measured() -> None:
    assert {bar.group for bar in BARS} <= set(GROUPS)
    assert set(TITLES) == set(GROUPS)


def test_machine_names_no_host_and_no_path() -> None:
    text = " ".join(machine().values())
    assert platform.node() not in text
    assert str(Path.home()) not in text


def test_unknown_name_is_refused_with_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["W9"]) == 2
    assert "W9" in (said := capsys.readouterr().err)
    assert "W1" in said
