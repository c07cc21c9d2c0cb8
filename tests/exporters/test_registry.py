"""The table of exporters and the description of their options."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

import graphscope.exporters as package
from graphscope.exporters import EXPORTERS, Option, exporter, load_extensions
from graphscope.exporters.dot import Direction
from graphscope.exporters.export import export
from graphscope.graph.view import GraphView, ViewEdge


@pytest.fixture
def table() -> Iterator[None]:
    """The table as it was, afterwards."""
    before = dict(EXPORTERS)
    yield
    EXPORTERS.clear()
    EXPORTERS.update(before)


def test_what_there_is() -> None:
    others = {
        "trace": ".trace.json", "model-explorer": ".explorer.json", "model-explorer-data": ".nodedata.json"
    }  # fmt: skip
    assert {name: entry.suffix for name, entry in EXPORTERS.items()} == {
        **{name: f".{name}" for name in ("dot", "html", "json", "pdf", "png", "svg")},
        **others,
    }


@pytest.mark.parametrize("entry", EXPORTERS.values(), ids=lambda entry: entry.name)
def test_every_exporter_and_option_is_explained(entry) -> None:
    assert entry.doc.endswith(".") or entry.doc.endswith(":")
    for option in entry.options:
        assert option.doc.endswith("."), option.name
        assert option.type in (str, int, bool, float)
        assert isinstance(option.default, option.type)


def test_options_are_the_keyword_only_parameters() -> None:
    rankdir, overlay, dpi = EXPORTERS["png"].options
    assert rankdir == Option("rankdir", str, "TB", rankdir.doc, get_args(Direction))
    assert (overlay.name, overlay.type, overlay.default) == ("overlay", bool, False)
    assert dpi == Option("dpi", int, 144, dpi.doc)
    assert EXPORTERS["json"].options == ()


def test_an_exporter_is_one_function(table: None, product: GraphView, tmp_path: Path) -> None:
    @exporter("count", suffix=".count")
    def count(view: GraphView, *, unit: str = "nodes") -> str:
        """So many nodes.

        Args:
            unit: What to call them,
                at some length.
        """
        return f"{len(view.nodes)} {unit}"

    assert export(product, tmp_path / "a.count", unit="boxes") == "6 boxes"
    assert (tmp_path / "a.count").read_text() == "6 boxes"
    assert EXPORTERS["count"].options == (Option("unit", str, "nodes", "What to call them, at some length."),)


@pytest.mark.parametrize("is_whole", [False, True])
def test_an_exporter_that_folds_by_itself_is_given_every_leaf_once(table: None, product: GraphView, is_whole) -> None:
    @exporter("leaves", suffix=".leaves", is_whole=is_whole)
    def leaves(view: GraphView) -> str:
        """The leaves."""
        return " ".join(node.id for node in view.nodes if node.kind == "leaf")

    square = replace(product, edges=(*product.edges, ViewEdge("n0", "n5", "data", 0, 1)))
    assert export(square, format="leaves") == ("n0 n1" if is_whole else "n0 n0_1 n1")


def test_other_packages_bring_exporters(table: None, product, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "brought_rows.py").write_text(
        "from graphscope.exporters import exporter\n"
        "@exporter('rows', suffix='.rows')\n"
        "def rows(view):\n    return ' '.join(node.id for node in view.nodes)\n"
    )
    info = tmp_path / "brought_rows-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought_rows\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[graphscope.exporters]\nrows = brought_rows\nbroken = no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert export(product, format="rows") == "n0 n1 n2 n4 n5 n6"
    (failure,) = load_extensions()
    assert "broken" in failure
    assert "no_such_module" in failure
    sys.modules.pop("brought_rows")


def test_public_names_are_there() -> None:
    assert all(hasattr(package, name) for name in package.__all__)
