"""Text lies in its box, whichever font draws it."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope.exporters.export import export
from graphscope.exporters.graphviz_program import drawn
from graphscope.exporters.text_widths import width
from graphscope.graph.passes import fold_scopes
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

from . import chromium

SVG = "{http://www.w3.org/2000/svg}"
FONTS = ("Helvetica", "DejaVu Sans", "monospace", "serif")


@pytest.fixture
def labelled() -> GraphView:
    """Boxes of every shape, with narrow and wide letters, and some that no font of metrics has."""
    names = ("MultiHeadAttentionForwardBackward", "illegible_ill", "W_WWWWWW@%", "größe", "∂x … ► ×", "注意力の重み")
    kinds: tuple[Any, ...] = ("op", "grad", "leaf", "scope", "leaf", "op")
    nodes = [
        ViewNode(
            f"n{row}",
            (row,),
            kind,
            name,
            op=name,
            name=name,
            arguments=f"({name}, ·)",
            shape=(2, 3),
            parameter=row == 4,
            cluster="c",
            loss=row == 0,
            nonfinite=row == 5,
            count=row + 1,
        )
        for row, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    view = GraphView(tuple(nodes), (), (Cluster("c", "scope", "encoder: WideEncoderLayer", path="encoder"),))
    rule = ViewNode("n9", (9,), "grad", "MulBackward", graph_pass="backward", forward="n8", cluster="c2")
    module = ViewNode("n8", (8,), "op", "mul", cluster="c2")
    frame = Cluster("c2", "scope", "illegible_layer: MultiHeadAttention", "c", 1, "encoder.layer")
    edges = (ViewEdge("n0", "n8", "data", shape=(128, 4096)),)
    halves = GraphView((*view.nodes, module, rule), edges, (*view.clusters, frame))
    return fold_scopes(halves, 2)


def spans(node: ElementTree.Element) -> tuple[list[float], list[tuple[float, float]]]:
    """How far a box reaches across, and each of its texts."""
    across: list[float] = []
    for shape in node.iter():
        if shape.tag == f"{SVG}ellipse":
            across += [float(shape.attrib["cx"]) + sign * float(shape.attrib["rx"]) for sign in (-1, 1)]
        points = shape.attrib.get("points") or shape.attrib.get("d", "")
        for pair in points.replace("M", " ").replace("C", " ").replace("L", " ").replace("Z", " ").split():
            across.append(float(pair.partition(",")[0]))
    texts = []
    for text in node.iter(f"{SVG}text"):
        if "textLength" in text.attrib:
            x, wide = float(text.attrib["x"]), float(text.attrib["textLength"])
            begin = x - wide / 2 if text.attrib["text-anchor"] == "middle" else x
            texts.append((begin, begin + wide))
    return across, texts


def test_every_text_lies_in_its_box(labelled: GraphView) -> None:
    tree = ElementTree.fromstring(str(export(labelled, format="svg")))
    boxes = [each for each in tree.iter(f"{SVG}g") if each.attrib.get("class") in ("node", "cluster")]
    assert len(boxes) == len(labelled.nodes) + 1
    for box in boxes:
        across, texts = spans(box)
        assert texts
        for begin, end in texts:
            assert min(across) <= begin
            assert end <= max(across)


def test_no_text_is_without_a_width(recorded) -> None:
    def program() -> Any:
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()

    tree = ElementTree.fromstring(str(export(recorded(program), format="svg", overlay=True)))
    texts = [text for text in tree.iter(f"{SVG}text") if (text.text or "").strip()]
    assert len(texts) > 10
    assert all(float(text.attrib["textLength"]) > 0 for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("is_bold", [False, True])
def test_widths_are_those_that_layout_takes(is_bold: bool) -> None:
    """Where a line has two parts, the second begins where layout saw the first end."""
    for letter in map(chr, range(33, 127)):
        words = escape(f"x{letter}x")
        first = f"<B>{words}</B>" if is_bold else f"<I>{words}</I>"
        label = f'<<FONT POINT-SIZE="100">{first}</FONT><FONT POINT-SIZE="50">end</FONT>>'
        picture = drawn(f'digraph {{ node [fontname="Helvetica"]; a [label={label}] }}', "svg").decode()
        begin, end = (float(x) for x in re.findall(r'<text [^>]* x="([^"]*)"', picture))
        assert end - begin == pytest.approx(width(f"x{letter}x", 100, is_bold=is_bold), abs=0.2), letter


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="no Chromium")
def test_a_browser_keeps_text_in_its_box_with_any_font(labelled: GraphView, tmp_path: Path) -> None:
    page = tmp_path / "picture.html"
    page.write_text(
        f"<!DOCTYPE html><meta charset=utf-8>{export(labelled, format='svg')}".replace("<?xml", "<!--", 1).replace(
            "?>", "-->", 1
        ),
        encoding="utf-8",
    )
    outside = """(font => {
        const found = [];
        for (const node of document.querySelectorAll('g.node')) {
            const shapes = [...node.querySelectorAll('ellipse, polygon, path')].map(each => each.getBBox());
            const left = Math.min(...shapes.map(each => each.x));
            const right = Math.max(...shapes.map(each => each.x + each.width));
            for (const text of node.querySelectorAll('text')) {
                text.setAttribute('font-family', font);
                const box = text.getBBox();
                if (text.textContent.trim() && (box.x < left - 0.5 || box.x + box.width > right + 0.5))
                    found.push([text.textContent, box.x - left, right - box.x - box.width]);
            }
        }
        return found;
    })"""
    with chromium.browser(tmp_path / "profile") as browser:
        browser.open(page)
        for font in FONTS:
            assert browser.value(f"{outside}({font!r})") == [], font
