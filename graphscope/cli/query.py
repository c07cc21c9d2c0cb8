"""Ask SQL of logs: DuckDB runs it over the tables of `graphscope export --format parquet`.

Of logs, the tables that the query names are made first and thrown away; who asks more than once exports them, and
names that folder in place of the logs. A folder of logs stands for all that are in it, each a `run` of its own, and the
folders in it; without a name, the newest recording here is asked. `docs/how-to/query.md` answers eleven questions;
`docs/reference/tables.md` has every table and column.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.logs import every_log
from graphscope.cli.parser import Parser
from graphscope.cli.whole_logs import look_at
from graphscope.errors import UsageError

if TYPE_CHECKING:
    from graphscope.tables.query import Answer

_WIDEST: Final = 1 << 16
"""So many columns wide a line is at most."""


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "words", nargs="+", metavar="[LOG ...] SQL",
        help="logs, folders of them or a folder of tables (default: the newest recording here), then one query",
    )  # fmt: skip
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer."""
    from graphscope.tables.query import query

    *named, sql = options.words
    if len(sql.split()) < 2:
        raise UsageError(f"{sql!r} is no query", 'For example: graphscope query train.gscope "SELECT * FROM steps"')
    places = places_of([Path(each) for each in named])
    look_at(place for place in places if not is_folder_of_tables(place))
    answer = query(places, sql)
    if options.json:
        print_json(answer)
        return 0
    print_answer(answer)
    if not answer.is_whole:
        print(
            f"graphscope: these are the first {len(answer.rows):,} rows; COPY (...) TO 'FILE' has all", file=sys.stderr
        )
    return 0


def places_of(named: Sequence[Path | None]) -> list[Path]:
    """What is asked: a folder of tables as it is, else logs with the other ranks of their runs, and all of folders."""
    return [
        place
        for each in named or (None,)
        for place in ([each] if each is not None and is_folder_of_tables(each) else every_log(each))
    ]


def is_folder_of_tables(place: Path) -> bool:
    """Whether it is none of logs."""
    from graphscope.tables.export import ABOUT

    return (place / ABOUT).exists()


def print_answer(answer: Answer) -> None:
    """Print rows under the names of their columns, each on one line, however long that is."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from graphscope.cli.report_console import report_console
    from graphscope.debugger.terminal_text import escape

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = list(zip(*answer.rows, strict=True)) or [()] * len(answer.columns)
    for name, values in zip(answer.columns, columns, strict=True):
        is_number = any(isinstance(value, int | float) for value in values)
        shown.add_column(Text(escape(name)), justify="right" if is_number else "left", no_wrap=True)
    for row in answer.rows:
        shown.add_row(*(Text(escape("" if value is None else str(value))) for value in row))
    console = report_console()
    needed = console.measure(shown, options=console.options.update_width(_WIDEST)).maximum
    console.width = max(console.width, needed)
    console.print(shown)
