"""The panels of the inspector: each entry of the table is whole, has its tab, key, help and place in the palette, and
shows of a node what the log has of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind, Pass
from graphscope.graph import filled
from graphscope.tui import key_table
from graphscope.tui.dialogs.help import help_text, sections
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.inspector.panel_table import PANELS, Numbers, Panel, View, every
from graphscope.tui.scene import Scene
from tests.tui.conftest import PRODUCT
from tests.tui.screens import Screen, drive


def rows(log: Log, kind: Kind, op: str = "") -> list[int]:
    """The rows of a kind, and of an op if one is named."""
    events = map(log.event, range(log.end))
    return [each.row for each in events if each.kind == kind and op in ("", log.op(each.op).name)]


@dataclass(frozen=True)
class Shown:
    """What a panel is to show."""

    program: str
    """A fixture: the log."""
    row: Callable[[Log], int]
    """Where one stands."""
    text: Callable[[Log], str]


def apart(log: Log) -> float:
    """How far the results of the last two calls of tanh are apart."""
    one, two = (log.value(row) for row in rows(log, Kind.OP, "tanh")[-2:])
    return float(np.abs(one - two).max())


SHOWN = {
    "formula": Shown("product", lambda log: rows(log, Kind.OP)[0], lambda log: f"{15 * 20} = 15 · 20"),
    "value": Shown("product", lambda log: rows(log, Kind.OP)[0], lambda log: f"0         {15 * 20}"),
    "grad": Shown("product", lambda log: rows(log, Kind.ACCUMULATE)[0], lambda log: "gradient scalar float32"),
    "about": Shown(
        "product",
        lambda log: rows(log, Kind.OP)[0],
        lambda log: f"product.py:{PRODUCT.splitlines().index('c = a * b') + 1}",
    ),
    "steps": Shown("training", lambda log: rows(log, Kind.OP, "tanh")[1], lambda log: "3 times in"),
    "compare": Shown(
        "training", lambda log: rows(log, Kind.OP, "tanh")[2], lambda log: f"apart at most {apart(log):.4g}"
    ),
}
"""By the name of the panel; whoever adds a panel says here what it shows."""


def test_every_panel_is_shown_by_a_test() -> None:
    untested = set(PANELS) - set(SHOWN)
    assert not untested, f"say in SHOWN what these panels show: {untested}"


@pytest.mark.parametrize("panel", every(), ids=lambda panel: panel.name)
def test_an_entry_is_whole(panel: Panel) -> None:
    told = help_text(sections([*key_table.OF_COMMANDS, *key_table.OF_SCREEN], UNICODE)).plain

    assert 0 < len(panel.doc) <= 72  # a line of the palette at 80 columns
    assert len(panel.key) == 1
    assert f"  {panel.key:<10}{panel.doc}\n" in told
    assert import_module(f"graphscope.tui.inspector.panels.{panel.name}").__doc__


def test_each_key_opens_one_panel() -> None:
    assert len({panel.key for panel in every()}) == len(every())
    assert [panel.key for panel in every()] == sorted(panel.key for panel in every())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_panel_has_a_tab_a_key_and_a_line_in_the_palette(name: str, request: pytest.FixtureRequest) -> None:
    panel, case = PANELS[name], SHOWN[name]
    program: Path = request.getfixturevalue(case.program)
    log = load(program)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {case.row(log)}")
        await screen.at(case.row(log))
        await screen.press(panel.key)
        await screen.shows(case.text(log), "#inspector")
        assert f"{panel.key} {panel.name}" in screen.part("TabLine")
        offered = {command.title for command in screen.app.get_system_commands(screen.main)}
        assert f"{panel.name.capitalize()} ({panel.key})" in offered

    drive(program, use, size=(140, 36))


@pytest.mark.parametrize("panel", every(), ids=lambda panel: panel.name)
def test_a_panel_is_drawn_where_nothing_has_run(panel: Panel, product: Path) -> None:
    graph = load(product).graph
    scene = Scene(graph.at(-1), graph)
    found = None if panel.search is None else panel.search(scene)
    made = panel.draw(View(scene, 40, UNICODE, found=found))

    assert isinstance(made, Numbers) == (panel.numbers_of is not None)
    if panel.name == "value":
        assert made.missing == "Nothing has run yet."


@pytest.mark.slow
def test_steps_are_chosen_as_fast_as_keys_are_pressed(training: Path) -> None:
    """Keys that come while the search for the other steps goes on are kept, and those past the end are not counted."""
    tanh = rows(load(training), Kind.OP, "tanh")

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {tanh[2]}")
        await screen.at(tanh[2])
        await screen.pilot.press("6", "<")
        await screen.shows(f"#{tanh[0]} step 0", "#inspector")
        await screen.pilot.press("<", "<", "<", ">")
        await screen.shows(f"#{tanh[1]} step 1", "#inspector")

    drive(training, use, size=(140, 40))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (100, 30)])
def test_the_tabs_of_more_panels_have_room(
    product: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    free = set("12345678") - {panel.key for panel in every()}
    more = {f"another{key}": replace(PANELS["about"], name=f"another{key}", key=key) for key in sorted(free)}
    for name, panel in more.items():
        monkeypatch.setitem(PANELS, name, panel)
    monkeypatch.setattr("graphscope.tui.inspector.inspector.every", lambda: tuple(PANELS.values()))

    async def use(screen: Screen) -> None:
        for name, panel in PANELS.items():
            screen.main.action_panel(name)
            await screen.shows(panel.key, "TabLine")
            tabs = screen.part("TabLine")
            assert all(f"{each.key} {each.name}" in tabs for each in PANELS.values()), tabs

    drive(product, use, size=size)


@pytest.mark.slow
def test_the_cursor_in_a_value_shows_how_that_element_came_to_be(training: Path) -> None:
    """Its row of the formula, in the program's names and in numbers; gone when the table loses the focus."""
    log = load(training)
    row = rows(log, Kind.OP, "tanh")[0]
    node = log.graph.at(row).node(row)
    places = [(0,) * len(node.shape), (*(0,) * (len(node.shape) - 1), min(1, node.shape[-1] - 1))]
    first, second = (filled.element(node, place) for place in places)
    assert first is not None
    assert second is not None

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {row}")
        await screen.at(row)
        await screen.press("2")
        screen.app.screen.query_one(ArrayView).focus()
        await screen.shows(first.names, "#inspector")
        await screen.press("right")
        await screen.shows(second.names, "#inspector")
        await screen.shows(f"= {second.numbers}", "#inspector")
        screen.app.screen.query_one("#tape").focus()
        await screen.press("n")
        assert second.numbers not in screen.part("#inspector")

    drive(training, use, size=(140, 40))


