"""The map as a real drawing, in terminals that show images, and in those that do not."""

from __future__ import annotations

import itertools
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from textual.color import Color
from textual.geometry import Size

from graphscope.eventlog.reader import load
from graphscope.exporters.box_styles import HIGHLIGHTED
from graphscope.exporters.graphviz_program import program
from graphscope.tui.app import GraphscopeApp
from graphscope.tui.map import kitty
from graphscope.tui.map.layers import neighbourhood
from graphscope.tui.map.map import Map
from graphscope.tui.map.path_targets import to_loss
from graphscope.tui.map.terminal_graphics import Terminal
from tests.tui.image_terminal import (
    CELL,
    KITTY,
    MUTE,
    OLD_KITTY,
    PLACEHOLDER,
    PLAIN,
    SIXEL,
    ImageTerminal,
    sixel_pixels,
)
from tests.tui.screens import PATIENCE, Screen, drive

pytest.importorskip("PIL", reason="drawings need the extra `images`")

from PIL import Image

from graphscope.tui.map.drawing import draw, wish_for
from graphscope.tui.map.sixel import show

PAPER, INK = Color(17, 21, 28), Color(215, 221, 230)
Opened = Callable[..., ImageTerminal]


@pytest.fixture
def opened(training: Path, tmp_path: Path) -> Iterator[Opened]:
    made: list[ImageTerminal] = []

    def start(*words: object, **wishes: object) -> ImageTerminal:
        made.append(ImageTerminal(training, tmp_path, *words, **wishes))  # type: ignore[arg-type]
        made[-1].shows("#0 x")
        return made[-1]

    yield start
    for terminal in made:
        terminal.close()


def product(log: Path) -> int:
    """The row of the first product."""
    return load(log).graph.select("op:mm forward")[0].row


def drawn(log: Path, row: int, radius: int, room: Size, terminal: Terminal) -> tuple[object, np.ndarray]:
    """The drawing around a row, and its pixels."""
    graph = load(log).graph
    nodes = neighbourhood(graph.node(row), radius).nodes
    drawing = draw(wish_for(graph, nodes, row, set(), room, PAPER, INK), terminal)
    return drawing, sixel_pixels(drawing.shown.lines[0].encode())


