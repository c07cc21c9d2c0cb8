"""What `show` gives a notebook that has no widgets, or nobody at it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope.errors import ExportError, GraphscopeError
from graphscope.eventlog.reader import Log
from graphscope.exporters.page import document
from graphscope.notebook import Picture, Still, repr_svg

EVIL = "'></iframe><script>alert(1)</script>\"&<"


class Tags(HTMLParser):
    """Collects the tags of what a notebook is given."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture
def log() -> Log:
    with gs.record() as told:
        x = gs.tensor([1.0, 0.0], requires_grad=True)
        (x.log() * 2).sum().backward()
    return told


@pytest.fixture
def shown(log: Log, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What is shown of the log where nobody has widgets."""
    monkeypatch.setattr("graphscope.notebook.surroundings.has_widgets", lambda: False)
    return lambda **options: gs.show(log, **options)


def test_a_page_stands_in_a_frame_that_is_shut_off(log: Log, shown: Callable[..., Any]) -> None:
    still = shown(title=EVIL, height=400)
    assert isinstance(still, Still)
    assert still.selected == ()
    assert still.thing is log
    forms = still._repr_mimebundle_()
    tags = Tags(forms["text/html"]).found
    assert [tag for tag, _ in tags] == ["div", "img", "iframe"]
    frame = tags[-1][1]
    assert frame["sandbox"] == "allow-scripts"
    assert "height:400px" in str(tags[0][1]["style"])
    page = str(frame["srcdoc"])
    data = json.loads(re.findall(r'<script type="application/json" id="recording">(.*?)</script>', page, re.DOTALL)[0])
    assert page == document(data)
    assert data["title"] == EVIL
    assert sorted(data["nodes"]["row"]) == [node.row for node in log.graph.nodes]
    assert ElementTree.fromstring(forms["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "Log" in forms["text/plain"]


def test_a_page_that_is_too_large_for_a_notebook_is_a_picture_there(shown: Callable[..., Any]) -> None:
    assert set(shown(title="x" * 2_100_000).forms) == {"image/svg+xml"}


def test_a_picture_stands_still(shown: Callable[..., Any]) -> None:
    picture = shown(format="svg", overlay=True)
    assert isinstance(picture, Picture)
    assert "SVG" in repr(picture)
    assert ElementTree.fromstring(picture._repr_svg_()).tag.endswith("svg")


def test_a_tensor_without_a_graph_is_printed_instead() -> None:
    assert repr_svg(gs.tensor(1.0)) is None
    assert str(repr_svg(gs.tensor(1.0, requires_grad=True) * 2)).startswith("<svg")


@pytest.mark.parametrize(
    ("thing", "options", "words"),
    [
        (3, {}, "int can't be drawn"),
        (gs.tensor(1.0), {}, "does not require grad"),
        ("nowhere.gscope", {}, "nowhere.gscope"),
        (None, {"colour": 1}, "show has no option 'colour'"),
        (None, {"selct": "op:mul"}, "did you mean select"),
        (None, {"format": "png"}, "can't show 'png'"),
        (None, {"height": 20}, "can't be 20 pixels high"),
        (None, {"height": "tall"}, "can't be 'tall' pixels high"),
        (None, {"values": "all"}, "values can't be 'all'"),
        (None, {"select": "op:conv2d"}, "conv2d"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(
    log: Log, thing: Any, options: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphscope.notebook.surroundings.has_widgets", lambda: False)
    with pytest.raises(GraphscopeError, match=re.escape(words)):
        gs.show(log if thing is None else thing, **options)


def test_a_recording_of_nothing_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphscope.notebook.surroundings.has_widgets", lambda: False)
    with gs.record() as log:
        pass
    with pytest.raises(ExportError, match="nothing to draw"):
        gs.show(log)


def test_a_log_without_values_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphscope.notebook.surroundings.has_widgets", lambda: False)
    with gs.record(values="none") as log:
        (gs.tensor([1.0], requires_grad=True) * 2).sum().backward()
    assert "text/html" in gs.show(log).forms


def test_another_view_is_a_picture(shown: Callable[..., Any]) -> None:
    picture = shown(view="tensors")
    assert isinstance(picture, Picture)
    assert "MulBackward" in picture.svg


def test_of_a_log_that_is_cut_it_is_said_what_is_missing(
    log: Log, shown: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = shutil.copytree(log.path, tmp_path / "cut.gscope")
    os.truncate(place / "tables" / "attrs-000.npy", 200)
    sentence = "its tables/attrs-000.npy is cut: the log was cut, or copied in part"
    assert sentence not in shown()._repr_html_()
    assert f"<p>{sentence}</p>" in gs.show(place)._repr_html_()
    assert sentence not in capsys.readouterr().err
    gs.show(place, format="svg")
    assert f"cut.gscope: {sentence}" in capsys.readouterr().err
