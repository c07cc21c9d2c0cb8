"""Run a program and step through its graph. It stops at its first node; `help` tells what can be said there."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from graphscope.cli.arguments import Parser, add_as_torch, as_asked
from graphscope.cli.runner import execute, load


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "-b", dest="breakpoints", action="append", default=[], metavar="SPEC", help="set a breakpoint, as `break SPEC`"
    )
    parser.add_argument(
        "-c", dest="commands", action="append", default=[], metavar="CMD", help="carry out a command at the first stop"
    )
    parser.add_argument("--console", action="store_true", help="at a prompt in this terminal (as it is without it)")
    add_as_torch(parser)
    parser.add_argument("--log", type=Path, metavar="PATH", help="where to record; default: a temporary folder")
    parser.add_program()


def run(options: argparse.Namespace) -> int:
    """Debug the program; its exit status is ours."""
    from graphscope.console.entry import debug_program

    wanted = options.program
    load(wanted)  # what can't be run is refused before anything is recorded

    def program(arguments: tuple[str, ...] | None, failed: Callable[[BaseException], None]) -> int:
        again = wanted if arguments is None else replace(wanted, arguments=arguments)
        with as_asked(options):
            return execute(load(again), failed)

    return debug_program(program, log=options.log, breakpoints=options.breakpoints, commands=options.commands)
