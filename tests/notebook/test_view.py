"""The widget as a notebook speaks with it: messages of the widgets' protocol, without a browser."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log

pytest.importorskip("anywidget")
pytestmark = pytest.mark.filterwarnings("default")  # what other packages deprecate among themselves

from graphscope.notebook.widget import View  # noqa: E402


def trained(steps: int = 1) -> None:
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(steps):
        (x * 3).sum().backward()
        gs.step()


@pytest.fixture
def log() -> Log:
    with gs.record() as told:
        trained()
    return told


@pytest.fixture
def views() -> Iterator[list[Any]]:
    """Views that are taken away at the end."""
    made: list[Any] = []
    yield made
    for each in made:
        each.close()


def data_of(view: Any) -> Any:
    """What a browser reads."""
    return json.loads(gzip.decompress(view.get_state("recording")["recording"]))


def say(view: Any, **state: Any) -> None:
    """What a page says when something was chosen in it."""
    message = {"method": "update", "state": state, "buffer_paths": []}
    view._handle_msg({"content": {"data": message}, "buffers": []})


def test_what_is_chosen_in_a_page_comes_back_as_nodes(log: Log, views: list[Any]) -> None:
    view = gs.show(log)
    views.append(view)
    assert isinstance(view, View)
    assert view.selected == ()
    columns = data_of(view)["nodes"]
    assert sorted(columns["row"]) == [node.row for node in log.graph.nodes]
    [mul] = log.graph.select("op:mul forward")
    say(view, rows=[mul.row])
    [node] = view.selected
    assert (node.row, node.op) == (mul.row, "mul")
    assert node.value.tolist() == [3.0, 6.0]
    say(view, rows=[])
    assert view.selected == ()


def test_of_a_tensor_the_boxes_of_its_graph_come_back(views: list[Any]) -> None:
    view = gs.show((gs.tensor([1.0], requires_grad=True) * 2).sum())
    views.append(view)
    say(view, rows=[1])
    assert [each.label for each in view.selected] == ["mul"]


def test_a_recording_that_goes_on_is_followed(views: list[Any]) -> None:
    with gs.record() as log:
        view = gs.show(log)
        views.append(view)
        assert view.told == "Nothing has been recorded yet."
        trained(1)
        view.update()
        assert view.told == ""
        first = len(data_of(view)["nodes"]["row"])
        trained(2)
    view.update()
    data = data_of(view)
    assert len(data["nodes"]["row"]) > first > 0
    assert sum(each["is_step"] for each in data["sections"]) == 3


def test_who_follows_finds_the_end_by_itself(views: list[Any]) -> None:
    with gs.record() as log:
        view = gs.show(log)
        views.append(view)
        trained()
    view._following._thread.join(60)
    assert len(data_of(view)["nodes"]["row"]) == len(log.graph.nodes)


def test_of_a_log_that_is_cut_it_is_said_what_is_missing(log: Log, views: list[Any], tmp_path: Path) -> None:
    packed = shutil.copytree(log.path, tmp_path / "cut.gscope")
    views.append(whole := gs.show(packed))
    assert whole.told == ""
    os.truncate(packed / "tables" / "attrs-000.npy", 200)
    views.append(view := gs.show(packed))
    assert view.told == "its tables/attrs-000.npy is cut: the log was cut, or copied in part"
    assert data_of(view)["nodes"]["row"]
    about = packed / "log.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "stopped": "the disk is full"}))
    views.append(both := gs.show(packed))
    assert both.told == f"{view.told}; the recording ended before the program did: the disk is full"
    view.update()
    assert "is cut" in view.told


def test_a_recording_of_nothing_says_so(views: list[Any]) -> None:
    with gs.record() as log:
        view = gs.show(log)
        views.append(view)
    view.update()
    assert "nothing to draw" in view.told or "Nothing has been recorded" in view.told
    assert view.recording == b""


def test_a_notebook_keeps_the_page_beside_the_widget(log: Log, views: list[Any]) -> None:
    view = gs.show(log)
    views.append(view)
    data, _ = view._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "image/svg+xml"} <= data.keys()
    assert "<iframe" in data["text/html"]
