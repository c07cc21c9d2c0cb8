"""What the sub-commands share of their arguments: the parser, the program to run, the log to read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from graphscope.cli.runner import Program
from graphscope.errors import UsageError

SUFFIX = ".gscope"


class Parser(argparse.ArgumentParser):
    """The parser of one sub-command; it raises where argparse would print and exit."""

    def __init__(self, command: str, doc: str) -> None:
        super().__init__(
            prog=f"graphscope {command}",
            description=doc,
            allow_abbrev=False,  # a script may have an option of which ours is the beginning
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        raise UsageError(message, f"`{self.prog} --help` tells the options.")


def add_program(parser: argparse.ArgumentParser) -> None:
    """Let the rest of the command line be a program and its own arguments, as `python` takes them."""
    # With REMAINDER nothing behind the script or module is read as an option of ours.
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE [ARGS...]", help="run a module, as `python -m`"
    )
    parser.add_argument(
        "script", nargs=argparse.REMAINDER, metavar="SCRIPT [ARGS...]", help="the program and its arguments"
    )


def program(parser_name: str, options: argparse.Namespace) -> Program:
    """The program that the arguments name.

    Raises:
        UsageError: if none is named.
    """
    if options.module is not None:
        if not options.module:
            raise UsageError("-m needs the name of a module")
        return Program(options.module[0], tuple(options.module[1:]), is_module=True)
    words = options.script[1:] if options.script[:1] == ["--"] else options.script
    if not words:
        raise UsageError("no program to run", f"For example: {parser_name} train.py --epochs 3")
    return Program(words[0], tuple(words[1:]), is_module=False)


def add_log(parser: argparse.ArgumentParser) -> None:
    """Let the command read a log."""
    parser.add_argument("log", nargs="?", type=Path, metavar="LOG", help="default: the newest recording in this folder")


def find_log(named: Path | None, folder: Path | None = None) -> Path:
    """The log to read: the one that is named, else the newest in `folder` (the current one).

    Raises:
        UsageError: if it does not exist.
    """
    if named is not None:
        if not named.exists():
            raise UsageError(f"there is no log {str(named)!r}", "`graphscope record SCRIPT` makes one.")
        return named
    here = folder or Path()
    found = [*here.glob(f"*{SUFFIX}"), *here.glob(f"*{SUFFIX}.zip")]
    if not found:
        raise UsageError(
            f"there is no recording (*{SUFFIX}) in {str(here.resolve())!r}",
            "`graphscope record SCRIPT` makes one; a log elsewhere can be named.",
        )
    return max(found, key=_written)


def new_log(program: Program) -> Path:
    """Where a program is recorded when nobody says: `train.gscope` in the current folder."""
    stem = program.name if program.is_module else Path(program.name).resolve().stem
    return Path(f"{stem}{SUFFIX}")


def _written(log: Path) -> float:
    """When a log was last begun or finished: a folder's own time changes with its entries only."""
    about = log / "log.json"
    return max(path.stat().st_mtime for path in (log, about) if path.exists())
