"""Renders compared ranks on the terminal: findings, and a row for each rank; of very many, for those that matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from rich import box
from rich.table import Table

from graphscope.cli.report_console import report_console
from graphscope.cli.report_output import print_report
from graphscope.cli.summary_tables import plain
from graphscope.debugger.bars import bars
from graphscope.diagnose.ranks.comparison import Comparison, Rank
from graphscope.diagnose.report_lines import lines_of

_MOST: Final = 32
"""So many ranks have a row each; of more, those that matter."""
_EXAMPLES: Final = 8
_CELLS: Final = 24
"""So many bars show the steps of a rank."""


class _Column(NamedTuple):
    """A column: what it says of ranks that share a row."""

    title: str
    say: Callable[[Sequence[Rank]], str]
    justify: Literal["left", "right"] = "right"
    least: int = 0
    """In narrower terminals it is left out."""


_COLUMNS: Final = (
    _Column("rank", lambda ranks: ranks[0].name[5:] if len(ranks) == 1 else f"{len(ranks)} more"),
    _Column("recording", lambda ranks: ", ".join(dict.fromkeys(each.state for each in ranks)), "left"),
    _Column("rows", lambda ranks: _span([each.rows for each in ranks], "{:,}")),
    _Column("steps", lambda ranks: _span([each.steps for each in ranks], "{:,}")),
    _Column("collectives", lambda ranks: _span([each.collectives for each in ranks], "{:,}"), least=80),
    _Column("in them", lambda ranks: _span([each.together for each in ranks], "{:.0%}"), least=96),
    _Column("loss", lambda ranks: _losses([each.loss for each in ranks if each.loss is not None]), least=60),
    _Column("in them, by step", lambda ranks: bars(_together(ranks), _CELLS, (0.0, 1.0)), "left", least=128),
    _Column("last line", lambda ranks: ranks[0].last if len(ranks) == 1 else "", "left"),
)


def print_comparison(found: Comparison) -> None:
    """Print it."""
    print_report(lambda width: lines_of(found.report, width))
    console = report_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    columns = [column for column in _COLUMNS if column.least <= console.width]
    for column in columns:
        table.add_column(column.title, justify=column.justify, overflow="fold")
    shown = chosen(found)
    rest = [each for each in found.ranks if each not in shown]
    for ranks in [*([each] for each in shown), *([rest] if rest else [])]:
        table.add_row(*(plain(column.say(ranks)) for column in columns))
    console.print()
    console.print(table)


def chosen(found: Comparison) -> list[Rank]:
    """The ranks that have a row each."""
    if len(found.ranks) <= _MOST:
        return [*found.ranks]
    odd = [each for each in found.ranks if each.name in found.odd][:_EXAMPLES]
    unended = [each for each in found.ranks if each.state != "ended"][:_EXAMPLES]
    known = sorted((each for each in found.ranks if each.together == each.together), key=lambda each: each.together)
    ends = [*known[:2], *known[-2:]]
    wanted = {each.name for each in (*found.ranks[:2], *odd, *unended, *ends)}
    return [each for each in found.ranks if each.name in wanted]


def _together(ranks: Sequence[Rank]) -> np.ndarray:
    """The share of each stretch of steps that ranks spent in collectives; of several, the mean."""
    count = min(len(each.shares) for each in ranks)
    shares: np.ndarray = np.stack([each.shares[:count] for each in ranks]).mean(axis=0)
    return shares


def _losses(values: Sequence[float]) -> str:
    """The span of those that are numbers, and whether some are not."""
    return " or ".join(filter(None, (_span(values, "{:.4g}"), "nan" * any(value != value for value in values))))


def _span(values: Sequence[float], form: str) -> str:
    """A number, or the least and the largest of several; nothing where none is known."""
    known = [value for value in values if value == value]
    if not known:
        return ""
    low, high = form.format(min(known)), form.format(max(known))
    return low if low == high else f"{low} to {high}"
