"""Say what is wrong with a run: where it was written, why, and what to do; nothing of a healthy one.

A program in place of a log is recorded first, as `graphscope record` does it; it is judged, too, when it fails or is
interrupted. What the program prints goes to stderr, the report alone to stdout. Of two recordings of one program, it
says where they part; of the ranks of one run, which rank parts from the others.

The exit status is 1 when something was found, 0 when nothing was, 2 when there was nothing to judge.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.cli.parser import SUFFIX, Parser, add_as_torch, add_kept, find_log, new_log
from graphscope.errors import UsageError

if TYPE_CHECKING:
    from graphscope.cli.runner import Program
    from graphscope.diagnose import Report

FOUND: Final = 1
NOTHING_TO_JUDGE: Final = 2


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print data for a program to read")
    parser.add_argument("--log", type=Path, metavar="PATH", help="of a program: default: its name + .gscope")
    add_kept(parser)
    add_as_torch(parser)
    parser.add_logs_or_program()


def run(options: argparse.Namespace) -> int:
    """Print what is wrong."""
    if options.program is None:
        logs = [found for log in options.logs or [None] for found in _found(log)]
    else:
        logs = _with_ranks(_recorded(options))
    from graphscope.diagnose import doctor

    report = doctor(*logs)
    if options.json:
        print(json.dumps(report.data(), indent=2))
    else:
        _print(report)
    return FOUND if report else NOTHING_TO_JUDGE if not report.events else 0


def _found(named: Path | None) -> list[Path]:
    """The log that is named, or all ranks of the run: where it is the run that is named, a folder with it, or none."""
    if named is not None and named.is_dir() and not (named / "log.json").exists() and any(named.glob(f"*{SUFFIX}")):
        return _with_ranks(find_log(None, named))
    log = find_log(named)
    return [log] if named is not None and named.exists() else _with_ranks(log)


def _with_ranks(log: Path) -> list[Path]:
    from graphscope.eventlog.siblings import family, ranks_among

    ranks = ranks_among(family(log))
    return ranks if len(ranks) > 1 else [log]


def _recorded(options: argparse.Namespace) -> Path:
    """The log of a program that has run, in a process of its own: a crash of it is not ours."""
    program: Program = options.program
    if not program.is_module and not Path(program.name).exists():
        raise UsageError(f"there is no script {program.name!r}", "A module is run with -m.")
    path: Path = options.log or new_log(program)
    words = ["--log", str(path), "--values", options.values, "--capture", options.capture]
    words += [*["--as-torch"] * options.as_torch, *(("-m",) if program.is_module else ("--",))]
    before = _identity(path)
    command = [sys.executable, "-m", "graphscope", "record", *words, program.name, *program.arguments]
    print(f"graphscope: recording {program.name} (Ctrl-C ends it, and what ran is judged)", file=sys.stderr, flush=True)
    with subprocess.Popen(command, stdout=2) as child:  # the report alone goes to our own
        while True:
            try:
                child.wait()
                break
            except KeyboardInterrupt:  # the program has got it as well, and what it did is judged
                continue
    if _identity(path) == before:
        raise UsageError(f"{program.name!r} was not recorded", "What it said above tells why.")
    print(file=sys.stderr, flush=True)
    return find_log(path)


def _identity(log: Path) -> tuple[int, int] | None:
    """What tells a recording from one that lay there before."""
    from graphscope.eventlog.siblings import family

    for folder in (log, *family(log)):
        if (about := folder / "log.json").exists():
            found = about.stat()
            return found.st_ino, found.st_mtime_ns
    return None


def _print(report: Report) -> None:
    from rich.console import Console
    from rich.text import Text

    from graphscope.debugger.terminal_text import escape
    from graphscope.diagnose.report_lines import lines_of

    console = Console(highlight=False)
    for line in lines_of(report, console.width):
        console.print(Text(escape(line.text), _STYLES.get(line.meaning, "")), soft_wrap=True)


_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "source": "cyan", "remark": "dim"}
