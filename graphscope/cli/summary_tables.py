"""Renders an overview of a log as tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.control import strip_control_codes
from rich.table import Table
from rich.text import Text

from graphscope.cli.overview import Overview, Total
from graphscope.cli.report_console import report_console
from graphscope.diagnose import Finding
from graphscope.graph.quantities import bytes_text, time_text


def print_overview(facts: Overview, console: Console | None = None) -> None:
    """Print all tables."""
    console = console or report_console()
    console.print(_head(facts))
    console.print(_passes(facts.totals))
    console.print(_ops(facts.totals))
    partial = facts.stopped or facts.first > 0
    console.print(_nonfinite(facts, "none in what was recorded" if partial else "none"), soft_wrap=True)
    for found in facts.exceptions:
        console.print(_finding("exception", found), soft_wrap=True)


def _head(facts: Overview) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    state = "finished" if facts.finished else "not finished: it still grows, or the program was killed"
    state = facts.stopped or state
    rows = {
        "log": f"{facts.log} ({state})",
        "program": " ".join(facts.program),
        "events": f"{facts.events:,} (#{facts.first} to #{facts.end - 1})" if facts.events else "none",
        "steps": f"{facts.steps:,}" + (f" of {facts.steps_made:,}" if facts.steps_made > facts.steps else ""),
        "backward": f"{facts.backward_passes:,} {'pass' if facts.backward_passes == 1 else 'passes'}",
        "on disk": f"{bytes_text(facts.disk_bytes)}, values: {facts.values}",
    }
    for name, text in rows.items():
        table.add_row(name, plain(text))
    return table


def _passes(totals: Iterable[Total]) -> Table:
    table = new_table("pass", "nodes", "time", "values")
    for graph_pass in ("forward", "backward"):
        of_pass = [total for total in totals if total.graph_pass == graph_pass]
        table.add_row(graph_pass, *_sums(of_pass))
    return table


def _ops(totals: Iterable[Total]) -> Table:
    table = new_table("op", "nodes", "time", "values", second="pass")
    for total in totals:
        table.add_row(plain(total.op), total.graph_pass, *_sums([total]))
    return table


def _sums(totals: list[Total]) -> tuple[str, str, str]:
    return (
        f"{sum(total.count for total in totals):,}",
        time_text(1e9 * sum(total.seconds for total in totals)),
        bytes_text(sum(total.bytes for total in totals)),
    )


def new_table(first: str, *numbers: str, second: str | None = None) -> Table:
    """A table without rows: its first columns are text, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    if second is not None:
        table.add_column(second)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _nonfinite(facts: Overview, none: str) -> Text:
    title = "first non-finite value"
    if facts.nonfinite is not None:
        return _finding(title, facts.nonfinite)
    if facts.harmless is not None:
        none += f" that spoilt a loss, a gradient or a parameter; #{facts.harmless} is not finite"
    return Text(f"{title}: {none}")


def _finding(title: str, found: Finding) -> Text:
    cure = f"\n    hint: {found.cure}" if found.cure else ""
    return plain(f"{title}: #{found.row}  {found.place}  {found.verdict}{cure}")


def plain(text: str) -> Text:
    """Text of a program or log, as data: no markup, no control codes."""
    return Text(strip_control_codes(text.replace("\x1b", "\\x1b")))
