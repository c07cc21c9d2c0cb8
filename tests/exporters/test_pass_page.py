"""The page of a compiler's passes in a browser: gone through with the mouse and with keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope import jit
from graphscope.exporters.passes import export_passes
from tests.exporters import chromium

SHOWN = "document.querySelector('section:not([hidden]) h2').textContent"
SEEN = """[...document.querySelectorAll('section:not([hidden]) .%s')]
    .filter(each => getComputedStyle(each).visibility === 'visible').length"""


def read(x: gs.Tensor) -> gs.Tensor:
    unused = x + 3
    total = (x * 1.0).exp() + x.exp()
    return total.sum() if unused is not None else x


def other(x: gs.Tensor) -> gs.Tensor:
    return x.sin()


@pytest.mark.slow
@pytest.mark.skipif(chromium.program() is None, reason="no Chromium; GRAPHSCOPE_CHROMIUM can name one")
def test_a_person_goes_through_the_passes(tmp_path: Path) -> None:
    with gs.record(passes=True) as log:
        for function in (read, other):
            jit.trace(function, gs.randn(3))(gs.randn(3))
    written, *_ = export_passes(log, tmp_path / "out")
    with chromium.browser(tmp_path / "profile") as page:
        page.open(written)

        def clicked(selector: str) -> Any:
            page.click(selector)
            return page.value(SHOWN)

        def pressed(key: str) -> Any:
            page.key(key)
            return page.value(SHOWN)

        assert page.value(SHOWN) == "0. before"
        assert page.value("document.getElementById('previous').disabled")
        assert clicked("#next") == "1. prune"
        assert page.value("document.querySelector('section:not([hidden])').innerText").count("1 removed") == 1
        assert page.value(SEEN % "node.pass-removed") == 1
        assert clicked("button[data-view=after]") == "1. prune"
        assert page.value(SEEN % "node.pass-removed") == 0
        assert page.value(SEEN % "node.pass-kept") > 0
        assert pressed("b") == "1. prune"
        assert page.value(SEEN % "node.pass-removed") == 1
        assert clicked("#last") == "12. prune"
        assert page.value("document.getElementById('next').disabled")
        assert page.value("document.querySelector('section:not([hidden])').innerText").count("nothing to do") == 1
        assert clicked("#first") == "0. before"
        assert pressed("n") == "1. prune"
        assert pressed("n") == "3. simplify"
        assert pressed("ArrowRight") == "4. merge"
        assert pressed("ArrowLeft") == "3. simplify"
        assert clicked(".strip:not([hidden]) button:nth-child(5)") == "4. merge"
        assert page.value("location.hash") == "#0.4"
        assert pressed("End") == "12. prune"
        assert pressed("Home") == "0. before"
        page.value("document.querySelector('select').value = '1'; document.querySelector('select').onchange()")
        assert clicked("#next") == "1. prune"
        assert page.value("document.querySelector('section:not([hidden])').innerText").count("other: 2 nodes") == 1
        assert page.value("document.querySelectorAll('.picture:not([hidden]) svg').length") == 1
