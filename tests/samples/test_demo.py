"""`make demo`: a walk where there is no terminal, the debugger itself where there is one."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
DEMO = [sys.executable, str(ROOT / "samples" / "demo.py")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No history and no `.graphscoperc` of whoever runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.slow
def test_without_a_terminal_it_plays_a_walk() -> None:
    result = subprocess.run(DEMO, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    assert "***" not in result.stdout, "every command of the walk is understood"
    assert "(in the rule of #" in result.stdout
    assert result.stdout.rstrip().endswith("(gs) q")
    assert ElementTree.parse(ROOT / "build" / "rnn_cell.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_in_a_terminal_it_opens_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    monkeypatch.setenv("TERM", "xterm-256color")
    ours, theirs = pty.openpty()
    with _running(theirs) as process:
        _until(ours, "rnn_cell.py")
        _until(ours, " LIVE ")
        os.write(ours, b"q")
        _until(ours, "has not ended")
        os.write(ours, b"y")
        seen = _until(ours, "--console")
        assert process.wait(timeout=120) == 0
        os.close(ours)
    assert "This was samples/rnn_cell.py" in seen


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_in_a_terminal_that_draws_nothing_it_opens_the_console(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    monkeypatch.setenv("TERM", "dumb")
    ours, theirs = pty.openpty()
    with _running(theirs) as process:
        seen = _until(ours, "(gs) ")
        os.write(ours, b"b op:tanh backward\nc\n")
        seen += _until(ours, "(breakpoint 1: op:tanh backward)")
        os.write(ours, b"q\n")
        _until(ours, "y stops it")
        os.write(ours, b"y\n")
        assert process.wait(timeout=120) == 0
        os.close(ours)
    assert "b op:tanh backward" in seen
    assert "> #0 randn (1x10 float32) forward rnn_cell.py:7 x" in seen
    assert "tanh (20x1 float32) backward rnn_cell.py:14 next_h" in seen


@contextmanager
def _running(terminal: int) -> Iterator[subprocess.Popen[bytes]]:
    """The demo at a terminal; ended where the test fails."""
    with subprocess.Popen(DEMO, stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True) as process:
        os.close(terminal)
        try:
            yield process
        finally:
            process.kill()


def _until(terminal: int, text: str) -> str:
    """What a terminal shows up to (and with) a text."""
    seen = ""
    while text not in seen:
        assert select.select([terminal], [], [], 120)[0], f"{text!r} did not come after {seen[-2000:]!r}"
        seen += os.read(terminal, 4096).decode("utf-8", "replace")
    return seen
