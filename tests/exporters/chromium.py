"""A page in headless Chromium, with real clicks and keys: told over a pipe, so that no package is needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}

FRAME = 1_000_000

START = """
import os, sys
for place, number in enumerate(map(int, sys.argv[1:3])):
    os.dup2(number, 100 + place)
for place in range(2):
    os.dup2(100 + place, 3 + place)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Becomes the browser, which reads commands from file 3 and writes answers to file 4."""


def program() -> str | None:
    """The browser of this machine; `GRAPHSCOPE_CHROMIUM` names another."""
    return os.environ.get("GRAPHSCOPE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page that is open."""

    def __init__(self, to_browser: int, from_browser: BinaryIO) -> None:
        self._to, self._from = to_browser, from_browser
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        """What the browser has told unasked: what a page logs, what it asks for."""

    def open(self, page: Path | str, features: Sequence[Mapping[str, str]] = ()) -> None:
        """Load a file, or an address, for a person who has set some features of media."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setEmulatedMedia", features=list(features))
        self.ask("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def ask(self, method: str, **given: Any) -> Any:
        """What the browser answers."""
        self._number += 1
        told = {"id": self._number, "method": method, "params": given}
        if self._session is not None:
            told["sessionId"] = self._session
        os.write(self._to, json.dumps(told).encode() + b"\0")
        while (answer := self._message()).get("id") != self._number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def frame(self) -> Page:
        """The first frame of the page that is shut off from it, as a page of its own."""
        found = self.ask("Target.getTargets", filter=[{"type": "iframe"}])["targetInfos"]
        other = Page(self._to, self._from)
        other._number = self._number + FRAME  # answers to both are told apart by their numbers
        other._session = self.ask("Target.attachToTarget", targetId=found[0]["targetId"], flatten=True)["sessionId"]
        return other

    def told(self, *methods: str) -> list[dict[str, Any]]:
        """The events of some kinds so far."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def click(self, selector: str) -> None:
        """Press the mouse on the middle of an element."""
        middle = "(box => [box.x + box.width / 2, box.y + box.height / 2])"
        x, y = self.value(f"{middle}(document.querySelector({selector!r}).getBoundingClientRect())")
        self.press(x, y)

    def press(self, x: float, y: float, times: int = 1) -> None:
        """Press the mouse somewhere, once or twice."""
        for time in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=time)

    def key(self, name: str) -> None:
        """Press a key."""
        given = {"key": name, "windowsVirtualKeyCode": KEYS.get(name, ord(name[0].upper()))}
        for kind in ("rawKeyDown" if name in KEYS else "keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, **given)

    def _message(self) -> dict[str, Any]:
        text = bytearray()
        while (letter := self._from.read(1)) != b"\0":
            assert letter, "the browser has ended"
            text += letter
        found: dict[str, Any] = json.loads(text)
        if "method" in found:
            self.events.append(found)
        return found


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A browser that keeps its things in a folder and is ended at the end."""
    name = program()
    assert name is not None
    read_commands, to_browser = os.pipe()
    from_browser, write_answers = os.pipe()
    words = [
        name,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    ]
    given = [str(read_commands), str(write_answers), *words, "--window-size=1300,900"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *given], pass_fds=(read_commands, write_answers), stderr=subprocess.DEVNULL
    )
    os.close(read_commands)
    os.close(write_answers)
    try:
        with os.fdopen(from_browser, "rb") as answers:
            yield Page(to_browser, answers)
    finally:
        process.terminate()
        process.wait()
        os.close(to_browser)
