"""Notebooks as a person has them: in JupyterLab, with a real mouse, and exported, without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.exporters import chromium
from tests.notebook import jupyter

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        jupyter.python() is None, reason="no JupyterLab; GRAPHSCOPE_NOTEBOOKS can name a Python with it"
    ),
]
in_browser = pytest.mark.skipif(chromium.program() is None, reason="no Chromium; GRAPHSCOPE_CHROMIUM can name one")

BEGIN = "import graphscope as gs\nfrom graphscope import nn\n%load_ext graphscope"
TRAIN = """model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = gs.optim.SGD(model.parameters(), lr=0.1)
with gs.record() as log:
    for _ in range(2):
        optimizer.zero_grad()
        loss = (model(gs.ones(16, 4)) ** 2).mean()
        loss.backward()
        optimizer.step()
view = gs.show(log)
view"""
FAILS = """%%graphscope run
x = gs.tensor([1.0, 0.0], requires_grad=True)
y = x.log()
raise ValueError("as always")"""
CHOSEN = "[(each.op, each.forward is None) for each in view.selected]"

IS_READY = "globalThis.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
VIEWS = "[...document.querySelectorAll('[data-lm-suppress-shortcuts]')]"
SCROLLED = "document.querySelector('.jp-WindowedPanel-outer').scrollTop"


WAITED = """new Promise((done, fail) => {{
    const look = () => ({condition}) ? done(1) : setTimeout(look, 50)
    setTimeout(() => fail("never"), 60_000)
    look()
}})"""


def wait(page: chromium.Page, condition: str) -> None:
    """Until something holds in the page."""
    page.value(WAITED.format(condition=condition))


def run(page: chromium.Page, command: str) -> None:
    page.value(f"void jupyterapp.commands.execute({command!r})")


def turn_wheel(page: chromium.Page, x: float, y: float) -> None:
    page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=120)
    page.value("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100))")


def test_a_notebook_that_ran_with_nobody_at_it(tmp_path: Path) -> None:
    jupyter.write(
        tmp_path / "notes.ipynb",
        [BEGIN, FAILS, "run.selected, run.thing.graph.nodes[-1].op", "%%graphscope --bogus\n1", "%%graphscope\n1 + 1"],
    )
    _, failed, told, misspelt, empty = jupyter.outputs(jupyter.convert(tmp_path / "notes.ipynb", "notebook"))
    shown = {
        form: text for each in failed if each["output_type"] == "display_data" for form, text in each["data"].items()
    }
    assert {"text/html", "image/svg+xml"} <= shown.keys()
    assert "log of 0" in "".join(shown["text/html"])
    [error] = [each for each in failed if each["output_type"] == "error"]
    assert (error["ename"], error["evalue"]) == ("ValueError", "as always")
    trace = "\n".join(error["traceback"])
    assert "line 4" in trace
    assert "cell_magic" not in trace
    assert told[0]["data"]["text/plain"] == ["((), 'log')"]
    assert "unrecognized arguments: --bogus" in str(misspelt)
    assert empty[0]["data"]["text/plain"] == ["2"]
    assert "nothing to draw" in str(empty)


@in_browser
def test_an_exported_notebook_needs_no_kernel(tmp_path: Path) -> None:
    jupyter.write(tmp_path / "notes.ipynb", [BEGIN, TRAIN])
    exported = jupyter.convert(tmp_path / "notes.ipynb", "html")
    with chromium.browser(tmp_path / "profile") as page:
        page.open(exported)
        page.value("document.querySelector('iframe').scrollIntoView()")
        frame = page.frame()
        wait(frame, "globalThis.graphscope?.place('/1')")
        assert {each["title"] for each in frame.value("graphscope.boxes()")} >= {"0", "1", "2", "mean"}
        corner = page.value("document.querySelector('iframe').getBoundingClientRect().toJSON()")
        place = frame.value("graphscope.place('/1')")
        for _ in range(50):  # the browser takes a moment until it knows that a frame lies there
            page.press(corner["x"] + place["x"] + 20, corner["y"] + place["y"] + 12)
            if frame.value("graphscope.state().chosen"):
                break
        assert "out = max(x, 0)" in frame.value("document.querySelector('.panel').innerText")


@in_browser
def test_what_is_clicked_in_jupyterlab_reaches_the_next_cell(tmp_path: Path) -> None:
    jupyter.write(tmp_path / "notes.ipynb", [BEGIN, TRAIN, FAILS, CHOSEN])
    with jupyter.lab(tmp_path) as address, chromium.browser(tmp_path / "profile") as page:
        page.open(f"{address}doc/tree/notes.ipynb")
        wait(page, IS_READY)
        run(page, "notebook:run-all-cells")
        wait(page, f"{VIEWS}.length === 2 && {VIEWS}.every(each => each.graphscope) && {IS_READY}")
        page.value(f"{VIEWS}[0].scrollIntoView()")
        choose(page, "/1")
        assert page.value(f"{VIEWS}.map(each => each.graphscope.state().chosen)") == ["/1", ""]
        assert read(page) == "[('relu', True)]"
        page.value(f"{VIEWS}[0].scrollIntoView()")
        choose(page, "/1")
        page.key("o")  # the other half: heard by this view, and not by Jupyter
        assert read(page) == "[('relu', False)]"
        page.value(f"{VIEWS}[0].scrollIntoView()")
        x, y = choose(page, "/1")
        before = page.value(SCROLLED)
        turn_wheel(page, x, y)
        assert page.value(SCROLLED) == before
        page.value("document.activeElement.blur()")
        turn_wheel(page, x, y)
        assert page.value(SCROLLED) > before
        page.value("void jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
        wait(page, f"{VIEWS}.every(each => each.shadowRoot.querySelector('.page').dataset.theme === 'dark')")
        assert page.told("Runtime.exceptionThrown") == []


def choose(page: chromium.Page, key: str) -> tuple[float, float]:
    """Click on a box of the first view; where that was."""
    place = page.value(f"{VIEWS}[0].graphscope.place({key!r})")
    x, y = place["x"] + 20, place["y"] + 12
    page.press(x, y)
    wait(page, f"{VIEWS}[0].graphscope.state().chosen === {key!r}")
    return x, y


def read(page: chromium.Page) -> Any:
    """What the last cell shows when it is run again."""
    page.value("void (jupyterapp.shell.currentWidget.content.activeCellIndex = 3)")
    last = "jupyterapp.shell.currentWidget.content.widgets[3]"
    count = page.value(f"{last}.model.executionCount ?? 0")
    run(page, "notebook:run-cell")
    wait(page, f"{last}.model.executionCount > {count} && {IS_READY}")
    return page.value(f"{last}.model.outputs.get(0).data['text/plain']")
