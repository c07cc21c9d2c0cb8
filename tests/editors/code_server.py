"""VS Code with the extension, in headless Chromium: what a person presses, types and reads."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tests.dap.talking import check, spoken
from tests.editors.processes import MARK, check_none_left
from tests.exporters.chromium import Page, browser, program

ROOT: Final = Path(__file__).parents[2]
EXTENSION: Final = ROOT / "editors" / "vscode"
LISTENING: Final = """\
#!/bin/sh
if [ "$1 $2 $3" = "-m graphscope dap" ]; then
    SPOKEN="{folder}/$$" && export SPOKEN && mkdir "$SPOKEN" && exec "{python}" "{adapter}"
fi
exec "{python}" "$@"
"""
"""A Python whose debug adapters keep what is spoken, each in a folder of its own."""

PATIENCE: Final = 60.0
"""Seconds until what was waited for is held to be missing."""

RESTING: Final = 3.0
"""Seconds until a mouse that rests on a word is moved again, or what moves is held to go on for ever."""

COLUMN: Final = 8
"""About the width of a letter."""

MOVES: Final = "document.getAnimations().filter(one => one.effect.getComputedTiming().iterations < Infinity)"
"""What moves in a page and will come to rest, as what fades in does."""

KEYS: Final = {"F1": 112, "F5": 116, "F9": 120, "F10": 121, "F11": 122, "Enter": 13, "Escape": 27}

SETTINGS: Final = {
    "security.workspace.trust.enabled": False,
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
    "chat.disableAIFeatures": True,
    "debug.inlineValues": "on",
    "editor.minimap.enabled": False,
}


def server() -> Path | None:
    """The program of the server, where `GRAPHSCOPE_CODE_SERVER` names the folder that `code_server.sh` has made."""
    folder = os.environ.get("GRAPHSCOPE_CODE_SERVER")
    return Path(folder, "node_modules", "code-server", "out", "node", "entry.js") if folder else None


def missing() -> str:
    """What lacks here to drive the editor; empty where nothing does."""
    if server() is None:
        return "GRAPHSCOPE_CODE_SERVER names no code-server"
    return "" if program() and shutil.which("npm") else "Chromium or npm is missing"


class Editor:
    """A window of the editor.

    Args:
        page: The page that shows it.
        pictures: A folder for pictures of it.
        name: Bears witness in all processes that it starts.
    """

    def __init__(self, page: Page, pictures: Path, name: str) -> None:
        self.page = page
        self.name = name
        self._pictures = pictures

    def wait(self, expression: str) -> Any:
        """Wait until an expression of the page is true; its value."""
        found = self._soon(expression, PATIENCE)
        if not found:
            self.picture("missing")
            raise AssertionError(f"{expression} is not so; the window shows:\n{self.text()}")
        return found

    def _soon(self, expression: str, seconds: float) -> Any:
        """The value of an expression once it is true, or after so many seconds."""
        end = time.monotonic() + seconds
        while not (found := self.page.value(expression)) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def read(self, text: str) -> None:
        """Wait until a text can be read somewhere."""
        self.wait(f"document.body.innerText.replaceAll('\\u00a0', ' ').includes({json.dumps(text)})")

    def read_graph(self, *words: str) -> None:
        """Wait until the panel of the graph says all of some words."""
        frames = "document.querySelector('iframe.webview')?.contentDocument?.querySelector('#active-frame')"
        said = " && ".join(f"text.includes({json.dumps(word)})" for word in words)
        self.wait(f"(text => {said})({frames}?.contentDocument?.body.innerText ?? '')")

    def text(self, selector: str = "body") -> str:
        """What can be read in a part of the window."""
        found = self.page.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
        return str(found).replace("\u00a0", " ")

    def press(self, key: str) -> None:
        """Press a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.page.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])

    def type(self, text: str) -> None:
        """Type a text where the keyboard is."""
        self.page.ask("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click on an element, once it is there."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"!!{found}")
        self.page.press(*self._middle(found))

    def click_text(self, selector: str, text: str, times: int = 1) -> None:
        """Click on the first of some elements that says a text."""
        all_of = f"[...document.querySelectorAll({json.dumps(selector)})]"
        found = f"{all_of}.find(each => each.innerText.includes({json.dumps(text)}))"
        self.wait(f"!!{found}")
        self.page.press(*self._middle(found), times)

    def _middle(self, element: str) -> tuple[float, float]:
        middle = "(box => [box.x + box.width / 2, box.y + box.height / 2])"
        x, y = self.page.value(f"{middle}({element}.getBoundingClientRect())")
        return x, y

    def command(self, title: str) -> None:
        """Choose a command in the palette."""
        self.press("F1")
        self.wait("!!document.activeElement?.closest('.quick-input-widget')")
        self.type(title)
        self.wait(
            "[...document.querySelectorAll('.quick-input-list .monaco-list-row.focused')]"
            f".some(row => row.innerText.includes({json.dumps(title)}))"
        )
        self.press("Enter")

    def open(self, name: str) -> None:
        """Open a file of the folder."""
        self.click_text(".explorer-folders-view .monaco-list-row", name, times=2)
        self.wait(f"document.querySelector('.tab.active')?.innerText.includes({json.dumps(name)})")
        self.wait("document.querySelectorAll('.view-line').length > 1")
        self.stands("graphscope")

    def find(self, name: str) -> None:
        """Open a file of whatever folder of the workspace."""
        self.command("Go to File...")
        self.type(name)
        self.wait(
            "document.querySelector('.quick-input-list .monaco-list-row.focused')"
            f"?.innerText.includes({json.dumps(name)})"
        )
        self.press("Enter")
        self.wait(f"document.querySelector('.tab.active')?.innerText.includes({json.dumps(name)})")
        self.stands("graphscope")

    def go_to_line(self, line: int) -> None:
        """Put the cursor into a line."""
        self.command("Go to Line/Column")
        self.type(str(line))
        self.press("Enter")
        self.stands(f"Ln {line},")

    def add_breakpoint(self, line: int, condition: str = "") -> None:
        """Set a breakpoint at a line."""
        self.go_to_line(line)
        before = self.page.value(
            "document.querySelectorAll('.codicon-debug-breakpoint, .codicon-debug-breakpoint-conditional').length"
        )
        if condition:
            self.command("Debug: Add Conditional Breakpoint")
            self.wait("!!document.activeElement?.closest('.breakpoint-widget')")
            self.type(condition)
            self.press("Enter")
        else:
            self.press("F9")
        self.wait(
            "document.querySelectorAll('.codicon-debug-breakpoint, .codicon-debug-breakpoint-conditional').length"
            f" > {before}"
        )

    def hover(self, line: int, word: str, *words: str) -> None:
        """Wait until what is shown where the mouse rests on a word of a line says all of some words."""
        lines = "[...document.querySelectorAll('.view-line')]"
        lines += ".sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y)"
        spans = f"[...{lines}[{line - 1}].querySelectorAll('span span')]"
        place = f"""(() => {{
            for (const span of {spans}) {{
                const text = span.firstChild;
                const at = text?.data?.search(/\\b{word}\\b/) ?? -1;
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(text, at); range.setEnd(text, at + {len(word)});
                const box = range.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }}
        }})()"""
        x, y = self.wait(place)
        widget = "document.querySelector('.debug-hover-widget')"
        said = " && ".join(f"text.includes({json.dumps(word)})" for word in words)
        shown = f"(widget => widget?.checkVisibility() && (text => {said})(widget.innerText))({widget})"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for each in (x - COLUMN, x):  # a hand comes from beside it
                self.page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=each, y=y)
            if self._soon(shown, RESTING):
                return
        self.picture("missing")
        raise AssertionError(f"what is shown of {word} is {self.text('.debug-hover-widget')!r}")

    def say(self, line: str) -> None:
        """Type a line into the debug console."""
        self.click_text(".panel .action-label", "DEBUG CONSOLE")
        self.click(".repl-input-wrapper .monaco-editor")
        self.wait("!!document.activeElement?.closest('.repl-input-wrapper')")
        self.type(line)
        self.press("Enter")

    def stands(self, *words: str) -> None:
        """Wait until an item of the status bar says all of some words; of a session, until its keys are heard."""
        said = " && ".join(f"text.includes({json.dumps(word)})" for word in words)
        self.wait(f"[...document.querySelectorAll('.statusbar-item')].some(item => (text => {said})(item.innerText))")
        if words[0] in ("LIVE", "PAST"):
            self.wait("!!document.querySelector('[class*=codicon-debug-stackframe]')")

    def picture(self, name: str) -> None:
        """Keep a picture of the window, once nothing moves in it that comes to rest."""
        self._soon(f"{MOVES}.every(one => one.playState !== 'running')", RESTING)
        data = self.page.ask("Page.captureScreenshot", format="png")["data"]
        self._pictures.mkdir(parents=True, exist_ok=True)
        (self._pictures / f"{name}.png").write_bytes(base64.b64decode(data))


