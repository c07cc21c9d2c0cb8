"""Renders the runs of a sweep: on the terminal, as a page with their curves, and as data."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from graphscope.cli.plain_page import page, table
from graphscope.cli.run_columns import Column, shared
from graphscope.cli.summary_tables import plain
from graphscope.diagnose.ranks.reading import Unread
from graphscope.diagnose.runs import Run
from graphscope.diagnose.text_lines import counted


def print_runs(runs: Sequence[Run], columns: Sequence[Column]) -> None:
    """Print a row for each run."""
    console = Console(highlight=False)
    if not runs:
        console.print("no run is left")
        return
    console.print(plain(_title(runs)), soft_wrap=True)
    console.print()
    shown = [column for column in columns if column.least <= console.width and _is_told(column, runs)]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in shown:
        drawn.add_column(plain(column.name), justify=column.justify, overflow="fold")
    for run in runs:
        drawn.add_row(*(plain(column.text(column.value(run))) for column in shown))
    console.print(drawn)


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