@pytest.mark.slow
def test_an_op_within_a_rule_is_told_as_one_that_ran(tmp_path: Path) -> None:
    """Its formula ahead of rules that nobody runs, and its own line; of the rule itself it is the other way round."""
    path = tmp_path / "rule.gscope"
    with gs.record(path):
        x = gs.tensor([1.0, 2.0], requires_grad=True)
        gs.autograd.grad(x.tanh().sum(), x, create_graph=True)
    log = load(path)
    inside = next(row for row in rows(log, Kind.OP, "mul") if log.event(row).graph_pass == Pass.BACKWARD)
    rule = log.event(inside).forward

    async def use(screen: Screen) -> None:
        for row, first, then in ((inside, "forward", "backward"), (rule, "backward", "forward")):
            await screen.type(f"goto {row}")
            await screen.at(row)
            text = screen.part("#inspector")
            assert text.index(f" {first} ") < text.index(f" {then} ")
            assert ("where the forward node ran" in screen.part("#source")) == (row == rule)

    drive(path, use, size=(140, 40))


@pytest.mark.slow
def test_a_few_numbers_are_numbers_whatever_the_mode(product: Path, training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("2")
        for _ in range(3):
            await screen.press("v")
            assert "15" in screen.part("#array")
            assert not screen.main.query_one("#histogram").display

    drive(product, use, size=(120, 40))

    async def use_matrix(screen: Screen) -> None:
        await screen.press("2", "v", "v")
        await screen.until(lambda: screen.main.query_one("#histogram").display, "the histogram")

    drive(training, use_matrix, size=(120, 40))
