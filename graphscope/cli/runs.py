"""Put the runs of a sweep side by side: what they were given where that differs, and how each went.

Of each run: steps, the learning rate and the loss of the last step (and the rate of the first one, where that differs),
the best loss, the norm of the gradients in the last step, how long a step takes, where the first NaN was born, and what
the doctor finds: the causes, then what came of them. Folders are searched with all that is in them; the ranks of a run
are one row, for which the first one stands.

The exit status is 1 when something was found in a run, 0 when nothing was, 2 when there was nothing to look at.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from graphscope.cli.executors import EXECUTORS
from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import runs_in
from graphscope.cli.parser import Parser
from graphscope.cli.plain_page import place_of_page
from graphscope.cli.whole_logs import say_cut

FOUND = 1
NOTHING_TO_LOOK_AT = 2


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|LOG", help="default: the current folder")
    parser.add_argument("--sort", metavar="COLUMN", help="order by a column or an argument: --sort loss")
    parser.add_argument("--reverse", action="store_true", help="the largest first")
    parser.add_argument(
        "--where", action="append", default=[], metavar="CONDITION", help="choose: 'lr>0.01', found=nan; all must hold"
    )
    add_json(parser)
    parser.add_argument("-o", "--output", type=place_of_page, metavar="FILE", help="write a page: runs.html")
    parser.add_argument(
        "--with", dest="executor", choices=EXECUTORS, default="processes",
        help="where logs are read: processes of this machine (default), or a cluster that sees their paths",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print the runs."""
    from graphscope.cli.run_columns import chosen, columns_of, ordered
    from graphscope.cli.run_table import data_of, print_runs, write_page
    from graphscope.diagnose.ranks.reading import Unread
    from graphscope.diagnose.runs import Run, read_run

    read: list[Run | Unread] = [*EXECUTORS[options.executor](read_run, runs_in(options.places))]
    unread = [each for each in read if isinstance(each, Unread)]
    runs = [each for each in read if isinstance(each, Run)]
    columns = columns_of(runs) if runs else []
    for wanted in options.where if runs else []:
        runs = chosen(runs, columns, wanted)
    if options.sort and columns:
        runs = ordered(runs, columns, options.sort, descending=options.reverse)
    elif options.reverse:
        runs.reverse()
    if options.output is not None:
        write_page(runs, columns, options.output)
    if options.json:
        print_json(data_of(runs, unread))
    else:
        if columns:
            print_runs(runs, columns)
        for each in unread:
            print(f"graphscope: {each.name}: {each.why}", file=sys.stderr)
        for run in runs:
            if run.missing:
                say_cut(run.name, run.missing)
    return FOUND if any(each.found for each in runs) else 0 if columns else NOTHING_TO_LOOK_AT
