"""What people are used to of screens in a terminal: palette, themes, keys of their own, the mouse, the clipboard."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from graphscope.tui.chosen_theme import chosen_theme, keep_theme
from tests.tui.terminal import PATIENCE, Terminal

LEFT = 0
MOVED = 32
UP, DOWN = 64, 65


def look_at(terminal: Terminal, log: Path, name: str = "a.gscope", variables: str = "") -> str:
    """Open a copy of a log in its terminal."""
    folder = terminal.folder / name
    if not folder.exists():
        shutil.copytree(log, folder)
        (terminal.folder / ".config" / "graphscope").mkdir(parents=True, exist_ok=True)
        (terminal.folder / ".config" / "graphscope" / "tour-seen").touch()
    terminal.clear()
    terminal.run(f"{variables} graphscope open {name}; echo status $?")
    return terminal.drawn("q quit", "loss ")


def leave(terminal: Terminal) -> None:
    terminal.press("q")
    terminal.shows("status 0")


def mouse(terminal: Terminal, button: int, x: int, y: int, *, ends: bool = True) -> None:
    """What a terminal sends of its mouse."""
    terminal.type(f"\x1b[<{button};{x + 1};{y + 1}M" + f"\x1b[<{button};{x + 1};{y + 1}m" * ends)


def heading(terminal: Terminal) -> str:
    return terminal.text.split("\n")[0]


def until(terminal: Terminal, pattern: str) -> None:
    """Wait until the heading says something."""
    end = time.monotonic() + PATIENCE
    while not re.search(pattern, heading(terminal)):
        assert time.monotonic() < end, f"no {pattern!r}:\n{terminal.text}"


def gone(terminal: Terminal, text: str) -> None:
    """Wait until something is on the screen no more."""
    end = time.monotonic() + PATIENCE
    while text in (shown := terminal.text):
        assert time.monotonic() < end, shown


def looks(terminal: Terminal) -> str:
    """What is shown of the tape, with its colours."""
    return terminal.tmux("capture-pane", "-p", "-e").split("\n")[3]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: "x".join(map(str, size)))
def test_a_theme_is_chosen_in_the_palette_and_holds_for_other_logs(
    tmp_path: Path, training: Path, size: tuple[int, int]
) -> None:
    with Terminal(tmp_path, *size) as terminal:
        look_at(terminal, training)
        dark = looks(terminal)
        terminal.press("C-p")
        terminal.drawn("Search for commands")
        terminal.type("gruvbox")
        terminal.drawn("Theme gruvbox")
        terminal.press("Enter")
        gone(terminal, "Theme gruvbox")
        terminal.drawn("q quit")
        chosen = looks(terminal)
        assert chosen != dark
        leave(terminal)
        look_at(terminal, training, "b.gscope")
        assert looks(terminal) == chosen
        leave(terminal)
        look_at(terminal, training, "b.gscope", "TEXTUAL_THEME=graphscope-dark")
        assert looks(terminal) == dark
        leave(terminal)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=lambda size: "x".join(map(str, size)))
def test_the_mouse_does_what_it_points_at(tmp_path: Path, training: Path, size: tuple[int, int]) -> None:
    width, height = size
    with Terminal(tmp_path, *size) as terminal:
        lines = look_at(terminal, training).split("\n")
        y, row = next((y, line.split()[1]) for y, line in enumerate(lines) if re.match(r"│.. *\d+ +● +tanh", line))
        mouse(terminal, LEFT, 12, y)
        until(terminal, rf"#{row} tanh")
        x, y = next((line.index("4 about"), y) for y, line in enumerate(lines) if "4 about" in line)
        mouse(terminal, LEFT, x + 3, y)
        terminal.shows("bytes ")
        y = next(y for y, line in enumerate(lines) if re.search(r" #0\.\.#\d+ *$", line))
        mouse(terminal, UP, width // 2, y)
        terminal.shows(" #1")  # a part of the run
        mouse(terminal, DOWN, width // 2, y)
        terminal.shows(" #0..#")
        mouse(terminal, LEFT, width - 1, y)
        until(terminal, "step 2")
        if height < 40:  # else all fits
            terminal.press("Z", "Home")
            before = terminal.drawn("q quit").split("\n")[2][:30]
            mouse(terminal, DOWN, 10, 6)
            assert terminal.drawn("q quit").split("\n")[2][:30] != before
        border = lines[10].index("││")
        mouse(terminal, LEFT, border, 10, ends=False)
        mouse(terminal, MOVED, border - 8, 10, ends=False)
        terminal.type(f"\x1b[<{LEFT};{border - 7};11m")
        assert abs(terminal.drawn("q quit").split("\n")[10].index("││") - (border - 8)) <= 1
        leave(terminal)


@pytest.mark.slow
def test_what_is_copied_comes_to_the_terminal_what_is_pasted_is_carried_out_and_keys_are_ones_own(
    terminal: Terminal, training: Path
) -> None:
    keys = terminal.folder / "keys.toml"
    keys.write_text('"screen.search" = "ctrl+f"\n', encoding="utf-8")
    terminal.tmux("set-option", "-g", "set-clipboard", "on")
    look_at(terminal, training, variables=f"GRAPHSCOPE_KEYS={keys}")
    terminal.shows("^f search")
    terminal.press("C-f")
    terminal.type("tanh")
    terminal.press("Enter")
    terminal.shows("n N Esc")
    terminal.press("Escape")
    gone(terminal, "n N Esc")
    terminal.press("Y")
    terminal.drawn("line of source: h = torch.mm(x, W).tanh()")
    terminal.press("l")
    terminal.shows("Copied the line of source")
    end = time.monotonic() + PATIENCE
    while (copied := held(terminal)) != "h = torch.mm(x, W).tanh()":
        assert time.monotonic() < end, copied
    terminal.press(":")
    terminal.shows("tab complete")
    terminal.tmux("set-buffer", "p 6 * 7\np len(labels)\n")
    terminal.tmux("paste-buffer", "-p")
    terminal.shows("(gs) p 6 * 7", " 42", "(gs) p len(labels)", " 4\n")
    terminal.press("Escape")
    terminal.shows("q quit")
    leave(terminal)


def held(terminal: Terminal) -> str:
    """What the terminal has on its clipboard."""
    try:
        return terminal.tmux("show-buffer")
    except subprocess.CalledProcessError:  # nothing yet
        return ""


def test_a_theme_is_kept_beside_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    file = tmp_path / "settings" / "theme"
    assert chosen_theme(file) == ""
    keep_theme(file, "nord")
    assert chosen_theme(file) == "nord"
    monkeypatch.setenv("TEXTUAL_THEME", "graphscope-light")
    assert chosen_theme(file) == "graphscope-light"
    monkeypatch.delenv("TEXTUAL_THEME")
    file.write_bytes(b"\xff\xfe")
    assert chosen_theme(file) == ""
    keep_theme(file / "below", "nord")  # a file is in the way: nothing is kept, and nothing is raised
    assert chosen_theme(None) == ""