def packed_extension(folder: Path) -> Path:
    """The extension, as it is published."""
    out = folder / "graphscope.vsix"
    if not (EXTENSION / "node_modules").exists():
        subprocess.run(
            ["npm", "install", "--no-save", "--silent", "--no-audit", "--no-fund"], cwd=EXTENSION, check=True
        )
    words = ["npm", "run", "--silent", "package", "--", "-o", str(out)]
    subprocess.run(words, cwd=EXTENSION, check=True, capture_output=True)
    return out


def listening_python(folder: Path) -> Path:
    """A Python that keeps in a folder what VS Code and the debug adapter say to each other."""
    folder.mkdir()
    found = folder / "python"
    adapter = ROOT / "tests" / "dap" / "client" / "adapter.py"
    found.write_text(LISTENING.format(folder=folder, python=sys.executable, adapter=adapter))
    found.chmod(0o755)
    return found


def check_all_spoken(folder: Path) -> int:
    """Hold every message that was kept against the schema of the protocol; how many there were."""
    said = [message for kept in folder.glob("[0-9]*/*") for message in spoken(kept.read_bytes())]
    for message in said:
        check(message)
    return len(said)


class Installed:
    """The server with the extension, which opens folders.

    Args:
        folder: Where it keeps its things.
        pictures: Where pictures of it are kept.
    """

    def __init__(self, folder: Path, pictures: Path) -> None:
        self._folder = folder
        self._pictures = pictures
        self._numbers = itertools.count()
        self._words = [
            "node", str(server()), "--auth", "none", "--disable-telemetry", "--disable-update-check",
            "--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "extensions"),
        ]  # fmt: skip
        vsix = packed_extension(folder)
        subprocess.run([*self._words, "--install-extension", str(vsix)], check=True, capture_output=True)

    @contextmanager
    def window(self, workspace: Path, python: str = "", *, talks: bool = True) -> Iterator[Editor]:
        """A window with a folder; what it and the debug adapter say to each other is held against the schema.

        At the end nothing may be left of what it has started.

        Args:
            workspace: The folder, or the file of the workspace.
            python: The Python that graphscope is looked for in, instead of this one.
            talks: Whether a debug adapter is to be spoken to.
        """
        kept = self._folder / f"spoken-{next(self._numbers)}"
        kind = "workspace" if workspace.suffix == ".code-workspace" else "folder"
        listening = "" if python else str(listening_python(kept))
        place = self._folder / "data" / "User" / "settings.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({**SETTINGS, "graphscope.python": python or listening}))
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        with subprocess.Popen(
            [*self._words, "--bind-addr", f"127.0.0.1:{port}", str(workspace)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=self._folder, env={**os.environ, "PYTHONPATH": str(ROOT), MARK: str(kept)},
        ) as process:  # fmt: skip
            try:
                assert process.stdout is not None
                while "HTTP server listening" not in process.stdout.readline():
                    assert process.poll() is None, "the server has ended"
                with browser(self._folder / "chromium") as page:
                    page.open(f"http://127.0.0.1:{port}/?{kind}={quote(str(workspace))}")
                    editor = Editor(page, self._pictures, str(kept))
                    editor.wait("!!document.querySelector('.explorer-folders-view .monaco-list-row')")
                    yield editor
                    assert check_all_spoken(kept) or not (listening and talks), "nothing was said"
            finally:
                process.terminate()
        check_none_left(str(kept))
