"""The screen in a real terminal, and what happens where there is none."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.terminal import PATIENCE, ROOT, Terminal


def own(log: Path, folder: Path) -> Path:
    """A copy of a log that others look at, too: where one leaves it is kept with it."""
    return shutil.copytree(log, folder / log.name)


@pytest.mark.slow
def test_start_step_break_in_backward_resize_quit(terminal: Terminal, training: Path, tmp_path: Path) -> None:
    terminal.run(f"graphscope open {own(training, tmp_path)}; echo status $?")
    terminal.shows("tape", "C run back", "x = torch.randn(4")
    terminal.press("n")
    terminal.shows("#1 labels")
    terminal.press("p")
    terminal.shows("#0 x")
    terminal.press(":")
    terminal.type("b op:tanh backward")
    terminal.press("Enter")
    terminal.shows("Breakpoint 1 at op:tanh backward")
    terminal.press("Escape")
    terminal.shows("C run back")  # the keys of the tape again
    terminal.press("c")
    terminal.shows("TanhBackward h", "backward")
    terminal.resize(140, 45)
    terminal.shows("norm", "TanhBackward h")
    terminal.press("q")
    terminal.shows("status 0")


LIVE = """\
import graphscope as torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
h = (w * w).tanh()
h.sum().backward()
print("gradient", w.grad.tolist())
raise SystemError("on purpose")
"""


@pytest.mark.slow
def test_debug_runs_the_program_changes_a_gradient_and_stays_after_the_crash(
    terminal: Terminal, tmp_path: Path
) -> None:
    script = tmp_path / "live.py"
    script.write_text(LIVE, encoding="utf-8")
    terminal.run(f"graphscope debug -b 'op:tanh backward' {script}; echo status $?")
    terminal.shows("live.py", " LIVE ", "#0 w")
    terminal.press("n")
    terminal.shows("#1 mul")
    terminal.press("c")
    terminal.shows("TanhBackward", "breakpoint 1")
    terminal.press("=")
    terminal.shows("set grad =")
    terminal.type("0 * grad")
    terminal.press("Enter")
    terminal.shows("edited")
    terminal.press("c")
    terminal.shows("failed", "SystemError: on purpose")
    terminal.press("t")
    terminal.shows("gradient [0.0, 0.0]")
    terminal.resize(70, 20)
    terminal.shows("gradient [0.0, 0.0]")
    terminal.press("C-t")
    terminal.shows("q quit")
    terminal.press("q")
    terminal.shows("status 1")


@pytest.mark.slow
def test_the_console_is_kept_for_who_asks_for_it(terminal: Terminal, product: Path, tmp_path: Path) -> None:
    terminal.run(f"graphscope open --console {own(product, tmp_path)}; echo status $?")
    terminal.shows("(gs)", "> #0 tensor")
    terminal.type("q")
    terminal.press("Enter")
    terminal.shows("status 0")


@pytest.mark.slow
def test_what_a_terminal_is_said_to_be(terminal: Terminal, product: Path, tmp_path: Path) -> None:
    log = own(product, tmp_path)
    for given, said in (("TERM=dumb", "TERM is dumb"), ("-u TERM", "TERM is unset")):
        terminal.clear()
        terminal.run(f"env {given} graphscope open {log}; echo status $?")
        terminal.shows(said, "(gs)")
        terminal.run("q")
        terminal.shows("status 0")
    for given in ("TERM=vt100", "TERM=xterm-mono", "-u COLORTERM", "NO_COLOR=1", "TEXTUAL_COLOR_SYSTEM=none"):
        terminal.clear()
        terminal.run(f"env {given} graphscope open {log}; echo status $?")
        terminal.shows("#0 a", "q quit")
        terminal.press("q")
        terminal.shows("status 0")


@pytest.mark.slow
def test_without_a_terminal_the_console_answers(product: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graphscope", "open", str(own(product, tmp_path))],
        input="n\np 6 * 7\nq\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        check=False,
    )

    assert done.returncode == 0
    assert "> #1 tensor" in done.stdout
    assert "42" in done.stdout


def test_history_is_kept_between_sessions(tmp_path: Path) -> None:
    from graphscope.tui.prompt.history import History

    first = History(tmp_path / "history")
    for line in ("n", "p value", "p value"):
        first.add(line)
    second = History(tmp_path / "history")
    walked: Callable[[int], str] = lambda by: second.walk(by, "typed")  # noqa: E731

    assert [walked(-1), walked(-1), walked(-1), walked(1), walked(1)] == ["p value", "n", "n", "p value", "typed"]


@pytest.mark.slow
def test_behind_textual_serve_a_browser_shows_the_same(product: Path, tmp_path: Path) -> None:
    """What `textual serve` starts has pipes for a terminal, and speaks in packets: a letter, a length, and bytes."""
    environment = {
        **os.environ,
        "TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver",
        "COLUMNS": "80",
        "ROWS": "24",
    }
    command = [sys.executable, "-m", "graphscope", "open", str(own(product, tmp_path))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"__GANGLION__\n"

        def until(text: bytes) -> None:
            seen = b""
            while text not in seen:
                _, size = struct.unpack(">cI", process.stdout.read(5))  # type: ignore[union-attr]
                seen += process.stdout.read(size)  # type: ignore[union-attr]

        until(b"#0 ")
        for key, shown in (("n", b"#1 "), ("q", b'"exit"')):
            process.stdin.write(struct.pack(">cI", b"D", len(key)) + key.encode())
            process.stdin.flush()
            until(shown)
    assert process.returncode == 0
