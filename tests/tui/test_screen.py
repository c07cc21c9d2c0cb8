"""The screen as a person uses it: keys are pressed, and what is shown is compared with the log, read independently."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.reader import load
from graphscope.eventlog.record import record
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.outline import steps
from graphscope.tui.app import GraphscopeApp
from graphscope.tui.glyphs import ASCII
from graphscope.tui.screen_session import RecordedSession
from graphscope.tui.tape.tape import Tape
from graphscope.tui.themes import THEMES
from tests.tui import quiet
from tests.tui.screens import Screen, drive


def node_rows(log: Path) -> list[int]:
    """The rows of nodes, from the bare arrays."""
    parts = [np.load(path)["kind"] for path in sorted(log.glob("segments/*/events.npy"))]
    kinds = np.concatenate(parts)
    return [int(row) for row in np.flatnonzero(np.isin(kinds, [int(kind) for kind in NODES]))]


# Time ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_opens_at_the_first_node_and_steps_both_ways(product: Path) -> None:
    rows = node_rows(product)

    async def use(screen: Screen) -> None:
        assert screen.now == rows[0]
        for row in rows[1:]:
            await screen.press("n")
            await screen.at(row)
        for row in rows[-2::-1]:
            await screen.press("p")
            await screen.at(row)

    drive(product, use)


@pytest.mark.slow
def test_arrows_walk_lines_and_home_and_end_reach_the_ends(training: Path) -> None:
    rows = node_rows(training)

    async def use(screen: Screen) -> None:
        await screen.press("end")
        await screen.at(min(row for row in rows if row >= steps(load(training)).first[-1]))  # beneath the last header
        await screen.press("home")
        await screen.at(rows[0])
        await screen.press("down")
        await screen.at(rows[1])
        await screen.press("up")
        await screen.at(rows[0])

    drive(training, use)


@pytest.mark.slow
def test_the_other_side_of_a_node(product: Path) -> None:
    log = load(product)
    forward = next(row for row in node_rows(product) if log.event(row).kind == Kind.OP)
    rule = next(row for row in node_rows(product) if log.event(row).kind == Kind.GRAD)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {forward}")
        await screen.at(forward)
        await screen.press("o")
        await screen.at(rule)
        await screen.shows("backward", "#heading")
        await screen.press("o")
        await screen.at(forward)

    drive(product, use)


# Regions -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_tape_shows_every_node_in_order(product: Path) -> None:
    log = load(product)
    graph = log.graph

    async def use(screen: Screen) -> None:
        lines = [line for line in screen.part("#tape").split("\n") if re.match(r"│[● ][▶ ]\s*\d+ ", line)]
        shown = [int(re.search(r"\d+", line)[0]) for line in lines]
        nodes = [row for row in shown if log.event(row).kind in NODES]
        assert nodes == node_rows(product)
        for line, row in zip(lines, shown, strict=True):
            if log.event(row).kind == Kind.OP:
                assert graph.node(row).op in line
                assert graph.node(row).name in line

    drive(product, use)


@pytest.mark.slow
def test_the_formula_has_the_numbers_of_the_node(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto c")
        await screen.shows("300 = 15 · 20", "#inspector")
        await screen.press("o")
        await screen.shows("grad of x (a) = g * y", "#inspector")
        await screen.shows("1 * 20", "#inspector")
        await screen.shows("1 * 15", "#inspector")

    drive(product, use)


@pytest.mark.slow
def test_the_formula_has_the_constants_of_the_node_and_says_whose_gradient_is_meant(tmp_path: Path) -> None:
    with record(tmp_path / "chain.gscope"):
        x = gs.tensor(1.0, requires_grad=True)
        y = x * 2 + 3
        z = 7 - 4 * y
        z.backward()

    async def use(screen: Screen) -> None:
        await screen.type("goto z")
        await screen.shows("(-13) = 7 - 20", "#inspector")
        await screen.shows("grad of y (#3) = ", "#inspector")
        assert "grad of x" not in screen.part("#inspector")
        await screen.type("goto 7")
        await screen.shows("grad of x (#2) = g * y", "#inspector")  # the program's own y is another one
        await screen.shows("= (-1) * 4", "#inspector")

    drive(tmp_path / "chain.gscope", use)


@pytest.mark.slow
def test_values_and_gradients_as_numbers_heatmap_and_histogram(training: Path) -> None:
    log = load(training)
    w = next(row for row in node_rows(training) if log.event(row).kind == Kind.LEAF and log.event(row).shape == (3, 3))
    value = log.value(w)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {w}")
        await screen.at(w)
        await screen.press("2")
        await screen.shows(f"{value[1, 2]:.4g}", "#inspector")
        await screen.press("v")
        await screen.shows("v histogram", "#inspector")
        await screen.press("v")
        await screen.shows(f"{value.min():.4g}", "#inspector")
        await screen.press("v", "3")
        await screen.shows("No gradient up to now", "#inspector")
        await screen.press("o")
        await screen.shows("gradient 3×3", "#inspector")
        await screen.press("5")
        await screen.shows("3 times in", "#inspector")

    drive(training, use, size=(120, 40))


@pytest.mark.slow
def test_a_slice_of_a_value(training: Path) -> None:
    log = load(training)
    x = next(row for row in node_rows(training) if log.event(row).shape == (4, 3))
    value = log.value(x)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {x}")
        await screen.at(x)
        await screen.press("2", "i", *"2:", "enter")
        await screen.shows("[2:]", "#inspector")
        assert f"{value[3, 0]:.4g}" in screen.part("#inspector")
        assert f"{value[0, 0]:.4g}" not in screen.part("#array")
        await screen.press("i", *"what", "enter")
        await screen.shows("is no slice")

    drive(training, use)


@pytest.mark.slow
def test_the_source_shows_the_line_and_counts_its_nodes(training: Path) -> None:
    log = load(training)
    graph = log.graph
    sites = [graph.node(row).event.site for row in node_rows(training)]
    lines = [log.site(site).line for site in sites if site]
    h = next(row for row in node_rows(training) if graph.node(row).name == "h")

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {h}")
        await screen.at(h)
        line = graph.node(h).site.line
        await screen.shows("h = torch.mm(x, W).tan", "#source")
        found = next(text for text in screen.part("#source").split("\n") if "▶" in text)
        assert found.split()[1:4] == ["▶", str(lines.count(line)), str(line)]

    drive(training, use)


@pytest.mark.slow
def test_the_map_shows_the_neighbourhood(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto c")
        await screen.press("m")
        await screen.shows("mul", "#map")
        for name in ("◆ a", "◆ b", "▲ MulBackward"):
            assert name in screen.part("#map")
        await screen.press("-")
        await screen.shows("radius 1", "#map")

    drive(product, use, size=(120, 40))


@pytest.mark.slow
def test_the_timeline_goes_where_it_is_clicked(training: Path) -> None:
    last = node_rows(training)[-1]

    async def use(screen: Screen) -> None:
        timeline = screen.main.query_one("#timeline")
        await screen.pilot.click("#timeline", offset=(timeline.size.width - 2, 0))
        await screen.until(lambda: screen.now > last - 6, "the end of the run")
        await screen.shows("loss", "#timeline")

    drive(training, use)


# Folds, breakpoints, search ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_scope_folds_and_opens(training: Path) -> None:
    log = load(training)
    enter = next(row for row in range(log.first, log.end) if log.event(row).kind == Kind.SCOPE_ENTER)
    leave = next(row for row in range(enter, log.end) if log.event(row).kind == Kind.SCOPE_EXIT)
    inside = [row for row in node_rows(training) if enter < row < leave]

    async def use(screen: Screen) -> None:
        tape = screen.main.query_one(Tape)
        await screen.type(f"goto {inside[0]}")
        await screen.at(inside[0])
        before = len(tape.lines)
        await screen.press("enter")
        assert len(tape.lines) == before - len(inside)
        assert not tape.lines.shown(inside[0])
        await screen.press("enter")
        assert len(tape.lines) == before

    drive(training, use)


@pytest.mark.slow
def test_a_breakpoint_is_set_stops_in_backward_and_is_switched_off(training: Path) -> None:
    log = load(training)
    rules = [
        row
        for row in node_rows(training)
        if log.event(row).kind == Kind.GRAD and log.op(log.event(row).op).name == "tanh"
    ]

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {rules[0]}")
        await screen.at(rules[0])
        await screen.press("b")
        assert screen.main.query_one("#line").value == "break op:tanh backward"
        await screen.press("enter")
        await screen.shows("Breakpoint 1 at op:tanh backward")
        await screen.press("c")
        await screen.at(rules[1])
        await screen.press("C")
        await screen.at(rules[0])
        await screen.shows("●▶", "#tape")
        await screen.press("B")
        await screen.shows("Esc close")
        assert "op:tanh backward" in screen.text
        await screen.press("space")
        await screen.until(lambda: not screen.main.scene.breakpoints[0].enabled, "a breakpoint that is off")
        await screen.press("d")
        await screen.until(lambda: not screen.main.scene.breakpoints, "no breakpoint")
        await screen.press("escape")

    drive(training, use)


@pytest.mark.slow
def test_a_breakpoint_in_the_margin(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto h")
        await screen.shows("▶", "#source")
        screen.main.query_one("#source").focus()
        await screen.press("space")
        await screen.until(lambda: screen.main.scene.breakpoints, "a breakpoint")
        assert "line:training.py:" in screen.main.scene.breakpoints[0].spec
        await screen.shows("●▶", "#source")
        await screen.press("space")
        await screen.until(lambda: not screen.main.scene.breakpoints, "no breakpoint")

    drive(training, use)


@pytest.mark.slow
def test_search_walks_matches(training: Path) -> None:
    log = load(training)
    found = [
        row for row in node_rows(training) if log.event(row).kind == Kind.OP and log.op(log.event(row).op).name == "mm"
    ]

    async def use(screen: Screen) -> None:
        await screen.press("/")
        await screen.press(*"op:mm", "space", *"forward", "enter")
        await screen.at(found[0])
        await screen.press("n")
        await screen.at(found[1])
        await screen.press("n")
        await screen.at(found[2])
        await screen.press("N")
        await screen.at(found[1])
        await screen.press("escape", "n")
        await screen.at(found[1] + 1)

    drive(training, use)


@pytest.mark.slow
def test_the_prompt_answers_completes_and_remembers(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("p 6 * 7")
        await screen.shows("42")
        await screen.type("nonsense")
        await screen.shows("is no command")
        await screen.press(":", "up", "up")
        line = screen.main.query_one("#line")
        assert line.value == "p 6 * 7"
        line.value = ""
        await screen.press(*"rever", "tab")
        await screen.until(lambda: line.value.startswith("reverse-"), "a completion")

    drive(product, use)


@pytest.mark.slow
def test_quit(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running, "the end")

    drive(product, use)


# Sizes, themes, odd text ---------------------------------------------------------------------------------------------


SIZES = [(60, 16), (80, 24), (120, 36), (200, 50), (300, 100)]
QUICK = {((80, 24), THEMES[0].name), ((200, 50), THEMES[1].name), ((60, 16), THEMES[2].name)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "theme"),
    [
        pytest.param(size, theme.name, marks=() if (size, theme.name) in QUICK else pytest.mark.slow)
        for size in SIZES
        for theme in THEMES
    ],
)
def test_sizes_and_themes(training: Path, size: tuple[int, int], theme: str) -> None:
    async def use(screen: Screen) -> None:
        screen.app.theme = theme
        await screen.press("}", "}", "o", "m", "m", "m", "2", "3", "1")
        assert "formula" in screen.text
        await screen.press("escape")
        assert "tape" in screen.text
        assert "needs a terminal" not in screen.text
        assert screen.app.export_screenshot().startswith("<svg")

    drive(training, use, size=size)


@pytest.mark.slow
def test_a_terminal_that_is_too_small_is_told_so_and_may_grow(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("graphscope needs a terminal of 60×16")
        assert "40×10" in screen.text
        await screen.pilot.resize_terminal(90, 30)
        await screen.shows("tape")
        assert "needs a terminal" not in screen.text

    drive(product, use, size=(40, 10))


@pytest.mark.slow
def test_pictures_in_ascii(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("}", "}", "n")
        for region in ("#heading", "#tape", "#timeline", "#source"):  # the inspector quotes formulas
            assert screen.part(region).isascii(), region

    drive(training, use, glyphs=ASCII, size=(100, 30))


ODD = """\
import graphscope as torch
a = torch.tensor([1.0])  # [b]x[/] \\x1b[31mred\\x07 漢字 שלום
[x] = [a * 2]
"""


@pytest.mark.slow
def test_text_of_programs_is_shown_as_text(recorded: Callable[[str, str], Path]) -> None:
    log = recorded("odd", ODD.replace("\\x1b", "\x1b").replace("\\x07", "\x07"))

    async def use(screen: Screen) -> None:
        await screen.shows("[b]x[/] \\x1b[31mred\\x07", "#source")
        assert "\x1b" not in screen.text
        assert "\x07" not in screen.text
        await screen.type("p '[bold]' + chr(27)")
        await screen.shows("'[bold]\\x1b'")
        assert "\x1b" not in screen.text

    drive(log, use, size=(300, 50))


# Logs that grow, logs that are long ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_that_grows_is_followed(tmp_path: Path) -> None:
    import graphscope as gs

    async def run() -> None:
        with record(tmp_path / "it.gscope"):
            x = gs.tensor([1.0, 2.0])
            app = GraphscopeApp(load(tmp_path / "it.gscope"), RecordedSession(Debugger(load(tmp_path / "it.gscope"))))
            async with app.run_test(size=(100, 30)) as pilot:
                screen = Screen(app, pilot)
                await screen.until(lambda: screen.main.scene.node is not None, "the first node")
                await screen.shows("growing", "#heading")
                y = x * 3.0
                await screen.shows("mul", "#tape")
                assert y is not None
                await screen.press("n")
                await screen.until(lambda: screen.main.scene.node.op == "mul", "the new node")

    quiet.run(run())


@pytest.mark.slow
def test_of_a_million_rows_only_what_is_seen_is_looked_at(
    write_long: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    log = write_long(tmp_path / "long.gscope", 1_000_000)

    async def use(screen: Screen) -> None:
        tape = screen.main.query_one(Tape)
        await screen.press("end")
        await screen.at(999_999)
        assert len(tape.lines) == 1_000_000
        await screen.shows("999999", "#tape")
        await screen.press("home")
        await screen.at(0)
        await screen.type("goto 500000")
        await screen.at(500_000)
        assert len(tape._painter._rows._sizes) < 200

    drive(log, use)
