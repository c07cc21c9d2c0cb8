"""Passes of a compiler side by side: those that changed something, by colour and mark."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope import jit
from graphscope.errors import ExportError, LogError
from graphscope.eventlog.reader import Log
from graphscope.exporters import export
from graphscope.graph.pass_changes import changes, recorded

SVG = "{http://www.w3.org/2000/svg}"


def twice(x: gs.Tensor) -> gs.Tensor:
    return (x * 1.0).exp() + x.exp()


@pytest.fixture(scope="module")
def log() -> Log:
    """A recording of a function that two passes find something in."""
    compiled = jit.compile(twice, gs.randn(3))
    with gs.record(passes=True) as log:
        compiled(gs.randn(3))
    return log


def test_each_pass_that_changed_something_is_drawn_once(log: Log) -> None:
    picture = str(export(log, format="svg", view="passes"))
    tree = ElementTree.fromstring(picture)
    drawn = len(tree.findall(f"{SVG}svg"))
    found = changes(recorded(log)[0])
    assert drawn == 1 + sum(change.is_change for change in found[1:]) > 1
    text = [each.text or "" for each in tree.iter(f"{SVG}text")]
    for change in found[1:]:
        assert any(f"{change.number}. {change.stage.name}" in line for line in text), change.stage.name
    assert "Found nothing to do:" in picture


def test_what_looks_mean_is_told_of_those_that_are_drawn(log: Log) -> None:
    picture = str(export(log, format="svg", view="passes"))
    states = {state for change in changes(recorded(log)[0]) for state in change.counts}
    assert ("fused of several" in picture) == ("fused" in states)
    assert "removed" in picture
    assert "stroke-dasharray" in picture


def test_parts_lie_in_the_picture(log: Log) -> None:
    tree = ElementTree.fromstring(str(export(log, format="svg", view="passes")))
    wide, high = float(tree.attrib["width"]), float(tree.attrib["height"])
    for part in tree.findall(f"{SVG}svg"):
        x, y, width, height = (float(part.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= wide
        assert 0 <= y <= y + height <= high


def test_the_page_goes_through_all(log: Log) -> None:
    assert "Compiler passes of" in str(export(log, format="html", view="passes"))


def test_what_is_not_there_is_refused(log: Log, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="there is no compiled graph 2: the log tells of 1"):
        export(log, format="svg", view="passes", compiled=2)
    with gs.record(tmp_path / "run.gscope") as plain:
        gs.ones(3).sum()
    with pytest.raises(LogError, match="does not tell what passes"):
        export(plain, format="svg", view="passes")
