"""HTML pages: complete, well-formed, and without anything of a log that a browser would run."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

from graphscope.exporters.export import export
from graphscope.graph.view import GraphView

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</title><script>alert(1)</script>'\"&"


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def evil(view: GraphView) -> GraphView:
    """The view with a name that would like to be a script."""
    return replace(view, nodes=(replace(view.nodes[0], name=EVIL, label=EVIL, scope=EVIL), *view.nodes[1:]))


def test_a_page_is_complete_and_harmless(product: GraphView) -> None:
    tags = Tags()
    tags.feed(str(export(evil(product), format="html", title=EVIL)))
    scripts = [attributes for tag, attributes in tags.found if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "recording"}, {}]
    assert not any(name in ("src", "href", "onload", "onclick") for _, attributes in tags.found for name in attributes)


def test_an_svg_is_well_formed_and_says_where(product: GraphView) -> None:
    tree = ElementTree.fromstring(str(export(evil(product), format="svg")))
    words = "".join(each.text or "" for each in tree.iter(f"{SVG}text"))
    assert "<script>" in words
    assert list(tree.iter(f"{SVG}script")) == []
