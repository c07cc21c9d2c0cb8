"""The screen as a client of the debug adapter, over programs that run in processes of their own."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from graphscope.errors import GraphscopeError
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.prompt.output import Output
from tests.tui.screens import Screen, debug

pytestmark = pytest.mark.slow

CELL = """\
import graphscope as torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = (w * w).tanh()
loss = h.sum()
loss.backward()
print("gradient", w.grad.tolist())
name = input("name? ")
print("hello", name)
"""

GRADIENT = re.compile(r"gradient \[(.*)\]")


def program(folder: Path, text: str, name: str = "cell.py") -> Path:
    script = folder / name
    script.write_text(text, encoding="utf-8")
    return script


def printed(screen: Screen) -> str:
    return screen.main.query_one(Output).text


async def begun(screen: Screen) -> None:
    await screen.until(lambda: screen.main.scene.node is not None, "the first node")
    await screen.pilot.pause()


def test_it_steps_through_a_running_program_in_both_directions(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.shows("LIVE", "#heading")
        assert screen.now == 0
        log = screen.main.log_index.log
        assert log.end == 1  # the program waits: nothing is there but its first node
        for row in (1, 2):
            await screen.press("n")
            await screen.at(row)
        await screen.press("p")
        await screen.at(1)
        log.refresh()
        assert log.end == 3

    debug(program(tmp_path, CELL), use)


def test_a_stop_in_backward_and_another_gradient_reach_the_program(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.type("b op:tanh backward")
        await screen.press("c")
        await screen.shows("TanhBackward", "#heading")
        await screen.press("=")
        line = screen.main.query_one("#line")
        assert line.value == "set grad = "
        line.value += "0 * grad"
        await screen.press("enter")
        await screen.shows("✱", "#inspector")
        await screen.press("c")
        await screen.until(lambda: GRADIENT.search(printed(screen)), "the gradient")

        assert GRADIENT.search(printed(screen))[1] == "0.0, 0.0, 0.0"

    debug(program(tmp_path, CELL), use)


def test_one_cell_of_a_gradient_is_edited(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("TanhBackward", "#heading")
        await screen.press("3")
        screen.main.query_one(ArrayView).focus()
        await screen.press("right", "enter")
        await screen.until(lambda: len(screen.app.screen_stack) == 2, "the question")
        entry = screen.app.screen.query_one("Input")
        entry.value = "7"
        await screen.press("enter")
        await screen.shows("✱", "#inspector")
        await screen.press("c")
        await screen.until(lambda: GRADIENT.search(printed(screen)), "the gradient")

        given = [float(part) for part in GRADIENT.search(printed(screen))[1].split(",")]
        slopes = [2 * w * (1 - math.tanh(w * w) ** 2) for w in (1.0, 2.0, 3.0)]
        assert given == pytest.approx([slopes[0], 7 * slopes[1], slopes[2]], rel=1e-4, abs=1e-6)

    debug(program(tmp_path, CELL), use, breakpoints=("op:tanh backward",), commands=("c",))


def test_the_programs_own_terminal_takes_what_is_typed(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c")
        await screen.until(lambda: "name?" in printed(screen), "the question of the program")
        await screen.shows("running", "#heading")
        await screen.press("t")
        await screen.press(*"Ada", "enter")
        await screen.until(lambda: "hello Ada" in printed(screen), "its answer")
        await screen.shows("ended", "#heading")
        await screen.press("ctrl+t", "p")
        await screen.until(lambda: screen.main.scene.node is not None, "the log of what it did")

    assert debug(program(tmp_path, CELL), use) == 0


def test_an_exception_leaves_one_at_what_it_did(tmp_path: Path) -> None:
    text = CELL.replace("loss.backward()", "raise ValueError('[bold]no[/bold] \\x1b[2J')")

    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c")
        await screen.shows("failed", "#heading")
        await screen.shows("ValueError: [bold]no[/bold] \\x1b[2J")
        await screen.type("where")
        await screen.shows("-> raise ValueError('[bold]no")  # below the path, which is as long as it is
        await screen.press("p")
        await screen.shows("tanh", "#heading")

    debug(program(tmp_path, text), use)


def test_a_killed_program_leaves_its_log(tmp_path: Path) -> None:
    text = CELL.replace("loss.backward()", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c")
        await screen.shows("SIGKILL", "#heading")
        await screen.press("home")
        await screen.at(0)

    debug(program(tmp_path, text), use)


@pytest.mark.slow
def test_a_program_that_runs_on_is_stopped(tmp_path: Path) -> None:
    text = "import graphscope as gs\nx = gs.ones(2)\nwhile True:\n    y = x * 2\n"

    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c")
        await screen.shows("running", "#heading")
        await screen.press("n")
        await screen.shows("The program runs")
        await screen.press("ctrl+c")
        await screen.shows("LIVE", "#heading")
        await screen.shows("interrupted", "#heading")

    debug(program(tmp_path, text), use)


@pytest.mark.slow
def test_it_runs_again_from_its_beginning(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await begun(screen)
        first = screen.main.log_index.log.path
        await screen.type("b op:tanh")
        await screen.press("c")
        await screen.shows("tanh", "#heading")
        await screen.type("restart")
        await screen.at(0)
        assert screen.main.log_index.log.path != first
        await screen.press("c")
        await screen.shows("tanh", "#heading")

    debug(program(tmp_path, CELL), use)


def test_what_cannot_be_started_is_said_before_the_screen(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        pytest.fail("there is nothing to show")

    with pytest.raises(GraphscopeError, match="no script"):
        debug(tmp_path / "missing.py", use)
    with pytest.raises(GraphscopeError, match="colour"):
        debug(program(tmp_path, CELL), use, breakpoints=("colour:red",))


@pytest.mark.slow
def test_a_program_is_told_that_its_input_ends(tmp_path: Path) -> None:
    text = "import sys\nimport graphscope as gs\nx = gs.ones(2)\nprint('read', len(sys.stdin.read()))\n"

    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c", "t")
        await screen.press(*"two", "enter", "ctrl+d")
        await screen.until(lambda: "read 4" in printed(screen), "what it has read")

    debug(program(tmp_path, text), use)


@pytest.mark.slow
def test_a_program_that_prints_much_leaves_the_keys_alone(tmp_path: Path) -> None:
    text = "import graphscope as gs\nx = gs.ones(2)\nfor i in range(100_000):\n    print('line', i)\ny = x * 2\n"

    async def use(screen: Screen) -> None:
        await begun(screen)
        await screen.press("c", "t")
        await screen.until(lambda: "line 99999" in printed(screen), "the last line")
        await screen.shows("ended", "#heading")
        shown = printed(screen).split("\n")
        assert len(shown) <= 5001
        assert shown[-2:] == ["line 99998", "line 99999"]

    debug(program(tmp_path, text), use)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("x = (1,\ny = 2\n", "SyntaxError", "x = (1,"),
        pytest.param(
            "import nothing_of_that_name\n", "No module named", "import nothing_of_that_name", marks=pytest.mark.slow
        ),
        ("def f():\n    return 1 / 0\nf()\n", "ZeroDivisionError", "return 1 / 0"),
    ],
    ids=["syntax", "import", "at-once"],
)
def test_the_line_is_shown_where_a_program_fails_before_it_has_a_node(
    tmp_path: Path, text: str, said: str, line: str
) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("failed", "#heading")
        await screen.shows(said, "#heading")
        await screen.shows(line, "#source")
        await screen.shows("where it failed", "#source")
        await screen.shows("The program made no node", "#inspector")
        await screen.press("c")
        await screen.shows(said, "#heading")

    debug(program(tmp_path, text), use)


@pytest.mark.slow
def test_a_program_that_asks_before_its_first_node_says_so(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("No nodes yet", "#tape")
        await screen.shows("t program ?", "#tabs")
        await screen.press("t", *"Ada", "enter", "ctrl+t")
        await screen.shows("#0 x", "#heading")

    debug(program(tmp_path, "import graphscope as gs\nname = input('name? ')\nx = gs.ones(2)\n"), use)


@pytest.mark.slow
def test_a_small_terminal_is_borne_while_the_program_waits_in_backward(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("TanhBackward", "#heading")
        before = screen.now
        for size in ((20, 5), (5, 2), (1, 1), (59, 15)):
            await screen.pilot.resize_terminal(*size)
            await screen.press("n", "p", "m", "m")
        await screen.pilot.resize_terminal(120, 40)
        await screen.shows("TanhBackward", "#heading")
        await screen.at(before)
        await screen.shows("▶", "#tape")

    debug(program(tmp_path, CELL), use, breakpoints=("op:tanh backward",), commands=("c",))
