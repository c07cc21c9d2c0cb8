"""Passes of a compiler as pictures and a page: what a recording says, what is written, and where it can't be."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope import jit
from graphscope.errors import ExportError, LogError
from graphscope.eventlog.generated import GeneratedGraph, graph_of
from graphscope.eventlog.reader import Log
from graphscope.exporters.passes import export_passes
from graphscope.graph.pass_changes import PassChange, changes, recorded
from graphscope.graph.pass_view import MOST, pass_view

SVG = "{http://www.w3.org/2000/svg}"


def weighted(x: gs.Tensor) -> gs.Tensor:
    unused = x + 3
    return ((x * 1.0).exp() + x.exp()).sum() if unused is not None else x


@pytest.fixture(scope="module")
def log() -> Log:
    """A recording of a function that each of several passes finds something in."""
    compiled = jit.compile(weighted, gs.randn(3))
    with gs.record(passes=True) as log:
        compiled(gs.randn(3))
        compiled(gs.randn(3))
    return log


def graph(*nodes: tuple[str, str, tuple[int, ...], tuple[str, ...]]) -> GeneratedGraph:
    """A graph of nodes: name, op, inputs, origins."""
    told = [{"name": n, "op": op, "of": [*of], "origins": [*origins]} for n, op, of, origins in nodes]
    return graph_of({"nodes": told, "outputs": [len(told) - 1]})


def told(before: GeneratedGraph, after: GeneratedGraph) -> dict[str, str]:
    """What became of each node."""
    from graphscope.eventlog.compilations import Stage

    return {key.name: state for key, state in PassChange(1, Stage("pass", "It does.", after), before).states.items()}


def test_what_a_pass_did_is_told_of_each_node() -> None:
    before = graph(
        ("x", "", (), ()), ("dead", "exp", (0,), ()), ("a", "sin", (0,), ()), ("b", "sin", (0,), ()),
        ("c", "mul", (2, 3), ()), ("d", "neg", (4,), ()),
    )  # fmt: skip
    after = graph(("x", "", (), ()), ("a", "sin", (0,), ("a", "b")), ("c", "mul", (1, 1), ()), ("d", "neg", (2,), ()))
    assert told(before, after) == {
        "x": "kept", "dead": "removed", "a": "grown", "b": "joined", "c": "rewired", "d": "kept",
    }  # fmt: skip


def test_of_what_was_made_of_several_only_what_does_their_work_is_fused() -> None:
    before = graph(("x", "", (), ()), ("a", "sin", (0,), ()), ("b", "sin", (0,), ()), ("c", "add", (1, 2), ()))
    after = graph(
        ("x", "", (), ()), ("stack", "stack", (0, 0), ("a", "b")), ("both", "sin", (1,), ("a", "b")),
        ("c", "add", (2, 2), ()),
    )  # fmt: skip
    assert told(before, after) == {
        "x": "kept", "a": "joined", "b": "joined", "c": "rewired", "stack": "added", "both": "fused",
    }  # fmt: skip


def test_a_recording_has_the_graph_after_each_pass(log: Log) -> None:
    (compilation,) = recorded(log)
    graph = jit.trace(weighted, gs.randn(3)).graph
    made = jit.optimise(graph)
    assert compilation.function == "weighted"
    assert [stage.name for stage in compilation.stages] == ["before", *(name for name, _ in made)]
    for stage, (_, after) in zip(compilation.stages[1:], made, strict=True):
        assert [node.name for node in stage.graph.nodes] == [node.name for node in after.nodes]
        assert [stage.graph.nodes[place].name for place in stage.graph.outputs] == [v.name for v in after.outputs]
    lines = {node.name: log.site(node.site) for node in compilation.stages[0].graph.nodes}
    place = lines["exp"]
    assert place is not None
    assert Path(place.file) == Path(__file__)


def test_the_pictures_show_what_changed(log: Log) -> None:
    (compilation,) = recorded(log)
    simplified = next(each for each in changes(compilation) if each.stage.name == "simplify")
    merged = next(each for each in changes(compilation) if each.stage.name == "merge")
    pruned = changes(compilation)[1]
    assert [node.op for node in pass_view(pruned, log).nodes if node.changed == "removed"] == ["add"]
    assert "mul" in [node.op for node in pass_view(simplified, log).nodes if node.changed == "removed"]
    assert [(node.op, node.apart) for node in pass_view(merged, log).nodes if node.changed == "grown"] == [
        ("exp", "of 1")
    ]


@pytest.mark.slow
def test_of_a_huge_graph_what_changed_is_drawn() -> None:
    many = [("x", "", (), ()), *((f"n{k}", "sin", (k,), ()) for k in range(3000)), ("end", "neg", (3000,), ())]
    less = [*many[:2001], *((f"n{k}", "sin", (k,), ()) for k in range(2000, 2999)), ("end", "neg", (2999,), ())]
    from graphscope.eventlog.compilations import Compilation, Stage

    stages = Stage("before", "As written.", graph(*many)), Stage("pass", "It does.", graph(*less))  # type: ignore[arg-type]
    with gs.record() as empty:
        pass
    last = changes(Compilation("f", "graphscope", stages))[1]
    view = pass_view(last, empty, "f")
    assert {node.name for node in view.nodes} >= {"n2999", "end"}
    assert len(view.nodes) <= MOST
    assert any("left out" in line for line in view.heading)


@pytest.mark.slow
def test_a_folder_has_a_picture_of_each_pass_and_a_page(log: Log, tmp_path: Path) -> None:
    page, *pictures = export_passes(log, tmp_path / "deep/out")
    assert page == tmp_path / "deep/out/index.html"
    assert sorted(each.name for each in page.parent.iterdir()) == sorted(["index.html", *(p.name for p in pictures)])
    assert pictures[1].name == "weighted-01-prune.svg"
    words = "".join(each.text or "" for each in ElementTree.parse(pictures[1]).iter(f"{SVG}text"))
    assert "Leave out nodes that no output needs" in words
    assert "1 removed" in words
    text = page.read_text()
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert text.count("<section") == len(pictures)


def test_names_of_a_program_are_text_in_a_page(tmp_path: Path) -> None:
    def evil(x: gs.Tensor) -> gs.Tensor:
        return x.exp()

    evil.__name__ = "</title><script>alert(1)</script>"
    with gs.record(passes=True) as log:
        jit.trace(evil, gs.randn(2))(gs.randn(2))
    page, *_ = export_passes(log, tmp_path / "out")
    assert "<script>alert" not in page.read_text()
    assert page.read_text().count("<script") == 1


def test_where_it_can_not_be_written_it_says_why(log: Log, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/notes.txt").touch()
    (tmp_path / "file").touch()
    with pytest.raises(ExportError, match=r"full holds files already \(notes.txt\)"):
        export_passes(log, tmp_path / "full")
    with pytest.raises(ExportError, match="is a file, and the passes need a folder"):
        export_passes(log, tmp_path / "file")
    with pytest.raises(ExportError, match="can't be made"):
        export_passes(log, tmp_path / "file/inside")
    with pytest.raises(ExportError, match="there is no exporter 'gif'"):
        export_passes(log, tmp_path / "out", "gif")
    assert not (tmp_path / "out").exists()


def test_a_log_that_does_not_tell_of_passes_says_how_to_record_it(tmp_path: Path) -> None:
    with gs.record() as plain:
        jit.trace(weighted, gs.randn(3))(gs.randn(3))
    with pytest.raises(LogError, match="does not tell what passes") as found:
        export_passes(plain, tmp_path / "out")
    assert "graphscope record --passes" in str(found.value)
    with gs.record(passes=True) as empty:
        gs.randn(3).exp()
    with pytest.raises(LogError, match="no graph was compiled"):
        export_passes(empty, tmp_path / "out")
    assert not (tmp_path / "out").exists()
