"""Views in a page: opened in a browser, in the dark, with names that would like to be scripts."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import graphscope as gs
from graphscope import nn
from graphscope.eventlog.reader import Log
from graphscope.exporters import export
from tests.exporters import chromium

EVIL = "</title></svg><script>document['title']='gone'</script>"
DRAWN = ("tensors", "neurons", "chain")


@pytest.fixture(scope="module")
def log() -> Log:
    """A network with a layer of such a name."""
    net = nn.Module()
    net.add_module(EVIL, nn.Linear(3, 2))
    with gs.record() as told:
        net._modules[EVIL](gs.ones(4, 3)).tanh().sum().backward()
    return told


@pytest.mark.parametrize("view", DRAWN)
def test_names_are_text(log: Log, view: str) -> None:
    picture = str(export(log, format="svg", view=view))
    assert not any(each.tag.endswith("script") for each in ElementTree.fromstring(picture).iter())
    assert "<script" not in str(export(log, format="html", view=view))


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="no Chromium; GRAPHSCOPE_CHROMIUM can name one")
def test_pages_open_quietly_and_are_dark_in_the_dark(log: Log, tmp_path: Path) -> None:
    with chromium.browser(tmp_path / "browser") as page:
        for view in DRAWN:
            path = tmp_path / f"{view}.html"
            export(log, path, view=view)
            page.open(path, [{"name": "prefers-color-scheme", "value": "dark"}])
            assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
            assert page.value("document.title") != "gone"
            grounds = "[...document.querySelectorAll('svg [fill=\"white\"]')].map(each => getComputedStyle(each).fill)"
            assert set(page.value(grounds)) == {"rgb(20, 24, 31)"}
            assert page.value("document.querySelector('svg').getBoundingClientRect().width <= innerWidth")
        assert page.told("Log.entryAdded", "Runtime.exceptionThrown") == []
        assert {each["request"]["url"][:5] for each in page.told("Network.requestWillBeSent")} == {"file:"}
