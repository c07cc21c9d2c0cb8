"""Look around in a log, finished or growing: step through it forward and backward, draw it, ask for values."""

from __future__ import annotations

import argparse

from graphscope.cli.arguments import Parser, add_log, find_log


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_log(parser)
    parser.add_argument("--console", action="store_true", help="at a prompt in this terminal, without a screen")


def run(options: argparse.Namespace) -> int:
    """Open the screen over the log; the prompt where one is asked for, or where no terminal is."""
    log = find_log(options.log)
    from graphscope.tui.entry import has_terminal, open_screen

    if has_terminal() and not options.console:
        return open_screen(log)
    from graphscope.console.entry import open_console

    return open_console(log)
