"""Memory over a run as areas: as high as the bytes that the program held."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope.errors import ExportError, LogError
from graphscope.eventlog.reader import load
from graphscope.exporters import export
from graphscope.graph.memory import recorded
from graphscope.graph.memory_bands import bands

SVG = "{http://www.w3.org/2000/svg}"


def areas(picture: str) -> dict[str, list[tuple[float, float]]]:
    """The corners of each."""
    found = {}
    for each in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        shape = each.find(f"{SVG}polygon")
        if shape is not None:
            corners = [tuple(map(float, point.split(","))) for point in shape.attrib["points"].split()]
            found[each[0].text or ""] = [(across, down) for across, down in corners]
    return found


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two steps of a PyTorch program, recorded with memory."""
    torch = pytest.importorskip("torch")
    where = tmp_path_factory.mktemp("memory") / "run.gscope"
    with gs.record(where, memory=True):
        weight = torch.zeros(64, 64, requires_grad=True)
        for _ in range(2):
            x = torch.ones(256, 64)
            loss = (x @ weight).relu().sum()
            loss.backward()
            weight.grad = None
    return where


@pytest.mark.torch
def test_areas_lie_on_one_another_up_to_the_peak(training: Path) -> None:
    memory = recorded(load(training))
    assert memory.peak is not None
    for by in ("line", "module", "op", "kind"):
        told = bands(load(training), memory, by, 3)
        assert (sum(each.alive for each in told) == memory.alive.sum(axis=1)).all()
        assert len(told) <= 4 or by == "kind"
        shown = areas(str(export(training, format="svg", view="memory", by=by)))
        tops = [min(down for _, down in corners) for corners in shown.values()]
        lowest = max(down for corners in shown.values() for _, down in corners)
        assert lowest - min(tops) == pytest.approx(330, abs=0.2)


@pytest.mark.torch
def test_a_line_is_as_high_as_what_it_holds(training: Path) -> None:
    picture = str(export(training, format="svg", view="memory"))
    line = next(name for name in areas(picture) if "test_memory.py" in name)
    lines = dict.fromkeys(name for name in areas(picture))
    assert all(re.search(r":\d+$|others", name) for name in lines), lines
    assert "x = torch.ones(256, 64)" in picture
    per_line = bands(load(training), recorded(load(training)), "line", 9)
    data = next(
        each for each in per_line if each.alive.max() == 2 * 256 * 64 * 4
    )  # a new x is made ahead of the old's end
    assert data.name.split(":")[0] == line.split(":")[0]


@pytest.mark.torch
def test_a_step_can_be_drawn_alone(training: Path) -> None:
    assert "peak" in str(export(training, format="svg", view="memory", step=1))
    page = str(export(training, format="html", view="memory"))
    assert "<script" not in page


def test_a_log_without_memory_and_another_way_are_refused(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        gs.ones(3).sum()
    with pytest.raises(LogError, match="does not tell of memory"):
        export(log, format="svg", view="memory")
    with pytest.raises(ExportError, match="option by of view memory can't be 'size'"):
        export(log, format="svg", view="memory", by="size")
    with pytest.raises(ExportError, match="view memory takes no select"):
        export(log, format="svg", view="memory", select="op:sum")


def test_a_run_that_held_nothing_is_an_empty_chart(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", memory=True) as log:
        pass
    assert "no memory was held" in str(export(log, format="svg", view="memory"))
