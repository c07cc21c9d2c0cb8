"""A real terminal of a size, driven through tmux: keys go in, what it shows comes out as text."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds after which what was awaited has not come."""

_STILL = 0.4
"""Seconds without a change after which a screen is taken to be drawn."""


class Terminal:
    """A terminal with a shell in a folder; that folder is also the home of whoever sits there."""

    def __init__(self, folder: Path, width: int = 100, height: int = 30) -> None:
        self.folder = folder
        self._socket = str(folder / "tmux")
        commands = folder / ".commands"
        commands.mkdir(exist_ok=True)
        command = commands / "graphscope"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m graphscope "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        variables: Mapping[str, str] = {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "LC_ALL": "C.UTF-8",
            "PS1": "$ ",
        }
        given = [f"{name}={value}" for name, value in variables.items()]
        shell = ["env", "-u", "COLUMNS", "-u", "LINES", *given, "sh", "-i"]
        size = ("-x", str(width), "-y", str(height))
        self.tmux("-f", os.devnull, "new-session", "-d", *size, "-c", str(folder), *shell)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words], capture_output=True, text=True, timeout=PATIENCE, check=True
        )
        return done.stdout

    def run(self, line: str) -> None:
        """Type a line for the shell."""
        self.type(line)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys, called as tmux calls them."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    @property
    def text(self) -> str:
        return self.tmux("capture-pane", "-p")

    def clear(self) -> None:
        """Let the shell clear the screen, and wait until it has."""
        self.shows("$")
        self.run("clear")
        end = time.monotonic() + PATIENCE
        while self.text.strip() != "$":
            assert time.monotonic() < end, f"it is not cleared; the terminal shows\n{self.text}"
            time.sleep(0.05)

    def shows(self, *wanted: str) -> str:
        """Wait until all of these are on the screen."""
        end = time.monotonic() + PATIENCE
        while missing := [each for each in wanted if each not in (text := self.text)]:
            assert time.monotonic() < end, f"{missing} has not come; the terminal shows\n{text}"
            time.sleep(0.05)
        return text

    def drawn(self, *wanted: str) -> str:
        """Wait until all of these are on the screen, and nothing moves on it any more."""
        text = self.shows(*wanted)
        still = time.monotonic()
        end = still + PATIENCE
        while time.monotonic() < still + _STILL:
            assert time.monotonic() < end, f"the terminal does not come to rest; it shows\n{text}"
            time.sleep(0.05)
            newer = self.text
            if newer != text:
                text, still = newer, time.monotonic()
        return self.shows(*wanted) if any(each not in text for each in wanted) else text

    def close(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, timeout=PATIENCE, check=False)
