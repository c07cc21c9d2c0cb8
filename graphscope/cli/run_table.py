"""Renders the runs of a sweep: on the terminal, as a page with their curves, and as data."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich import box
from rich.table import Table

from graphscope.cli.plain_page import page, table
from graphscope.cli.report_console import report_console
from graphscope.cli.run_columns import Column, shared
from graphscope.cli.summary_tables import plain
from graphscope.diagnose.ranks.reading import Unread
from graphscope.diagnose.runs import Run
from graphscope.diagnose.text_lines import counted


def print_runs(runs: Sequence[Run], columns: Sequence[Column]) -> None:
    """Print a row for each run."""
    console = report_console()
    if not runs:
        console.print("no run is left")
        return
    console.print(plain(_title(runs)), soft_wrap=True)
    console.print()
    told = [column for column in columns if column.least <= console.width and _is_told(column, runs)]
    shown = _fitting(told, runs, console.width)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in shown:
        drawn.add_column(plain(column.name), justify=column.justify, overflow="fold")
    for run in runs:
        drawn.add_row(*(plain(column.text(column.value(run))) for column in shown))
    console.print(drawn)
    missing = ", ".join(column.name for column in told if column not in shown)
    if missing:
        console.print(plain(f"not shown, for want of room: {missing} (a wider terminal, or -o runs.html, has them)"))


def _fitting(columns: list[Column], runs: Sequence[Run], width: int) -> list[Column]:
    """The columns that find room beside each other: what says least of a run is left out first."""
    needed = {column.name: _needed(column, runs) + _BETWEEN for column in columns}
    given = [column for column in columns if column.name not in (*_LEAST_WANTED, *_MOST_WANTED)]
    given.sort(key=lambda column: sum(bool(column.text(column.value(run))) for run in runs))
    for name in (*_LEAST_WANTED, *(column.name for column in given)):
        if sum(needed.values()) - _BETWEEN <= width:
            break
        needed.pop(name, None)
    return [column for column in columns if column.name in needed]


def _needed(column: Column, runs: Sequence[Run]) -> int:
    """So many characters a column has, of what may be broken into lines a part."""
    longest = max(len(column.text(column.value(run))) for run in runs)
    return max(len(column.name), min(longest, _BROKEN))


_BETWEEN: Final = 3
_BROKEN: Final = 20
_LEAST_WANTED: Final = ("step time", "gradient", "recording", "first rate", "best", "last rate", "first NaN", "steps")
_MOST_WANTED: Final = ("run", "loss", "found")


def write_page(runs: Sequence[Run], columns: Sequence[Column], place: Path) -> None:
    """Write the same as a page, with the curve of each run's losses.

    Raises:
        OSError: It can't be written.
    """
    shown = [column for column in columns if _is_told(column, runs)]
    most = max((each for run in runs for each in run.curve if abs(each) < float("inf")), default=1.0)
    rows = (
        ([*(html.escape(column.text(column.value(run))) for column in shown), _curve(run, most)], bool(run.found))
        for run in runs
    )
    heads = [*(column.name for column in shown), "losses"]
    title = _title(runs) if runs else "no run is left"
    place.write_text(page(title, [table(heads, rows)]), encoding="utf-8")


def data_of(runs: Sequence[Run], unread: Sequence[Unread]) -> dict[str, Any]:
    """The same as JSON has it."""
    named = ({each.name: getattr(run, each.name) for each in dataclasses.fields(run)} for run in runs)
    return {"runs": [*named], "unread": [{"name": each.name, "why": each.why} for each in unread]}


def _title(runs: Sequence[Run]) -> str:
    return f"{counted(len(runs), 'run')} of {shared(runs)}".removesuffix(" of ").rstrip()


def _is_told(column: Column, runs: Sequence[Run]) -> bool:
    """Whether a column says anything."""
    return any(column.text(column.value(run)) for run in runs)


def _curve(run: Run, most: float) -> str:
    """A small picture of the losses, from 0 to the largest of all runs."""
    count = max(len(run.curve) - 1, 1)
    points = " ".join(
        f"{120 * place / count:.1f},{22 - 20 * max(loss, 0.0) / (most or 1.0):.1f}"
        for place, loss in enumerate(run.curve)
        if abs(loss) < float("inf")
    )
    return (
        '<svg width="120" height="24" role="img" aria-label="losses">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )
