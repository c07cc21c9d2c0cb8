"""The site: built strictly, whole, and read from disk in a browser, with its search and its pages that play."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.exporters import chromium

from .pages import ROOT

TOLD = """new Promise(done => {
    const look = () => {
        const panel = document.querySelector('.panel').innerText
        if (panel.includes('#%d')) done(panel); else setTimeout(look, 20)
    }
    look()
})"""
"""The panel of a page that plays, once it tells of a row."""

FOUND = """new Promise(done => {
    const look = () => {
        const found = [...document.querySelectorAll('#search-results li')].map(each => each.textContent)
        if (found.length > 3) done(found.join(' ')); else setTimeout(look, 20)
    }
    look()
})"""
"""What the search lists, once it has found something."""


@pytest.mark.slow
def test_the_site_is_whole_and_is_read_from_disk(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    site = tmp_path / "site"
    words = ["--quiet", "--fail-on-warning", "--keep-going", "-d", tmp_path / "doctrees", ROOT / "docs", site]
    built = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, ""), "`make site` says this, too"
    assert links_that_lead_nowhere(site) == []
    if chromium.program() is None:
        pytest.skip("no Chromium; GRAPHSCOPE_CHROMIUM can name one")
    with chromium.browser(tmp_path / "profile") as page:
        page.open(site / "learn" / "a-chain.html")
        number = 'a.seen[href$="#6"]'
        page.value(f"document.querySelector({number!r}).scrollIntoView({{behavior: 'instant'}})")
        page.click(number)
        assert in_frame(page, TOLD % 6).startswith("SubBackward")
        page.key(".")  # the frame has the keys now
        assert in_frame(page, TOLD % 7).startswith("MulBackward")
        page.ask("Page.navigate", url=(site / "search.html").as_uri() + "?q=broadcasting")
        assert "Broadcasting undone" in page.value(FOUND)
        assert page.told("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled") == []
        asked = {each["request"]["url"] for each in page.told("Network.requestWillBeSent")}
        assert {urlsplit(each).scheme for each in asked} <= {"file", "data"}


def in_frame(page: chromium.Page, expression: str) -> Any:
    """What an expression is in the page that plays."""
    context = page.told("Runtime.executionContextCreated")[-1]["context"]["id"]
    found = page.ask("Runtime.evaluate", expression=expression, awaitPromise=True, contextId=context)
    return found["result"].get("value")


class Links(HTMLParser):
    """Where a page leads to, and what of it can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.found |= {value for name in ("href", "src") if (value := known.get(name))}
        self.anchors |= {value for name in ("id", "name") if (value := known.get(name))}


def links_that_lead_nowhere(site: Path) -> list[tuple[str, str]]:
    """Pages, and links within the site, of HTML too, that have no file or no anchor."""
    pages = {page: Links(page.read_text(encoding="utf-8")) for page in site.rglob("*.html") if "play" not in page.parts}
    assert len(pages) > 50
    missing = []
    for page, link in ((page, link) for page, links in pages.items() for link in links.found):
        parts = urlsplit(link)
        to = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        has_anchor = to not in pages or not parts.fragment or unquote(parts.fragment) in pages[to].anchors
        if not parts.scheme and not (to.exists() and has_anchor):
            missing.append((page.name, link))
    return missing