@pytest.mark.slow
@pytest.mark.parametrize("room", [Size(46, 13), Size(90, 36), Size(12, 4)], ids=str)
@pytest.mark.parametrize("radius", [1, 4])
def test_a_drawing_has_each_box_where_it_says(training: Path, room: Size, radius: int) -> None:
    row = product(training)
    drawing, pixels = drawn(training, row, radius, room, Terminal("sixel", CELL))
    painted = np.abs(pixels.astype(int) - PAPER.rgb).sum(axis=2) > 30

    assert (drawing.width, drawing.height) <= (room.width, room.height)
    assert pixels.shape == (drawing.height * CELL[1], drawing.width * CELL[0], 3)
    assert not (pixels == (255, 0, 255)).all(axis=2).any()  # all of it is painted
    assert set(drawing.boxes) == set(neighbourhood(load(training).graph.node(row), radius).nodes)
    inside = Size(drawing.width, drawing.height).region
    middles = {row: (box.x + box.width // 2, box.y + box.height // 2) for row, box in drawing.boxes.items()}
    assert middles[row] in inside
    assert drawing.cut or all(middle in inside for middle in middles.values())
    for number, box in drawing.boxes.items():
        if middles[number] in inside:
            assert drawing.at(*middles[number]) == box
            left, top = max(box.x, 0) * CELL[0], max(box.y, 0) * CELL[1]
            part = painted[top : (box.y + box.height) * CELL[1], left : (box.x + box.width) * CELL[0]]
            assert part.mean() > 0.1
    assert 0.02 < painted.mean() < 0.9


def test_a_drawing_highlights_what_lies_on_a_path(training: Path) -> None:
    graph = load(training).graph
    node = graph.select("op:tanh backward")[0]
    nodes = neighbourhood(node, 6).nodes
    paths = to_loss(node).paths
    assert paths is not None
    assert paths.rows <= nodes.keys()
    wish = wish_for(graph, nodes, node.row, set(), Size(90, 36), PAPER, INK, paths)
    strong = [line for line in wish.source.splitlines() if HIGHLIGHTED["color"] in line]
    arrows = {frozenset(re.findall(r"n\d+", line)) for line in strong if "->" in line}
    boxes = {re.findall(r"n\d+", line)[0] for line in strong if "->" not in line}

    rows = sorted(paths.rows)
    assert arrows == {frozenset((f"n{one}", f"n{other}")) for one, other in itertools.pairwise(rows)}
    assert boxes == {f"n{row}" for row in rows if row != node.row}  # that of the current node is black
    plain = wish_for(graph, nodes, node.row, set(), Size(90, 36), PAPER, INK)
    assert HIGHLIGHTED["color"] not in plain.source


@pytest.mark.slow
def test_a_drawing_keeps_to_what_the_terminal_can_show(training: Path) -> None:
    _, pixels = drawn(
        training, product(training), 4, Size(90, 36), Terminal("sixel", CELL, colours=16, largest=(300, 200))
    )

    assert pixels.shape[0] <= 200
    assert pixels.shape[1] <= 300
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) <= 16


@pytest.mark.parametrize("height", [1, 6, 20, 47])
def test_sixel_says_the_picture(height: int) -> None:
    random = np.random.default_rng(height)
    palette = random.integers(0, 256, (5, 3), dtype=np.uint8)
    picture = palette[np.repeat(random.integers(0, 5, (height, 40)), random.integers(1, 9, 40), axis=1)]
    shown = show(Image.fromarray(picture), 30, 1, 64, PAPER)
    read = sixel_pixels(shown.lines[0].encode())

    assert read.shape == picture.shape
    assert np.abs(read.astype(int) - picture).max() <= 3  # shares are whole hundredths, as the terminal has them


def test_the_marks_that_number_lines_lie_above_letters() -> None:
    marks = kitty._ROWS

    assert list(marks) == sorted(set(marks))
    assert {unicodedata.combining(mark) for mark in marks} == {230}
    assert not any(map(unicodedata.decomposition, marks))


@pytest.mark.slow
def test_in_a_sixel_terminal_the_drawing_follows_the_node(opened: Opened) -> None:
    terminal = opened(SIXEL)
    terminal.press("D")
    terminal.until(lambda: terminal.sixels, "a drawing")
    terminal.press("n")
    terminal.until(lambda: not np.array_equal(terminal.sixels[-1], terminal.sixels[0]), "the next drawing")
    for pixels in terminal.sixels:
        assert 100 < pixels.shape[1] <= 50 * CELL[0]
        assert 100 < pixels.shape[0] <= 16 * CELL[1]
        assert np.abs(pixels[0, 0] - np.array(PAPER.rgb)).max() <= 2
        assert 0.02 < (np.abs(pixels - np.array(PAPER.rgb)).sum(axis=2) > 30).mean() < 0.5
    terminal.press("?")
    terminal.shows("Esc closes")
    before = len(terminal.sixels)
    terminal.press("\x1b")
    terminal.until(lambda: len(terminal.sixels) > before, "the drawing again, where a dialog was")
    terminal.shows("D boxes")
    terminal.press("D")
    terminal.shows("D drawing")
    terminal.press("q")
    terminal.until(lambda: terminal.process.poll() == 0, "the end")


@pytest.mark.slow
def test_in_kitty_each_drawing_is_shown_by_placeholders_and_forgotten(opened: Opened) -> None:
    terminal = opened(KITTY, "xterm-kitty")
    terminal.press("D")
    terminal.until(lambda: terminal.kitty_images, "a drawing")
    number, (pixels, about) = next(iter(terminal.kitty_images.items()))
    columns, rows = int(about["c"]), int(about["r"])
    assert about["U"] == "1"
    assert pixels.shape == (rows * CELL[1], columns * CELL[0], 3)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 10
    name = f"\x1b[38;2;{number >> 16};{number >> 8 & 255};{number & 255};"
    painted = f"{name}[^m]*m{PLACEHOLDER}(.){kitty._ROWS[0]}{PLACEHOLDER}{{{columns - 1}}}".replace("[38", r"\[38")
    terminal.until(lambda: len(re.findall(painted, terminal.out.decode(errors="replace"))) >= rows, "all its lines")
    found = re.findall(painted, terminal.out.decode(errors="replace"))
    assert found[:rows] == list(kitty._ROWS[:rows])
    terminal.press("n")
    terminal.until(lambda: f"a=d,d=I,q=2,i={number}\x1b".encode() in terminal.out, "that the first is forgotten")
    assert len(terminal.kitty_images) == 2
    terminal.press("q")
    last = max(terminal.kitty_images)
    terminal.until(lambda: f"a=d,d=I,q=2,i={last}\x1b".encode() in terminal.out, "that the last is forgotten")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "kind"),
    [(PLAIN, "xterm-256color"), (MUTE, "xterm-256color"), (OLD_KITTY, "xterm-kitty")],
    ids=["plain", "mute", "old kitty"],
)
def test_a_terminal_without_images_is_told_so(opened: Opened, answers: dict[bytes, bytes], kind: str) -> None:
    terminal = opened(answers, kind)
    terminal.press("D")
    terminal.shows("This terminal shows no images")
    assert kind == "xterm-kitty" or b"\x1b_G" not in terminal.out  # some print it
    terminal.press("n")
    terminal.shows("#1 labels")


