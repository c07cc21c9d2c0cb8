"""Results become tables with units and verdicts, and name neither the machine nor its paths."""

from __future__ import annotations

import math
import platform
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import GROUPS, main
from benchmarks.plot import LEAST, plot
from benchmarks.report import DRAWN, TITLES, missing, rows, spoken, verdicts
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
        ("seconds", -0.0893, "-89.3 ms"),
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


def test_the_picture_is_xml_with_a_bar_for_each_number() -> None:
    rows_of_one = [Measurement("graphscope, <traced>", {"to hand": 0.5}), Measurement("torch", {"to hand": 50.0})]
    root = ElementTree.fromstring(plot({"compiled W1": [*rows_of_one, Measurement("mygrad", note="not there")]}, DRAWN))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [DRAWN["compiled W1"], "graphscope, <traced>", "0.5", "torch", "50"]
    ours, theirs = [float(each.get("width", "0")) for each in root.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert theirs / ours == pytest.approx(math.log10(50 / LEAST) / math.log10(0.5 / LEAST), rel=0.01)


def test_machine_names_no_host_and_no_path() -> None:
    text = " ".join(machine().values())
    assert platform.node() not in text
    assert str(Path.home()) not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["observer"], "there is no benchmark 'observer': did you mean 'observers'?"),
        (["???"], "there is no benchmark '???': choose among W1, W2,"),
        (["profile", "W1", "recoded"], "there is no candidate 'recoded': did you mean 'recorded'?"),
        (["profile", "W1"], "profile takes a workload and a candidate"),
        (["--hepl"], "unrecognized arguments: --hepl"),
    ],
)
def test_what_is_not_understood_is_refused_with_what_was_meant(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert said in capsys.readouterr().err


def test_help_names_all_that_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert all(shlex.quote(name) in told for name in GROUPS)
