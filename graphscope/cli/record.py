"""Run a program and keep everything that its graph does in a log."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from graphscope.cli.arguments import Parser, add_as_torch, add_kept, as_asked, new_log
from graphscope.cli.runner import execute, load


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("--log", type=Path, metavar="PATH", help="default: the program's name + .gscope")
    add_kept(parser)
    add_as_torch(parser)
    parser.add_argument("--steps", type=int, metavar="N", help="keep the newest N training steps only")
    parser.add_program()


def run(options: argparse.Namespace) -> int:
    """Run the program; its exit status is ours."""
    from graphscope.eventlog import siblings
    from graphscope.eventlog.record import exception, record

    loaded = load(options.program)
    path = options.log or new_log(options.program)
    process = os.getpid()
    with record(path, values=options.values, steps=options.steps, capture=options.capture) as log, as_asked(options):
        siblings.lead(log.path)
        status = execute(loaded, failed=exception)
    if os.getpid() != process:  # a child that the program forked: its parent tells what was recorded
        return status
    log.refresh()
    where = path.with_name(log.path.name)  # as it was given, but for the rank
    sys.stdout.flush()  # what the program said comes first, also where both go to one file
    print(f"graphscope: {len(log):,} events are in {where} (look: graphscope open {where})", file=sys.stderr)
    return status
