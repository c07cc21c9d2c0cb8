"""export(): what is drawn, where it is written, and what is said when it can't be."""

from __future__ import annotations

import importlib
import json
import os
import re
import stat
import struct
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.errors import ExportError, LogError, SelectorError
from graphscope.exporters import EXPORTERS
from graphscope.exporters.export import export

from .conftest import parse, unrolled


def layout_writes(name: str) -> bool:
    """Whether this machine can make a file of this format."""
    from graphscope.exporters.graphviz_program import program

    return name != "pdf" or program().system


@pytest.mark.parametrize("name", sorted(EXPORTERS))
def test_every_exporter_writes_its_file(name: str, recorded, tmp_path: Path) -> None:
    if not layout_writes(name):
        pytest.skip("no system Graphviz")
    log = recorded(lambda: unrolled(2))
    path = tmp_path / f"graph{EXPORTERS[name].suffix}"
    content = export(log, path)
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    beginnings = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE", "json": b"{"}
    known = beginnings | dict.fromkeys(("trace", "model-explorer", "model-explorer-data"), b"{")
    assert path.read_bytes().startswith(known.get(name, b"digraph"))
    assert {each.name for each in tmp_path.iterdir()} == {"run.gscope", path.name}


def test_a_pass_a_part_and_a_time(recorded) -> None:
    log = recorded(lambda: unrolled(3))
    everything = log.graph.nodes
    forward = json.loads(export(log, format="json", graph_pass="forward"))
    assert {node["pass"] for node in forward["nodes"]} == {"forward"}
    tanh = json.loads(export(log, format="json", select="op:tanh forward"))
    assert [node["op"] for node in tanh["nodes"]] == ["tanh"] * 3
    assert tanh["edges"] == []
    near = json.loads(export(log, format="json", select="op:sum forward", radius=1))
    assert {node["op"] for node in near["nodes"]} == {"sum", "tanh"}
    early = json.loads(export(log, format="json", at=8))
    assert max(row for node in early["nodes"] for row in node["rows"]) == 8
    assert [node["rows"] for node in early["nodes"] if node["current"]] == [[8]]
    assert len(everything) > len(early["nodes"])


@pytest.mark.slow
def test_a_large_picture_is_scaled_down(recorded) -> None:
    picture = export(recorded(lambda: unrolled(2)), format="png", dpi=1200)
    assert isinstance(picture, bytes)
    width, height = struct.unpack(">II", picture[16:24])
    assert 5_000 < max(width, height) <= 10_001


def test_a_log_is_named_by_its_path(recorded) -> None:
    log = recorded(lambda: unrolled(2))
    assert export(log.path, format="dot") == export(str(log.path), format="dot") == export(log, format="dot")
    with pytest.raises(LogError, match=r"nowhere\.gscope"):
        export("nowhere.gscope", format="dot")


def test_marks(recorded) -> None:
    log = recorded(lambda: unrolled(2))
    marked = json.loads(export(log, format="json", breakpoints=["op:tanh forward", 5], current=7))
    breakpoints = {node["rows"][0] for node in marked["nodes"] if node["breakpoint"]}
    assert breakpoints == {5, *(node.row for node in log.graph.select("op:tanh forward"))}
    assert [node["rows"] for node in marked["nodes"] if node["current"]] == [[7]]


@pytest.mark.slow
def test_the_unrolled_cell_folds_to_one_cell(recorded) -> None:
    log = recorded(lambda: unrolled(100))
    found = parse(export(log, format="dot", fold="repeats", graph_pass="forward"))
    assert any("× 100" in cluster["label"] for cluster in found.clusters.values())
    assert len(found.nodes) < 15
    whole = parse(export(log, format="dot", graph_pass="forward", fold="none"))
    assert len(whole.nodes) > 700


def test_a_shared_leaf_is_drawn_beside_each_user(recorded) -> None:
    log = recorded(lambda: unrolled(5))
    found = parse(export(log, format="dot", graph_pass="forward"))
    weights = [name for name, node in found.nodes.items() if "W_h" in node["label"]]
    assert len(weights) == 5
    users = [to for tail, to in found.pairs() if tail in weights]
    assert len(set(users)) == 5


def test_every_contribution_lies_beside_its_copy_of_the_leaf(recorded) -> None:
    log = recorded(lambda: unrolled(5))
    found = parse(export(log, format="dot", fold="none"))
    links = {(tail, head) for tail, head in found.pairs(style="dotted") if found.nodes[head]["shape"] == "circle"}
    assert len(links) == 10
    assert len({tail for tail, _ in links}) == 10


def test_overlay_shows_values_and_gradients(recorded) -> None:
    def program() -> None:
        a = gs.tensor(15.0, requires_grad=True)
        b = gs.tensor(20.0, requires_grad=True)
        c = a * b
        c.backward()

    found = parse(export(recorded(program), format="dot", overlay=True))
    labels = "".join(node["label"] for node in found.nodes.values())
    for text in ("= 300", "= 15", "= 20", "grad = 20", "grad = 15"):
        assert text in labels


def test_a_value_that_is_not_finite_is_marked(recorded) -> None:
    found = parse(export(recorded(lambda: gs.tensor([1.0, float("inf")]) * 2), format="dot"))
    assert all("NaN or Inf" in node["label"] for node in found.nodes.values())


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("graph.bmp", "'.bmp'", ".svg"),
        ("graph", "does not say its format", ".svg"),
        ("missing/graph.svg", "there is no folder", "make it"),
        (".", "'.'|does not say|is a folder", ""),
    ],
)
def test_a_place_that_can_not_be(product, tmp_path: Path, path: str, message: str, hint: str) -> None:
    with pytest.raises(ExportError, match=message) as error:
        export(product, tmp_path / path)
    assert hint in str(error.value.hint)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_written_to(product, tmp_path: Path) -> None:
    (tmp_path / "graph.svg").mkdir()
    with pytest.raises(ExportError, match="is a folder"):
        export(product, tmp_path / "graph.svg")


