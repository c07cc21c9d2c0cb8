"""Look around in a log, finished or growing: step through it forward and backward, draw it, ask for values."""

from __future__ import annotations

import argparse

from graphscope.cli.arguments import Parser, add_log, find_log


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_log(parser)
    parser.add_argument("--console", action="store_true", help="at a prompt in this terminal (as it is without it)")


def run(options: argparse.Namespace) -> int:
    """Open the prompt over the log."""
    from graphscope.console.entry import open_console

    return open_console(find_log(options.log))
