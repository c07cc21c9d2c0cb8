"""A process beside a program judges what the program records, and asks its recording to hold what it finds.

It runs at the lowest priority, and rests most of the time.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.doctor import examined
from graphscope.errors import LogError
from graphscope.eventlog.notices import say
from graphscope.eventlog.ownership import is_live
from graphscope.eventlog.reader import load
from graphscope.eventlog.requests import Judgements
from graphscope.graph import Graph
from graphscope.graph.step_marks import step_ends

if TYPE_CHECKING:
    from graphscope.diagnose.finding import Finding

_LOOKING: Final = 0.2
"""Seconds between two looks whether a step has ended."""

_REST: Final = 10
"""It rests so many times as long as it has worked."""

_START: Final = (
    "import os, sys\n"
    "if not os.fork():\n"  # it is no child of the program, which may wait for its own
    "    os.setsid()\n"
    "    sys.path[:] = sys.argv.pop(1).split(os.pathsep)\n"
    "    from graphscope.diagnose.watching import watch\n"
    "    watch(sys.argv[1])\n"
)


def start(folder: Path) -> None:
    """Start it for the log of a recording that heeds requests."""
    command = [sys.executable, "-c", _START, os.pathsep.join(sys.path), str(folder)]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        say(f"nobody judges what is recorded: {error}")


def watch(folder: str) -> None:
    """Judge a log at the ends of its steps, until its recording ends."""
    os.nice(19)
    path, told = Path(folder), set[tuple[object, ...]]()
    while is_live(path):
        began = time.monotonic()
        with contextlib.suppress(OSError, LogError):  # what was let go of while it was read
            judgements = Judgements(path)
            end = _end_of_steps(path)
            if end > judgements.end and (findings := _judged(path, end)) is not None:
                for found in findings:
                    if found.identity not in told:
                        told.add(found.identity)
                        judgements.request()
                        say(f"{_named(found)}: {found.verdict}; {what_follows(path)}")
                judgements.end = end
        time.sleep(max(_LOOKING, _REST * (time.monotonic() - began)))


def what_follows(path: Path) -> str:
    """What a recording does about a finding, in words; the program may have ended while it was looked for."""
    return "it holds what is kept, and records the next steps" if is_live(path) else "the recording had ended by then"


def _end_of_steps(path: Path) -> int:
    """The row behind the newest step that has ended."""
    log = load(path)
    ends = step_ends(log)
    return int(ends[-1]) + 1 if len(ends) else 0


def _judged(path: Path, end: int) -> list[Finding] | None:
    """What is found ahead of a row; None where something was let go of meanwhile: then it was read in part."""
    before = set(_files(path))
    found = [*examined(Graph(load(path), end - 1))]
    return found if before <= set(_files(path)) else None


def _files(path: Path) -> Iterator[tuple[str, int]]:
    """The files of values that a log has."""
    for each in path.glob("segments/*/values.npy"):
        yield str(each), each.stat().st_ino


def _named(found: Finding) -> str:
    step = found.step or (f"step {found.first_step}" if found.first_step is not None else "")
    return ", ".join(filter(None, (found.kind, found.place, step)))
