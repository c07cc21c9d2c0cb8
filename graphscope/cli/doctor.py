"""Say what is wrong with a run: where it was written, why, and what to do; nothing of a healthy one.

A program in place of a log is recorded first, as `graphscope record` does it; it is judged, too, when it fails or is
interrupted. Of its values, statistics are kept, which a report needs; `--values full` keeps the values as well. What
the program prints goes to stderr, the report alone to stdout. Of two recordings of one program, it
says where they part; of the ranks of one run, which rank parts from the others.

The exit status is 1 when something was found, 0 when nothing was, 2 when there was nothing to judge.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import logs_of, with_ranks
from graphscope.cli.parser import Parser, add_as_torch, add_kept, new_log
from graphscope.cli.recording import recorded
from graphscope.cli.report_output import print_report

if TYPE_CHECKING:
    from graphscope.cli.runner import Program

FOUND: Final = 1
NOTHING_TO_JUDGE: Final = 2


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_json(parser)
    parser.add_argument("--log", type=Path, metavar="PATH", help="of a program: default: its name + .gscope")
    add_kept(parser, values="summary")
    add_as_torch(parser)
    parser.add_logs_or_program()


def run(options: argparse.Namespace) -> int:
    """Print what is wrong."""
    if options.program is None:
        logs = [found for log in options.logs or [None] for found in logs_of(log)]
    else:
        program: Program = options.program
        log = recorded(program, options.log or new_log(program), options, then="what ran is judged")
        logs = with_ranks(log)
    from graphscope.diagnose import doctor

    report = doctor(*logs)
    if options.json:
        print_json(report)
    else:
        from graphscope.diagnose.report_lines import lines_of

        print_report(lambda width: lines_of(report, width))
    return FOUND if report else NOTHING_TO_JUDGE if not report.events else 0