def test_a_failure_leaves_the_old_file(product, tmp_path: Path) -> None:
    path = tmp_path / "graph.dot"
    path.write_text("old")
    with pytest.raises(ExportError, match="no option 'rank'") as error:
        export(product, path, rank="TB")
    assert "did you mean rankdir" in str(error.value.hint)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(product, tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(ExportError, match="can't be written"):
        export(product, tmp_path / "graph.dot")


def test_a_full_disk(product) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(ExportError, match="No space left"):
        export(product, "/dev/full", format="dot")


def test_a_link_stays_a_link(product, tmp_path: Path) -> None:
    (tmp_path / "there.dot").write_text("old")
    (tmp_path / "link.dot").symlink_to("there.dot")
    export(product, tmp_path / "link.dot")
    assert (tmp_path / "link.dot").is_symlink()
    assert (tmp_path / "there.dot").read_text().startswith("digraph")


@pytest.mark.parametrize("thing", [42, None, object()])
def test_what_has_no_graph(thing: object) -> None:
    with pytest.raises(ExportError, match="can't be drawn"):
        export(thing, format="dot")


def test_what_is_asked_for_and_not_there(recorded) -> None:
    log = recorded(lambda: unrolled(1))
    with pytest.raises(ExportError, match="nothing to draw"):
        export(log, format="dot", select="op:conv2d")
    with pytest.raises(SelectorError):
        export(log, format="dot", select="op:")
    with pytest.raises(ExportError, match="no fold 'loops'"):
        export(log, format="dot", fold="loops")
    with pytest.raises(ExportError, match="can't be 'UP'"):
        export(log, format="dot", rankdir="UP")
    with pytest.raises(ExportError, match="no exporter 'sgv'") as error:
        export(log, format="sgv")
    assert re.match("did you mean svg", str(error.value.hint))
    with pytest.raises(ExportError, match="needs a centre"):
        export(log, format="dot", radius=2)
    with pytest.raises(ExportError, match="neither a file nor a format"):
        export(log)


def test_a_recording_that_still_runs_is_drawn(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        a = gs.tensor(2.0, requires_grad=True)
        b = a * a
        before = json.loads(export(log, format="json"))
        b.backward()
        after = json.loads(export(log, format="json"))
    assert [node["kind"] for node in before["nodes"]] == ["leaf", "op"]
    assert "grad" in [node["kind"] for node in after["nodes"]]


@pytest.mark.parametrize("name", ["program.py", "notes", "graph.svg.bak"])
def test_a_file_of_another_kind_is_not_written_over(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("precious")
    product = gs.tensor(2.0, requires_grad=True) * 3
    with pytest.raises(ExportError, match="left as it is") as refused:
        export(product, path, format="json")
    assert refused.value.hint is not None
    assert ".json" in refused.value.hint
    assert path.read_text() == "precious"
    path.write_text("")  # as `tempfile` makes them
    assert path.read_text() != export(product, path, format="json") == path.read_text()


@pytest.mark.parametrize(("name", "format"), [("graph.json", "trace"), ("GRAPH.SVG", "svg"), ("new.txt", "dot")])
def test_a_file_is_written_again_whose_ending_fits(name: str, format: str, recorded, tmp_path: Path) -> None:
    log, path = recorded(lambda: unrolled(2)), tmp_path / name
    if path.suffix != ".txt":
        path.write_text("what was there")
    content = export(log, path, format=format)
    assert path.read_text() == content


@pytest.mark.parametrize("asked", [("tables", {"format": "parquet"}), ("tables.parquet", {})])
def test_of_tables_it_is_said_what_writes_them(asked: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    name, options = asked
    with pytest.raises(ExportError, match="no drawing") as refused:
        export(gs.tensor(2.0), tmp_path / name, **options)  # type: ignore[arg-type]
    assert refused.value.hint is not None
    module, _, function = refused.value.hint.partition("(")[0].rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))
