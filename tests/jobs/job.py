"""What a job is: a symptom, a program, and the keys that lead from the symptom to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.tui.terminal import ROOT, Terminal

SIZES: Final = ((80, 24), (200, 50))
"""Of terminals: columns and rows."""


@dataclass(frozen=True)
class Text:
    """What is typed as one entry: the words of a search, a line for a prompt, an answer to a program."""

    words: str


@dataclass(frozen=True)
class Step:
    """Keys that are pressed one after another, and what is on the screen then."""

    says: str
    """What one does, and why."""
    keys: tuple[str | Text, ...]
    """As tmux calls them."""
    shows: tuple[str, ...]
    """What is waited for: with the keys, the essence of the step."""
    runs: str = ""
    """A line for the shell, instead of keys; it counts as none."""
    seen: bool = True
    """Whether the screen is kept in the transcript."""


@dataclass(frozen=True)
class Job:
    """Something that people sit down to do."""

    name: str
    title: str
    symptom: str
    program: Path
    steps: tuple[Step, ...]
    limit: int | None = None
    """The most keys that it may take."""
    ahead: tuple[str, ...] = ()
    """Lines for the shell, from before one looks."""
    is_first_time: bool = False
    """Whether whoever does it has never seen the screen, and is shown the tour."""

    @property
    def keys(self) -> int:
        """How many keys it takes."""
        return sum(len(step.keys) for step in self.steps)


def do(job: Job, size: tuple[int, int], folder: Path) -> Sequence[str]:
    """Do a job in a terminal; the screen after each step."""
    (folder / job.program.name).write_text(job.program.read_text(encoding="utf-8"), encoding="utf-8")
    if not job.is_first_time:
        settings = folder / ".config" / "graphscope"
        settings.mkdir(parents=True)
        (settings / "tour-seen").touch()
    screens: list[str] = []
    with Terminal(folder, *size) as terminal:
        for line in job.ahead:
            terminal.run(f"{line}; echo status $?")
            terminal.shows("status 0")
        terminal.clear()
        for step in job.steps:
            if step.runs:
                terminal.run(step.runs)
            for key in step.keys:
                if isinstance(key, Text):
                    terminal.type(key.words)
                else:
                    terminal.press(key)
            screens.append(terminal.drawn(*step.shows))
    return screens


def program(name: str) -> Path:
    """A program of these jobs."""
    return Path(__file__).parent / "programs" / name


def sample(name: str) -> Path:
    """A sample of the repository."""
    return ROOT / "samples" / name
