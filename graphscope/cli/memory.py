"""What held a PyTorch program's memory: the peak and what was alive then, and what was saved for backward.

The log has to be recorded for it: `graphscope record --memory SCRIPT`. What is saved is told of the backward pass that
most was saved for; a storage counts once, for the first op that saved it, and parameters and data count for nothing,
as they are held anyway.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.parser import Parser, add_log, find_log
from graphscope.cli.whole_logs import opened

MOST = 12


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    from graphscope.graph.memory import WAYS

    add_log(parser)
    parser.add_argument("--by", choices=WAYS, default="line", help="what bytes are summed up by (default: line)")
    parser.add_argument("--all", action="store_true", help=f"all rows of the tables, not the {MOST} largest")
    parser.add_argument(
        "-o", dest="out", type=Path, metavar="FILE", help="draw what is alive over the run: .svg or .html"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the tables, or draw them."""
    from graphscope.cli.memory_report import report

    log = opened(find_log(options.log))
    if options.out is not None:
        from graphscope.exporters import export

        export(log, options.out, view="memory", by=options.by)
        return 0
    facts = report(log, options.by)
    if options.json:
        print_json(facts)
    else:
        from graphscope.cli.memory_tables import print_report

        print_report(facts, None if options.all else MOST)
    return 0