@pytest.mark.slow
def test_keys_are_answered_while_graphviz_is_busy_and_what_is_old_is_not_shown(
    opened: Opened, training: Path, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    (tmp_path / "bin").mkdir()
    dot = tmp_path / "bin" / "dot"
    wait = f"while test -e {shlex.quote(str(hold))}; do sleep 0.02; done"
    dot.write_text(f'#!/bin/sh\n{wait}\nexec {shlex.quote(program().path)} "$@"\n', encoding="utf-8")
    dot.chmod(0o755)
    terminal = opened(SIXEL, path=f"{dot.parent}:")
    terminal.press("D")
    terminal.shows("D boxes")
    for number, name in ((1, "labels"), (2, "W"), (product(training), "mm")):
        terminal.press("n")
        terminal.shows(f"#{number} {name}")
    assert not terminal.sixels
    hold.unlink()
    terminal.until(lambda: terminal.sixels, "a drawing")
    terminal.press("?")
    terminal.shows("Esc closes")
    before = len(terminal.sixels)
    terminal.press("\x1b")
    terminal.until(lambda: len(terminal.sixels) > before, "the drawing again, where a dialog was")
    assert all(np.array_equal(pixels, terminal.sixels[0]) for pixels in terminal.sixels)


@pytest.mark.slow
def test_where_nothing_can_be_drawn_one_sentence_says_what_to_do(
    product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GraphscopeApp, "NOTIFICATION_TIMEOUT", PATIENCE)  # so that it stands until it was looked at

    async def use(screen: Screen) -> None:
        await screen.press("m")
        await screen.shows("D drawing", "#map")
        await screen.press("m", "D")
        await screen.shows("This terminal shows no images")  # behind a browser nobody can be asked
        assert screen.main.query_one(Map).display
        assert "D drawing" not in screen.part("#map")
        monkeypatch.setitem(sys.modules, "PIL", None)
        await screen.press("D")
        await screen.shows("Drawings need Pillow: pip install pillow")

    drive(product, use, size=(120, 30))
