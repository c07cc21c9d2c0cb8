"""A real Neovim with nvim-dap, without a terminal: a person's job done in it, what is seen, and what is said."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.dap.neovim.jobs import Job
from tests.dap.neovim.seen import Seen, Stop
from tests.dap.talking import ROOT

PLUGIN: Final = Path(os.environ.get("GRAPHSCOPE_NVIM_DAP", "nvim-dap"))
"""The folder of the plugin, which bears its name and version."""

HANDBOOK: Final = ROOT / "docs" / "how-to" / "editors.md"


def missing() -> str:
    """What lacks here to do a job; empty where nothing does."""
    if not PLUGIN.is_dir():
        return "GRAPHSCOPE_NVIM_DAP names no folder of nvim-dap"
    return "" if shutil.which("nvim") else "nvim is missing"


@dataclass(frozen=True)
class Said:
    """A message in the course of a job, as nvim-dap said or heard it."""

    session: int
    message: dict[str, Any]
    is_heard: bool
    cause: int | None = None
    """Which message made nvim-dap say it, by its place; none did, where a person pressed something."""


def configuration() -> str:
    """How the documentation says that nvim-dap is set up."""
    found = re.search(r"## Neovim\n.*?```lua\n(.*?)```", HANDBOOK.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def do(job: Job, folder: Path, home: Path) -> tuple[Seen, list[Said]]:
    """Do a job in a fresh folder.

    Args:
        job: What is done.
        folder: Where the program lies.
        home: For what Neovim keeps, and the notes.
    """
    setup = home / "setup.lua"
    setup.write_text(configuration())
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "NVIM_DAP": str(PLUGIN),
        "CONFIGURATION": str(setup),
        "SEEN": str(home / "seen"),
        "SPOKEN": str(home / "spoken"),
        "FILE": str(job.prepare(folder)),
        "ACTIONS": json.dumps(job.actions),
    }
    script = Path(__file__).parent / "person.lua"
    command = ["nvim", "--headless", "-u", "NONE", "-S", str(script)]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=300, capture_output=True)
    return _seen(home / "seen"), _said(home / "spoken")


def _seen(file: Path) -> Seen:
    seen = Seen()
    for line in file.read_text().splitlines():
        match json.loads(line):
            case {"stands": place, "file": name, "values": values, **more}:
                seen.stops.append(Stop(name, place, values, more.get("diagnostics", [])))
            case {"told": text}:
                seen.told.append(text)
            case {"printed": text}:
                seen.printed = text
            case {"complaint": text}:
                seen.complaints.append(text)
    return seen


def _said(file: Path) -> list[Said]:
    found = []
    for line in map(json.loads, file.read_text().splitlines()):
        is_heard = "heard" in line
        message = json.loads(line["heard"] if is_heard else line["said"])
        cause = line.get("cause")
        found.append(Said(line["session"], message, is_heard, None if cause is None else cause - 1))
    return found
