"""What a person puts in the place of a value or a gradient: everywhere on the screen as it now is, and marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from graphscope.tui.source.source import Source
from tests.tui.screens import Screen
from tests.tui.test_live import begun, debug, program

PRODUCT = """\
{framework}
x = torch.tensor([15.0], requires_grad=True)
y = torch.tensor([20.0], requires_grad=True)
z = x * y
loss = z.sum()
loss.backward()
print("grad", x.grad.tolist())
"""

FAILS = """\
{framework}


def scaled(x):
    y = x * 2.0
    limit = 3
    raise ValueError("too far")


scaled(torch.ones(3, requires_grad=True))
"""

FRAMEWORKS = [
    pytest.param("import graphscope as torch", id="engine"),
    pytest.param("import torch", id="torch", marks=[pytest.mark.torch, pytest.mark.slow]),
]


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_edited_value_and_gradient_are_shown_everywhere(tmp_path: Path, framework: str) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.type("b op:sum forward")
        await screen.press("c")
        await screen.shows("sum", "#heading")
        await screen.press("=")
        line = screen.main.query_one("#line", Input)
        assert line.value == "set value = "
        line.value += "value * 2"  # of a tensor of the program
        await screen.press("enter", "escape")
        await screen.shows("600. (edited: it was 300.)", "#inspector")
        if "graphscope" in framework:  # which tells the formulas of its ops
            await screen.shows("300 = Σ 300", "#inspector")
        await screen.type("b op:mul backward")
        await screen.press("c")
        await screen.shows("MulBackward", "#heading")
        await screen.until(lambda: "600" in line_of(screen, "loss"), "the loss as it was edited")
        assert "300" not in line_of(screen, "loss")
        await screen.type("set grad = 5.0")
        if "graphscope" in framework:
            await screen.shows("g = [5.] (edited: it was [1.])", "#inspector")
        await screen.shows("✱ edited", "#inspector")
        await screen.type("info breakpoints")
        await screen.shows("op:mul backward", "#transcript")
        await screen.type("goto loss")
        await screen.shows("600. (edited: it was 300.)", "#inspector")
        await screen.type("p value.item() + 1")
        await screen.shows("601.0", "#transcript")

    debug(program(tmp_path, PRODUCT.replace("{framework}", framework)), use)


def line_of(screen: Screen, name: str) -> str:
    """The line of the timeline that begins with a word."""
    return next((line for line in screen.text.splitlines() if line.lstrip().startswith(f"{name} ")), "")


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_exception_is_shown_at_the_line_that_raised_it(tmp_path: Path, framework: str) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c")
        await screen.shows("failed", "#heading")
        await screen.shows("raised at cell.py:7", "#transcript")
        assert screen.main.query_one(Source)._current == 7
        rows = len(screen.main.log_index.log)
        await screen.type("p limit")
        await screen.shows("3", "#transcript")
        await screen.type("p x + x")
        await screen.shows("2.", "#transcript")
        screen.main.log_index.refresh()
        assert len(screen.main.log_index.log) == rows
        await screen.press("p")
        await screen.until(lambda: screen.main.query_one(Source)._current != 7, "the line of a node")

    debug(program(tmp_path, FAILS.replace("{framework}", framework)), use)
