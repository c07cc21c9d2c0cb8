"""DOT syntax, checked by letting Graphviz read it back."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphscope.exporters.dot_syntax import block, defaults, edge, html, html_label, node, printable, quoted, shortened
from graphscope.exporters.graphviz_program import drawn

HOSTILE = [
    'a "quoted" name',
    "back\\slash \\N \\G \\n \\",
    "<b>&amp; &lt;",
    "'; digraph { evil } //",
    "]> -> x [label=<",
    "line\nfeed\r\ttab",
    "bell\x07 escape\x1b[31m nul\x00 del\x7f c1\x9b",
    "right \u202eto left\u202c and \u200f",
    "עברית",
    "lone \ud800 surrogate",
    "日本語 🎉",
    "",
]


def read_back(*statements: str) -> list[dict[str, object]]:
    """The nodes that Graphviz reads in a graph of these statements."""
    source = "\n".join(block("digraph", statements))
    found: list[dict[str, object]] = json.loads(drawn(source, "dot_json"))["objects"]
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_one_node_and_nothing_else(text: str) -> None:
    (found,) = read_back(node(f"x{text}", {"shape": "box"}))
    assert found["shape"] == "box"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_label_says_the_text_and_stays_a_label(text: str) -> None:
    (found,) = read_back(node("x", {"label": html_label(f"<B>{html(text)} </B>"), "shape": "box", "tooltip": text}))
    assert (found["name"], found["shape"]) == ("x", "box")
    svg = drawn("\n".join(block("digraph", [node("x", {"label": html_label(f"<B>{html(text)} </B>")})])), "svg")
    words = "".join(each.text or "" for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    assert words.split() == printable(text).split()


@given(st.text(st.characters(codec="utf-8"), min_size=1))
@settings(max_examples=60)
def test_quoted_text_is_one_token(text: str) -> None:
    (found,) = read_back(node("x", {"comment": text}))
    assert found["name"] == "x"
    expected = "\\n".join(printable(line).replace("\\", "\\\\") for line in text.split("\n")).replace("&", "&amp;")
    assert found.get("comment", "") == expected


def test_what_cannot_be_seen_is_spelled() -> None:
    assert printable("a\x1b[1m\u202eb") == "a\\x1b[1m\\u202eb"
    assert printable("né × ∂") == "né × ∂"


def test_long_text_keeps_its_beginning_and_end() -> None:
    text = shortened("start" + "x" * 10_000 + "end")
    assert len(text) == 48
    assert text.startswith("startxxx")
    assert text.endswith("xxxend")
    assert "…" in text


def test_statements_are_in_the_order_given() -> None:
    assert edge("a", "b", {"color": "red", "dir": "back"}) == '"a" -> "b" [color="red", dir="back"];'
    assert node("a", {}) == '"a";'
    assert defaults("node", {"shape": "box"}) == 'node [shape="box"];'
    assert quoted("a\nb") == '"a\\nb"'
