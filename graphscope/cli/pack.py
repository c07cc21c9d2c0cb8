"""Make one file of a log, to send. Every command opens it as it opens the folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.parser import Parser, add_log, find_log
from graphscope.cli.whole_logs import look_at


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_log(parser)
    parser.add_argument("-o", dest="out", type=Path, metavar="FILE", help="default: the log's name + .zip")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    from graphscope.eventlog.pack import pack

    log = find_log(options.log)
    out = pack(log, options.out)
    look_at([log])
    size = out.stat().st_size
    if options.json:
        print_json({"out": out, "bytes": size})
    else:
        print(f"{out}: {size:,} bytes")
    return 0
