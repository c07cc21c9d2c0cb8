"""Recording of a program, in a process of its own, for a command that reads on what it did: its crash is not ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from graphscope.cli.parser import find_log
from graphscope.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from graphscope.cli.runner import Program


def recorded(program: Program, log: Path, options: argparse.Namespace, *, then: str) -> Path:
    """The log of a program that has run, as far as it came: it may fail, die, or be interrupted.

    Args:
        program: What is to be run.
        log: Where it is recorded.
        options: What `add_kept` and `add_as_torch` have declared.
        then: What happens to what ran when it is interrupted, as words.

    Raises:
        UsageError: It was not recorded at all.
    """
    if not program.is_module and not Path(program.name).exists():
        raise UsageError(f"there is no script {program.name!r}", "A module is run with -m.")
    words = ["--log", str(log), "--values", options.values, "--capture", options.capture]
    words += [*["--as-torch"] * options.as_torch, *(("-m",) if program.is_module else ("--",))]
    before = _identity(log)
    command = [sys.executable, "-m", "graphscope", "record", *words, program.name, *program.arguments]
    print(f"graphscope: recording {program.name} (Ctrl-C ends it, and {then})", file=sys.stderr, flush=True)
    with subprocess.Popen(command, stdout=2) as child:  # the report alone goes to our own
        while True:
            try:
                child.wait()
                break
            except KeyboardInterrupt:  # the program has got it as well, and what it did is read
                continue
    if _identity(log) == before:
        raise UsageError(f"{program.name!r} was not recorded", "What it said above tells why.")
    print(file=sys.stderr, flush=True)
    return find_log(log)


def _identity(log: Path) -> tuple[int, int] | None:
    """What tells a recording from one that lay there before."""
    from graphscope.eventlog.siblings import family

    for folder in (log, *family(log)):
        if (about := folder / "log.json").exists():
            found = about.stat()
            return found.st_ino, found.st_mtime_ns
    return None
