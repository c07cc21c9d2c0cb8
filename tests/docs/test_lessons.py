"""Lessons: texts, numbers and pages come from one recording, and a browser shows what a text says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphscope as gs
from docs.learn.lessons import Lesson, lesson_of, lessons
from docs.learn.marks import filled, marks, told
from tests.exporters import chromium

from .pages import ROOT

LESSONS = lessons()
NAMES = [lesson.name for lesson in LESSONS]


def test_every_text_is_in_the_list() -> None:
    texts = {file.stem for file in (ROOT / "docs" / "learn").glob("*.md") if lesson_of(file) is not None}
    assert texts == set(NAMES)


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_program_and_numbers_are_those_of_the_sample(lesson: Lesson) -> None:
    with lesson.recorded() as log:
        assert lesson.text == filled(lesson.with_program(), log.graph), "run `make docs`"
        found = marks(lesson.text, log.graph)
    assert len(found) == lesson.text.count("<!-- "), "a comment that is no mark"


@pytest.mark.torch
@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_in_pytorch_the_text_is_the_same(lesson: Lesson) -> None:
    pytest.importorskip("torch")
    with lesson.recorded("torch") as log:
        assert filled(lesson.with_program(), log.graph) == lesson.text


def test_a_number_that_is_not_that_of_the_recording_is_mended(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        x = gs.tensor([1.0, -2.5], requires_grad=True)
        loss = (x * x).sum()  # noqa: F841 (a recording takes names from the program)
        x.sum().backward()
    text = "from **7**<!-- x.value --> to **7**<!-- loss.value -->, of **7**<!-- x.shape -->, **so**<!-- at x.grad -->"
    assert filled(text, log.graph) == (
        "from **[1, −2.5]**<!-- x.value --> to **7.25**<!-- loss.value -->, of **2**<!-- x.shape -->,"
        " **so**<!-- at x.grad -->"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (-0.25, "−0.25"), (1290.0, "1,290"), (1 / 3, "0.3333"), (float("nan"), "NaN"), (-float("inf"), "−∞")],
)
def test_numbers_are_told_as_on_the_page(value: float, text: str) -> None:
    assert told(value) == text


# In a browser --------------------------------------------------------------------------------------------------------

NUMBERS = re.compile(r"(?:NaN|[\d\[\], .−])+")

SHOWN = """[...document.querySelectorAll('.panel section')]
    .map(part => [...part.querySelectorAll('.single, td')].map(each => each.textContent))"""
"""The numbers of each part of the panel."""

FOLLOWED = """(to => location.hash === to ? null : new Promise(done => {
    addEventListener('hashchange', done, {once: true})
    location.hash = to
}))('#%d')"""
"""Until the page has gone where a link of the text leads."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    with chromium.browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="no Chromium; GRAPHSCOPE_CHROMIUM can name one")
@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_page_shows_each_number_of_the_text(lesson: Lesson, page: chromium.Page, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    with lesson.recorded() as log:
        gs.export(log, file)
        found = [mark for mark in marks(lesson.text, log.graph) if mark.row is not None]
    page.events.clear()
    page.open(file, features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    for mark in found:
        assert row_behind(page, mark.row) == mark.row
        if NUMBERS.fullmatch(mark.words) and not mark.what.endswith("shape"):
            assert re.findall(r"NaN|−?[\d.,]*\d", mark.words) in page.value(SHOWN)
    page.key(",")
    assert row_behind(page, found[-1].row) == found[-1].row, "the same link leads back there"
    assert row_behind(page, 999) == found[-1].row, "of a row that is not there nothing comes"
    page.key("Home")
    for place in range(1, 4):
        page.key(".")
        assert page.value("graphscope.state().now") == place
    assert page.told("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled") == []
    assert [each["request"]["url"] for each in page.told("Network.requestWillBeSent")] == [file.as_uri()]


def row_behind(page: chromium.Page, row: int | None) -> int:
    """The row that a page tells of, once a link has been followed."""
    page.value(FOLLOWED % row)
    return int(page.value("document.querySelector('.panel h2 + p').textContent").split()[0].removeprefix("#"))
