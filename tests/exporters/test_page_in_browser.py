"""The page of a graph in a browser: opened, gone through and searched with the mouse and with keys."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope import nn
from graphscope.exporters.export import export
from tests.exporters import chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.program() is None, reason="no Chromium; GRAPHSCOPE_CHROMIUM can name one"),
]

EVIL = "</script><img src=x onerror=\"document.title='gone'\">"


WAITED = """new Promise(done => {
    const look = () => graphscope.state().now > 12 ? done() : setTimeout(look, 20)
    look()
})"""
"""Until it has played a while."""


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return x + self.down(self.up(x).tanh())


class Seen:
    """The page, and what a person sees of it."""

    def __init__(self, page: chromium.Page) -> None:
        self.page = page

    def state(self, name: str) -> Any:
        return self.page.value(f"graphscope.state().{name}")

    def boxes(self) -> dict[str, bool]:
        """Titles of the boxes that are there, and whether they are open."""
        return {each["title"]: each["isOpen"] for each in self.page.value("graphscope.boxes()")}

    def press(self, title: str, times: int = 1) -> None:
        self.page.key("0")
        key = next(each["key"] for each in self.page.value("graphscope.boxes()") if each["title"] == title)
        place = self.page.value(f"graphscope.place({json.dumps(key)})")
        self.page.press(place["x"] + 24, place["y"] + 12, times)

    def text(self, selector: str) -> str:
        return str(self.page.value(f"document.querySelector({selector!r}).innerText"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gs.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), *[Block() for _ in range(5)])
    optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
    x, y = gs.randn(6, 4), gs.randn(6, 4)
    folder = tmp_path_factory.mktemp("page")
    with gs.record(folder / "run.gscope") as log:
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    export(log, folder / "run.html", title=EVIL)
    return folder / "run.html"


@pytest.fixture
def seen(written: Path, tmp_path: Path) -> Iterator[Seen]:
    with chromium.browser(tmp_path / "profile") as page:
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        page.open(written, features=[still])
        yield Seen(page)
        logged = page.told("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        assert logged == []
        asked = [each["request"]["url"] for each in page.told("Network.requestWillBeSent")]
        assert asked == [written.as_uri()]


def test_a_person_opens_modules_and_asks_what_a_node_is(seen: Seen) -> None:
    assert seen.page.value("document.title") == EVIL
    assert seen.text(".head h1") == EVIL
    boxes = seen.boxes()
    assert boxes["1–5"] is False
    assert "optimizer" in boxes
    seen.press("1–5", times=2)
    assert {"1", "2", "3", "4", "5"} <= seen.boxes().keys()
    seen.press("2")
    assert "Block" in seen.text(".panel")
    seen.page.key("Enter")
    assert {"up", "down", "tanh", "add"} <= seen.boxes().keys()
    seen.press("tanh")
    told = seen.text(".panel")
    for word in ("TanhBackward", "Formula".upper(), "out = tanh x", "6×8", "Line".upper()):
        assert word in told
    assert "self.down(self.up(x).tanh())" in seen.text(".panel .source .here")
    assert seen.page.value(
        "document.querySelectorAll('.panel canvas').length + document.querySelectorAll('.numbers').length"
    )
    seen.page.key("o")
    assert seen.text(".panel h2").startswith("TanhBackward")
    seen.page.key("c")
    assert seen.boxes()["1–5"] is False


def test_a_person_plays_both_passes_and_the_steps(seen: Seen) -> None:
    count = seen.page.value("Number(document.querySelector('.rows').max)")
    assert seen.state("now") == count
    seen.page.key("Home")
    assert seen.state("now") == 0
    for _ in range(3):
        seen.page.key(".")
    seen.page.key(",")
    assert seen.state("now") == 2
    seen.page.click(".tool.main")
    assert seen.state("isPlaying") is True
    seen.page.value(WAITED)
    seen.page.key(" ")
    assert seen.state("isPlaying") is False
    section = seen.state("section")
    loss = seen.text(".facts .loss")
    seen.page.key("[")
    assert seen.state("section") == section - 1
    assert seen.text(".facts .loss") != loss
    seen.page.key("]")
    assert seen.text(".facts .loss") == loss


def test_a_person_searches_and_moves_by_keys(seen: Seen) -> None:
    seen.page.key("/")
    seen.page.ask("Input.insertText", text="tanh")
    assert seen.text(".found") == "1 / 5"
    seen.page.key("Enter")
    assert seen.text(".found") == "2 / 5"
    assert seen.text(".panel h2").startswith("tanh")
    chosen = seen.state("chosen")
    seen.page.key("Escape")
    seen.page.key("ArrowDown")
    assert seen.state("chosen") != chosen
    seen.page.key("p")
    assert seen.state("showsPath") is True
    theme = seen.state("theme")
    seen.page.key("t")
    assert seen.page.value("document.body.dataset.theme") == seen.state("theme") != theme
    assert seen.page.value("document.querySelector('.help').hidden") is True
    seen.page.key("?")
    assert seen.page.value("document.querySelector('.help').hidden") is False
    assert "the next training step" in seen.text(".help")


def test_it_is_printed_on_as_many_sheets_as_it_takes_whatever_its_colours(seen: Seen) -> None:
    def sheets() -> int:
        paper = base64.b64decode(seen.page.ask("Page.printToPDF", printBackground=True)["data"])
        return len(re.findall(rb"/Type\s*/Page\b", paper))

    while seen.state("theme") != "dark":
        seen.page.key("t")
    seen.page.key("c")
    closed = sheets()
    for _ in range(3):
        seen.page.key("e")
    assert sheets() > closed + 1
    seen.page.value(
        "window.colours = []; addEventListener('beforeprint', () => colours.push(document.body.dataset.theme))"
    )
    sheets()
    assert seen.page.value("colours") == ["light"]
    assert seen.page.value("document.body.dataset.theme") == "dark"
    assert seen.page.value("document.querySelectorAll('.sheet').length") == 0


def test_who_has_not_moved_sees_the_top_in_a_window_of_another_width(seen: Seen) -> None:
    def middle_of_first() -> float:
        place = seen.page.value("graphscope.place(graphscope.boxes()[0].key)")
        return float(place["x"] + place["width"] / 2)

    for width in (1300, 500, 900):
        seen.page.ask("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
        seen.page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        canvas = seen.page.value("document.querySelector('.canvas').clientWidth")
        assert 0 < middle_of_first() < canvas


@pytest.mark.parametrize("shape", [(7, 90, 70), (5000,), (40, 1, 3), (9, 9)])
def test_an_element_of_a_large_value_is_told_by_its_index(shape: tuple[int, ...], tmp_path: Path) -> None:
    gs.manual_seed(0)
    with gs.record(tmp_path / "run.gscope") as log:
        made = gs.randn(*shape) * 1.0
    export(log, tmp_path / "run.html")
    numbers = made.numpy()
    with chromium.browser(tmp_path / "profile") as page:
        page.open(tmp_path / "run.html")
        Seen(page).press("mul")
        x, y, width, height = page.value(
            "(box => [box.x, box.y, box.width, box.height])(document.querySelector('.heatmap').getBoundingClientRect())"
        )
        for across, down in ((0.02, 0.02), (0.5, 0.4), (0.98, 0.98)):
            page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x + across * width, y=y + down * height)
            told = re.fullmatch(r"\[([\d, ]+)\] (?:≈ )?(\S+)", Seen(page).text(".told"))
            assert told is not None
            index = tuple(map(int, told[1].split(",")))
            number = float(told[2].replace("−", "-"))
            assert abs(numbers[index] - number) <= np.ptp(numbers) / 240 + 0.005


def test_a_browser_that_draws_nothing_says_so(written: Path, tmp_path: Path) -> None:
    with chromium.browser(tmp_path / "profile") as page:
        page.open("about:blank")
        page.ask("Page.addScriptToEvaluateOnNewDocument", source="HTMLCanvasElement.prototype.getContext = () => null")
        page.ask("Page.navigate", url=written.as_uri())
        page.value("new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done))")
        assert "open the file in another browser" in page.value("document.body.innerText")
        assert not page.told("Runtime.exceptionThrown")


def test_no_line_leads_out_of_the_picture(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope") as log:
        x = gs.ones(2, requires_grad=True)
        used, skipped = x.sin(), []
        for _ in range(6):
            x = x.tanh()
            skipped.append(x)
        for each in reversed(skipped):
            x = x.cos() + each
        (x * used).sum().backward()
    export(log, tmp_path / "run.html")
    inks = """(() => {
        const canvas = document.querySelector('.canvas')
        const ratio = canvas.width / canvas.clientWidth
        const seen = new Set()
        for (const x of [2, canvas.clientWidth - 12]) {
            const data = canvas.getContext('2d').getImageData(x * ratio, 0, 10 * ratio, canvas.height).data
            for (let place = 0; place < data.length; place += 4) seen.add(data.slice(place, place + 3).join())
        }
        return [...seen]
    })()"""
    with chromium.browser(tmp_path / "profile") as page:
        page.open(tmp_path / "run.html", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        page.ask("Emulation.setDeviceMetricsOverride", width=900, height=4000, deviceScaleFactor=1, mobile=False)
        page.key("0")
        page.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert len(page.value(inks)) == 1
