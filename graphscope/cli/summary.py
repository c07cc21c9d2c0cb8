"""What happened in a log, as tables: passes, ops, time, memory, the first non-finite value.

The exit status is 1 when a value that is not finite spoilt a loss, a gradient or a parameter, or an exception was
raised, 0 otherwise. Infinities that the program intends, as those of a mask, don't count.
"""

from __future__ import annotations

import argparse

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.parser import Parser, add_log, find_log
from graphscope.cli.whole_logs import opened

FOUND = 1


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add_log(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the summary."""
    from graphscope.cli.overview import overview

    facts = overview(opened(find_log(options.log)))
    if options.json:
        print_json(facts)
    else:
        from graphscope.cli.summary_tables import print_overview

        print_overview(facts)
    return FOUND if facts.nonfinite or facts.exceptions else 0
