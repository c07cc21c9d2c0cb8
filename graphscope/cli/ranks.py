"""Compare the ranks of a run: which does otherwise than the others first, or is waited for, and at which line.

Logs are read side by side and lined up by the collectives of the ranks (`all_reduce`, `broadcast`). What is told: a
collective that a rank leaves out, calls in another order or with another size, one that it never comes to while others
wait; a rank that raised or was killed; optimizers that are set up otherwise; weights that part, and why (gradients that
are not averaged, or changed by one rank); where the first NaN was born that spoilt a loss; data that a rank has twice,
or that all have. Logs that still grow are read as far as they are.

The exit status is 1 when something was found, 0 when nothing was, 2 when there was nothing to compare.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from graphscope.cli.executors import EXECUTORS
from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import all_ranks
from graphscope.cli.parser import Parser
from graphscope.cli.plain_page import place_of_page

FOUND = 1
NOTHING_TO_COMPARE = 2


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "logs", nargs="*", type=Path, metavar="DIR|LOG", help="a folder, a run, or its logs (default: the newest run)"
    )
    add_json(parser)
    parser.add_argument("-o", "--output", type=place_of_page, metavar="FILE", help="write a page: ranks.html")
    parser.add_argument(
        "--with", dest="executor", choices=EXECUTORS, default="processes",
        help="where logs are read: processes of this machine (default), or a cluster that sees their paths",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print what is wrong among the ranks."""
    from graphscope.diagnose.ranks.comparison import compared
    from graphscope.diagnose.ranks.reading import names_of, read
    from graphscope.eventlog.siblings import bare, title

    logs = all_ranks(options.logs)
    names = [*names_of(logs, title)]
    found = compared(str(logs[0].with_name(bare(logs[0]))), EXECUTORS[options.executor](read, names))
    if options.output is not None:
        from graphscope.cli.rank_page import write_page

        write_page(found, options.output)
    if options.json:
        print_json(found)
    else:
        from graphscope.cli.rank_table import print_comparison

        print_comparison(found)
    return FOUND if found.report else NOTHING_TO_COMPARE if len(found.ranks) < _FEWEST else 0


_FEWEST: Final = 2
