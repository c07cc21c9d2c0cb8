"""Loops, keymaps, comparison, saved values, lists and the export: each is used as a person would use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphscope.errors import UsageError
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.graph.outline import steps
from graphscope.tui import key_table
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.key_file import read_keymap, remapped
from graphscope.tui.key_line import KeyLine
from graphscope.tui.tape.loops import loop_at
from graphscope.tui.tape.tape import Tape
from tests.graph.ranked import write_ranks
from tests.tui.screens import Screen, drive

UNROLLED = """\
import graphscope as torch

torch.manual_seed(0)
w = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(4, 1)
for t in range(12):
    z = torch.mm(w, h)
    h = (z + 0.5).tanh()
loss = h.sum()
loss.backward()
"""


@pytest.fixture(scope="session")
def unrolled(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("unrolled", UNROLLED)


def ops(log: Log, name: str) -> list[int]:
    events = map(log.event, range(log.end))
    return [each.row for each in events if each.kind == Kind.OP and log.op(each.op).name == name]


def test_a_loop_is_found_wherever_one_is_in_it(unrolled: Path) -> None:
    log = load(unrolled)
    told = steps(log)
    products = ops(log, "mm")
    turn = products[1] - products[0]

    assert len(products) == 12
    for row in range(products[0], products[-1] + turn):
        loop = loop_at(log, told, row)
        assert loop is not None
        assert (loop.turn, loop.turns) == (turn, 12)
    assert loop_at(log, told, 0) is None
    backward = loop_at(log, told, log.end // 2 + 20)
    assert backward is not None
    assert backward.turns >= 10


@pytest.mark.slow
def test_a_loop_folds_to_its_first_turn_and_opens_again(unrolled: Path) -> None:
    async def use(screen: Screen) -> None:
        tape = screen.main.query_one(Tape)
        before = len(tape.lines)
        await screen.type(f"goto {ops(load(unrolled), 'mm')[4]}")
        await screen.press("l")
        await screen.shows("12× 3 rows", "#tape")
        assert len(tape.lines) == before - 33
        await screen.press("enter")
        assert len(tape.lines) == before
        await screen.press("home", "l")
        await screen.shows("No loop here")

    drive(unrolled, use, size=(140, 40))


@pytest.mark.slow
def test_a_node_is_compared_with_itself_in_other_steps(training: Path) -> None:
    log = load(training)
    forward = ops(log, "tanh")
    values = [log.value(row) for row in forward]
    apart = float(np.abs(values[2] - values[1]).max())

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {forward[2]}")
        await screen.press("6")
        await screen.shows(f"#{forward[1]} step 1", "#inspector")
        await screen.shows(f"apart at most {apart:.4g}", "#inspector")
        await screen.press("<")
        await screen.shows(f"#{forward[0]} step 0", "#inspector")
        await screen.press("<", ">", ">")
        await screen.shows(f"#{forward[1]} step 1", "#inspector")
        for size in ((60, 16), (20, 6), (140, 50)):  # narrower than the columns, and back
            await screen.pilot.resize_terminal(*size)
        await screen.shows(f"#{forward[1]} step 1", "#inspector")

    drive(training, use, size=(140, 50))


@pytest.mark.slow
def test_what_forward_keeps_for_backward_is_told(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto op:tanh")
        await screen.press("4")
        await screen.shows("saved  out", "#inspector")
        await screen.type("goto op:mm")
        await screen.shows("saved  x", "#inspector")

    drive(training, use, size=(140, 50))


@pytest.mark.slow
def test_breakpoints_are_listed_with_hits_and_their_conditions_edited(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("b op:tanh backward")
        await screen.press("c")
        await screen.shows("TanhBackward", "#heading")
        await screen.press("c", "B")
        await screen.shows("op:tanh backward")
        table = screen.app.screen.query_one("DataTable")
        assert table.get_row_at(0)[2].plain == "2"
        await screen.press("space")
        await screen.until(lambda: table.get_row_at(0)[1].plain == "no", "it is off")
        await screen.press("space", "enter")
        line = screen.main.query_one("#line")
        await screen.until(lambda: line.value == "condition 1 ", "the line")
        line.value += "abs(grad).max() > 1e9"
        await screen.press("enter", "c")
        await screen.until(lambda: screen.main.scene.now > 40, "the end, as nothing is that large")

    drive(training, use, size=(120, 40))


@pytest.mark.slow
def test_the_graph_is_exported_by_a_key(product: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def use(screen: Screen) -> None:
        await screen.press("e")
        assert screen.main.query_one("#line").value == "export graph.svg "
        await screen.press("enter")
        await screen.until(lambda: (tmp_path / "graph.svg").exists(), "the file")
        await screen.press("escape", "E")
        await screen.until(lambda: list(tmp_path.glob("product-*.svg")), "the picture of the screen")

    drive(product, use)
    assert "<svg" in (tmp_path / "graph.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_keymap_gives_actions_other_keys(product: Path, tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text('"screen.map" = "f3"\n[command]\nnext = "ctrl+n"\n', encoding="utf-8")
    keymap = read_keymap(file, key_table.everywhere())
    assert keymap == {"screen.map": "f3", "command.next": "ctrl+n"}
    assert {found.id: found.key for found in remapped(key_table.OF_SCREEN, keymap)}["screen.map"] == "f3"

    async def use(screen: Screen) -> None:
        await screen.shows("ctrl+n next, p back")
        line = screen.main.query_one(KeyLine).text.plain
        places = [line.find(words) for words in (" ^n next ", " s into ", " p previous ", " f3 map ", " q quit ")]
        assert places == sorted(places), "keys are told in the order of the table"
        assert places[0] >= 0
        await screen.press("n", "m")
        assert screen.now == 0
        assert not screen.main.has_class("-map")
        await screen.press("ctrl+n")
        await screen.at(1)
        await screen.press("f3")
        assert screen.main.has_class("-map")

    drive(product, use, size=(160, 40), keymap=keymap)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"screen.mop" = "f3"', "which is no action"),
        ('"screen.map" = 3', "no key"),
        ("screen.map = = 3", "can't be read"),
    ],
)
def test_a_keymap_that_is_wrong_is_refused_in_words(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_keymap(file, key_table.everywhere())


def test_without_a_keymap_all_keys_are_as_told(tmp_path: Path) -> None:
    assert read_keymap(tmp_path / "none.toml", key_table.everywhere()) == {}


def test_every_binding_has_a_name_of_its_own_and_an_action(product: Path) -> None:
    names = [binding.id for binding in key_table.everywhere()]
    assert None not in names
    assert len(set(names)) == len(names)

    async def use(screen: Screen) -> None:
        owners = [screen.main, *screen.main.query("*")]
        for binding in key_table.everywhere():
            action = binding.action.partition("(")[0]
            assert any(hasattr(owner, f"action_{action}") for owner in [*owners, screen.app]), binding

    drive(product, use)


@pytest.mark.slow
def test_another_rank_is_looked_at_where_it_was(tmp_path):
    write_ranks(tmp_path, 3)

    async def body(screen: Screen) -> None:
        assert "rank 0 of 3" in screen.part("#heading")
        await screen.type("goto 5")
        await screen.at(5)
        await screen.press("R")
        await screen.shows("the same node")
        await screen.press("down", "enter")
        await screen.shows("rank 1 of 3", "#heading")
        await screen.at(7)
        assert screen.main.log_index.log.path.name == "run-rank1.gscope"
        assert "run.gscope" in screen.part("#heading")
        x = screen.part("#heading").index("rank 1")
        await screen.pilot.click("#heading", offset=(x, 0))
        await screen.shows("the same node")

    drive(tmp_path / "run-rank0.gscope", body)


@pytest.mark.slow
def test_themes_that_are_not_ours_can_be_chosen(product: Path) -> None:
    async def use(screen: Screen) -> None:
        for theme in ("textual-light", "nord"):
            screen.app.theme = theme
            await screen.press("n")
            assert "tape" in screen.text

    drive(product, use)


@pytest.mark.slow
def test_what_looks_like_markup_in_a_message_is_text(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("i", "left_square_bracket", "slash", "x", "right_square_bracket", "enter")
        await screen.shows("'[/x]' is no slice")

    drive(product, use)


@pytest.mark.slow
def test_an_op_that_raised_is_told_from_the_others(recorded: Callable[[str, str], Path]) -> None:
    log = recorded(
        "raising",
        "import graphscope as torch\nw = torch.ones(2)\ntry:\n    torch.mm(w, w)\nexcept RuntimeError:\n    pass\n",
    )

    async def use(screen: Screen) -> None:
        await screen.press("n")
        await screen.shows("mm", "#heading")
        await screen.shows("none: the op raised an exception", "#inspector")

    drive(log, use)


@pytest.mark.slow
def test_equal_steps_fold_as_a_loop_at_the_header_of_the_first(recorded: Callable[[str, str], Path]) -> None:
    source = "import graphscope as gs\nw = gs.ones(3, requires_grad=True)\n"
    log = recorded("equal", source + "for t in range(600):\n    loss = (w * w).sum()\n    loss.backward()\n")

    async def use(screen: Screen) -> None:
        await screen.shows("step 1", "#tape")
        await screen.type(f"goto {load(log).end // 2}")
        await screen.press("home", "down", "l")
        await screen.shows("600× ", "#tape")
        assert "step 2" not in screen.part("#tape")
        await screen.press("l")
        await screen.shows("step 2", "#tape")

    drive(log, use)


@pytest.mark.slow
def test_a_closed_loop_of_steps_shows_the_first_of_them_whole(recorded: Callable[[str, str], Path]) -> None:
    source = "import graphscope as gs\nw = gs.ones(3, requires_grad=True)\n"
    log = recorded("whole", source + "for t in range(40):\n    loss = (w * w).sum()\n    loss.backward()\n")
    first, *others = ops(load(log), "mul")

    async def use(screen: Screen) -> None:
        def marked() -> str:
            return next(line for line in screen.part("#tape").split("\n") if UNICODE.current in line)

        await screen.type(f"goto {others[-1]}")
        await screen.press("home", "down", "l")
        await screen.shows("40× ", "#tape")
        await screen.type(f"goto {first}")
        assert "mul" in marked()
        assert "40× " not in marked(), "the last line of the turn tells of the others"
        await screen.type(f"goto {others[3]}")
        assert "40× " in marked(), "where others are folded away"
        await screen.press("home", "down", "z")
        assert "step 0" in marked()
        assert "40× " in marked()

    drive(log, use)


@pytest.mark.slow
def test_what_libraries_made_is_folded_beneath_the_line_and_shown_by_a_key(
    recorded: Callable[[str, str], Path],
) -> None:
    source = """\
import random
import graphscope as gs

class Ball:
    def __init__(self):
        self.w = gs.ones(3, requires_grad=True)
        self.v = self.w * 2.0
        self.u = self.v * 3.0
        self.t = self.u.sum()

ball = Ball()
for turn in range(30):
    x = ball.t * 2.0
"""
    log = recorded("ball", source)

    async def use(screen: Screen) -> None:
        await screen.shows("parameters made  self.w = gs.ones", "#tape")
        assert screen.now == 4, "one begins behind what makes it"
        before = len(screen.main.query_one(Tape).lines)
        await screen.press("J")
        assert len(screen.main.query_one(Tape).lines) == before + 4
        await screen.press("J")
        assert len(screen.main.query_one(Tape).lines) == before

    drive(log, use)
