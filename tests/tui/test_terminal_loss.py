"""A terminal that is gone, with a signal and without: the screen ends, and what was recorded is kept."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from tests.tui.image_terminal import PATIENCE, ROOT
from tests.tui.test_leaving import alive
from tests.tui.test_terminal import own

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")]

WAITING = """\
import os, pathlib
import graphscope as gs
pathlib.Path("pid").write_text(str(os.getpid()))
x = gs.ones(2)
y = x * 2
"""
PRINTING = """\
while True:
    print("x" * 1000)
"""
SIGNALLED = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


class Terminal:
    """A terminal with a program in it; `signalled` tells the program when it is closed.

    Args:
        folder: Where the program runs.
        words: The program, run by Python.
        signalled: Whether its end is told by SIGHUP.
    """

    def __init__(self, folder: Path, *words: str, signalled: bool) -> None:
        import pty

        self._end, inner = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TERM": "xterm-256color"}
        began = [sys.executable, "-c", SIGNALLED] if signalled else []
        self.process = subprocess.Popen(
            [*began, sys.executable, *words], cwd=folder, env=environment, start_new_session=True,
            stdin=inner, stdout=inner, stderr=inner,
        )  # fmt: skip
        os.close(inner)

    def shows(self, text: str) -> None:
        """Wait until a text was painted."""
        seen = b""
        while text.encode() not in seen:
            assert select.select([self._end], [], [], PATIENCE)[0], seen[-2000:]
            seen += os.read(self._end, 1 << 16)

    def press(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def vanish(self) -> int:
        """Be gone; the status with which the program ends."""
        os.close(self._end)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()


@pytest.mark.parametrize("signalled", [False, True], ids=["silent", "told"])
@pytest.mark.parametrize("more", ["", PRINTING], ids=["waiting", "printing"])
def test_a_program_ends_and_its_recording_is_kept(tmp_path: Path, more: str, signalled: bool) -> None:
    (tmp_path / "program.py").write_text(WAITING + more, encoding="utf-8")
    terminal = Terminal(tmp_path, "-m", "graphscope", "debug", "program.py", signalled=signalled)
    terminal.shows(" LIVE ")
    if more:
        terminal.press("ct")
        terminal.shows("xxxxxxxx")
    assert terminal.vanish() == 0
    assert not alive(tmp_path)
    assert len(load(tmp_path / "program.gscope")) == (2 if more else 1)


@pytest.mark.parametrize("signalled", [False, True], ids=["silent", "told"])
def test_a_recording_is_left(product: Path, tmp_path: Path, signalled: bool) -> None:
    terminal = Terminal(tmp_path, "-m", "graphscope", "open", str(own(product, tmp_path)), signalled=signalled)
    terminal.shows("#0 ")
    assert terminal.vanish() == 0
